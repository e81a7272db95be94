import { closeSync, type Dirent, rmdirSync } from "node:fs";
import { dirname } from "node:path";
import { removeAside } from "../remove-aside.ts";
import { takeTurns } from "../turns.ts";
import {
  attempt,
  type Below,
  type Held,
  hold,
  ifThere,
  inside,
  listingOf,
  namesIn,
  partsOf,
  removeSingle,
  stepToChange,
  withinParent,
} from "./folder.ts";

/** Files that are removed while everybody waits; more than so many take longer than anything may stand still. */
const MOST_AT_ONCE = 2000;

/** Deeper than anything that is built on purpose, and fewer than files may be open. */
const MOST_DEEP = 256;

interface Budget {
  /** Entries that may still be removed. */
  left: number;
}

/** Removes what lies there as long as the budget lasts; says whether it is gone. Links are removed, not followed. */
function removeSome(folder: Held, name: Buffer, budget: Budget, depth = 0): boolean {
  budget.left -= 1;
  if (budget.left < 0 || depth > MOST_DEEP) return false;
  if (removeSingle(folder, name)) return true;
  const child = ifThere(() => stepToChange(folder, name));
  if (child === undefined) return false;
  try {
    // One more than may be removed tells that there are too many.
    for (const entry of namesIn(child, budget.left + 1)) if (!removeSome(child, entry, budget, depth + 1)) return false;
  } finally {
    closeSync(child.fd);
  }
  return attempt(() => rmdirSync(inside(folder, name)), ["ENOTEMPTY", "EEXIST", "ENOTDIR", "EACCES", "EPERM"]);
}

/** What takes long goes beside the root, out of the way, and is removed there while everything else goes on. */
export function clear(root: string, folder: Held, name: Buffer): void {
  if (removeSome(folder, name, { left: MOST_AT_ONCE })) return;
  // A folder that may not be written cannot be moved either.
  const child = ifThere(() => stepToChange(folder, name));
  if (child) closeSync(child.fd);
  ifThere(() => removeAside(inside(folder, name), dirname(root)));
}

/** Takes away what lies at `<root>/<below>`. */
export function removeFrom(root: string, below: Below): void {
  ifThere(() => withinParent(root, below, stepToChange, (folder, name) => clear(root, folder, name)));
}

export type HeldKind = "file" | "folder" | "link" | "special";

/** What to do about an entry: go into it if it is a folder, leave it alone, take it away. */
export type Verdict = "enter" | "leave" | "remove";

/** Pure: by the name (its bytes as latin1) and the kind of an entry. */
export type Judge = (name: string, kind: HeldKind) => Verdict;

/**
 * Goes through all that lies below `<root>/<below>`, and gives its owner every folder on the way. What lies so deep that no
 * program gets there is removed. Others get their turn meanwhile. Returns how much was taken away.
 */
export async function walkBelow(root: string, below: Below, judge: Judge): Promise<number> {
  const folder = ifThere(() => hold(root, partsOf(below), stepToChange));
  if (folder === undefined) return 0;
  const walk: Walk = { root, judge, removed: 0 };
  await walkFolder(walk, { folder, depth: 0, length: Buffer.byteLength(root) + below.length });
  return walk.removed;
}

interface Walk {
  readonly root: string;
  readonly judge: Judge;
  removed: number;
}

interface Place {
  readonly folder: Held;
  readonly depth: number;
  /** Of its path, in bytes. */
  readonly length: number;
}

/** The kernel takes no longer path; a name in it has up to 255 bytes. */
const LONGEST_PATH = 4096 - 256;

async function walkFolder(walk: Walk, place: Place): Promise<void> {
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

async function walkEntry(walk: Walk, place: Place, { name, kind }: { name: Buffer; kind: HeldKind }): Promise<void> {
  const { folder } = place;
  const length = place.length + 1 + name.length;
  const isTooDeep = kind === "folder" && (place.depth >= MOST_DEEP || length > LONGEST_PATH);
  const verdict = isTooDeep ? "remove" : walk.judge(name.toString("latin1"), kind);
  if (verdict === "remove") {
    clear(walk.root, folder, name);
    walk.removed += 1;
  } else if (verdict === "enter" && kind === "folder") {
    const child = ifThere(() => stepToChange(folder, name));
    if (child) await walkFolder(walk, { folder: child, depth: place.depth + 1, length });
  }
}
