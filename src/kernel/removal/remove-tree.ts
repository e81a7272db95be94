import {
  chmodSync,
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  opendirSync,
  openSync,
  renameSync,
  rmdirSync,
  unlinkSync,
} from "node:fs";
import { errnoOf } from "../errors.ts";
import { lstatIfThere } from "../lstat.ts";
import { takeTurns } from "../turns.ts";

/*
 * Removes what agents made, however deep, wide or locked it is, while everything else goes on. What lies deeper than a few folders is lifted to the top of the tree first, so no path is too long and
 * few folders are open at once. Names are bytes: an agent can give one that is not UTF-8.
 */

/** Folders that are open one in another. */
const MAX_DEPTH = 32;

/** A process that makes them faster than they go is not followed forever. */
const MAX_ENTRIES = 20_000_000;

const OPEN_FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** With O_PATH, which Node does not name: gets hold of a folder that may not be read. */
const HOLD_FOLDER = 0o10000000 | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const OWNER_ALL = 0o700;
const isLinux = process.platform === "linux";

/** A folder that is being emptied. */
interface Folder {
  /** What names in it are appended to. On Linux the open folder itself: no agent can put a link in its place. */
  readonly at: string | Buffer;
  close(): void;
}

interface Removal {
  readonly top: Folder;
  /** Names of folders that were lifted to the top and are still to be removed. */
  readonly lifted: string[];
  lifts: number;
  entries: number;
  /** A name at the top that goes after everything else. */
  readonly last: string | undefined;
  /** The first that could not be removed. */
  failure?: unknown;
}

type TreeEntry = Pick<Dirent<Buffer>, "name" | "isDirectory">;

/**
 * Removes whatever is at a path: a link itself and not its target, folders without any permission, too. What cannot be removed
 * rejects it, when everything else is gone. What a kill leaves of a folder can still be told by what it has as `last`.
 */
export async function removeTree(path: string | Buffer, last?: string): Promise<void> {
  const stat = lstatIfThere(path);
  if (!stat?.isDirectory()) {
    if (stat) unlinkSync(path);
    return;
  }
  const top = openFolder(path);
  const removal: Removal = { top, lifted: [], lifts: 0, entries: 0, last };
  try {
    await empty(removal, top, 1);
    for (let name = removal.lifted.pop(); name !== undefined; name = removal.lifted.pop()) {
      await removeIn(removal, top, { entry: { name: Buffer.from(name), isDirectory: () => true }, depth: 1 });
    }
    if (last !== undefined) await removeLast(removal, last);
  } finally {
    top.close();
  }
  if (removal.failure !== undefined) throw removal.failure;
  rmdirSync(path);
}

/** Opens a folder, never through a link, with all rights given back to us. */
function openFolder(path: string | Buffer): Folder {
  if (!isLinux) {
    chmodSync(path, 0o700);
    return { at: path, close: () => undefined };
  }
  const held = openSync(path, HOLD_FOLDER);
  try {
    // By the folder that is held: its path may be another's by now.
    if ((fstatSync(held).mode & OWNER_ALL) !== OWNER_ALL) chmodSync(`/proc/self/fd/${held}`, OWNER_ALL);
    const folder = openSync(`/proc/self/fd/${held}/.`, OPEN_FOLDER);
    return { at: `/proc/self/fd/${folder}`, close: () => closeSync(folder) };
  } finally {
    closeSync(held);
  }
}

function pathIn({ at }: Folder, name: Uint8Array | string): Buffer {
  return Buffer.concat([Buffer.from(at), Buffer.from("/"), Buffer.from(name)]);
}

/** Removes what is in a folder; returns whether anything was. */
async function empty(removal: Removal, folder: Folder, depth: number): Promise<boolean> {
  const open = opendirSync(folder.at, { encoding: "buffer" as BufferEncoding });
  let isAny = false;
  try {
    for (let entry = open.readSync(); entry; entry = open.readSync()) {
      if (depth === 1 && removal.last === entry.name.toString()) continue;
      isAny = (await removeIn(removal, folder, { entry: entry as unknown as TreeEntry, depth })) || isAny;
    }
  } finally {
    open.closeSync();
  }
  return isAny;
}

async function removeLast(removal: Removal, name: string): Promise<void> {
  const stat = lstatIfThere(pathIn(removal.top, name));
  if (stat)
    await removeIn(removal, removal.top, {
      entry: { name: Buffer.from(name), isDirectory: () => stat.isDirectory() },
      depth: 1,
    });
}

/** Removes one entry of a folder; returns whether it is gone from there. */
async function removeIn(
  removal: Removal,
  folder: Folder,
  { entry, depth }: { entry: TreeEntry; depth: number },
): Promise<boolean> {
  removal.entries += 1;
  if (removal.entries > MAX_ENTRIES) throw new Error(`it holds more than ${MAX_ENTRIES} files`);
  await takeTurns();
  const path = pathIn(folder, entry.name);
  try {
    if (!entry.isDirectory()) unlinkSync(path);
    else if (depth < MAX_DEPTH) await removeFolder(removal, path, depth + 1);
    else lift(removal, path);
    return true;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return true;
    removal.failure ??= error;
    return false;
  }
}

async function removeFolder(removal: Removal, path: Buffer, depth: number): Promise<void> {
  const folder = openFolder(path);
  try {
    for (;;) {
      const isAny = await empty(removal, folder, depth);
      try {
        return rmdirSync(path);
      } catch (error) {
        // Some disks leave entries out of a list while others of it are removed; and an agent may still add some.
        if (!isAny || errnoOf(error) !== "ENOTEMPTY") throw error;
      }
    }
  } finally {
    folder.close();
  }
}

/** Moving a folder needs the right to write to it. */
function lift(removal: Removal, path: Buffer): void {
  openFolder(path).close();
  for (;;) {
    removal.lifts += 1;
    const name = `.prloom-lifted-${removal.lifts}`;
    // Left by a removal that was killed.
    if (lstatIfThere(pathIn(removal.top, name))) continue;
    renameSync(path, pathIn(removal.top, name));
    removal.lifted.push(name);
    return;
  }
}
