import { closeSync, type Dirent } from "node:fs";
import { errnoOf } from "../errors.ts";
import { clear } from "../removal/remove-held.ts";
import { takeTurns } from "../turns.ts";
import { readHeld } from "./files.ts";
import { type Below, type Held, hold, ifThere, listingOf, MAX_DEPTH, stepsOf, stepToChange } from "./folder.ts";

export type HeldKind = "file" | "folder" | "link" | "special";

/** What to do about an entry: go into it if it is a folder, leave it alone, take it away. */
export type Treatment = "enter" | "leave" | "remove";

/** By the name (its bytes as latin1) and the kind of an entry; `read` gives the bytes of a file that is not too large. */
export type JudgeEntry = (name: string, kind: HeldKind, read: () => Buffer | undefined) => Treatment;

const MAX_READ = 1024 * 1024;

/**
 * Goes through all that lies below `<root>/<below>`, and gives its owner every folder on the way. What lies so deep that hardly
 * any program gets there is removed unless it is to be left. Others get their turn meanwhile. Returns how much was taken away.
 */
export async function walkBelow(
  root: string,
  below: Below,
  judge: JudgeEntry,
  tooDeep: "remove" | "leave" = "remove",
): Promise<number> {
  const folder = ifThere(() => hold(root, stepsOf(below), stepToChange));
  if (folder === undefined) return 0;
  const walk: Walk = { root, judge, tooDeep, removed: 0 };
  await walkFolder(walk, { folder, depth: 0, length: Buffer.byteLength(root) + below.length });
  return walk.removed;
}

interface Walk {
  readonly root: string;
  readonly judge: JudgeEntry;
  readonly tooDeep: "remove" | "leave";
  removed: number;
}

interface PlaceInTree {
  readonly folder: Held;
  readonly depth: number;
  /** Of its path, in bytes. */
  readonly length: number;
}

/** Linux takes no longer path; a name in it has up to 255 bytes. */
const MAX_PATH_BYTES = 4096 - 256;

async function walkFolder(walk: Walk, place: PlaceInTree): Promise<void> {
  const listing = listingOf(place.folder);
  try {
    for (let entry = listing.readSync(); entry; entry = listing.readSync()) {
      await takeTurns();
      await walkEntry(walk, place, { name: Buffer.from(entry.name), kind: kindOf(entry) });
    }
  } finally {
    listing.closeSync();
    closeSync(place.folder.fd);
  }
}

function kindOf(entry: Dirent): HeldKind {
  if (entry.isDirectory()) return "folder";
  if (entry.isFile()) return "file";
  return entry.isSymbolicLink() ? "link" : "special";
}

async function walkEntry(
  walk: Walk,
  place: PlaceInTree,
  { name, kind }: { name: Buffer; kind: HeldKind },
): Promise<void> {
  const { folder } = place;
  const length = place.length + 1 + name.length;
  const isTooDeep = kind === "folder" && (place.depth >= MAX_DEPTH || length > MAX_PATH_BYTES);
  const treatment = isTooDeep
    ? walk.tooDeep
    : walk.judge(name.toString("latin1"), kind, () => readHeld(folder, name, MAX_READ));
  if (treatment === "remove") {
    clear(walk.root, folder, name);
    walk.removed += 1;
  } else if (treatment === "enter" && kind === "folder") {
    const child = enter(folder, name);
    if (child) await walkFolder(walk, { folder: child, depth: place.depth + 1, length });
  }
}

/** A folder that another user has shut, in a container say, stays shut: undefined, as for one that is gone. */
function enter(folder: Held, name: Buffer): Held | undefined {
  try {
    return ifThere(() => stepToChange(folder, name));
  } catch (error) {
    if (errnoOf(error) === "EPERM") return undefined;
    throw error;
  }
}
