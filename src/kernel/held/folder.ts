import {
  chmodSync,
  closeSync,
  constants,
  type Dir,
  existsSync,
  fchmodSync,
  fstatSync,
  mkdirSync,
  opendirSync,
  openSync,
  statSync,
  unlinkSync,
} from "node:fs";
import { errnoOf } from "../errors.ts";

/*
 * The one way in which we touch what an agent writes to, perhaps at this very moment: folders are opened one in another, never
 * through a link, and everything is named by the open folder it lies in. Whatever the agent puts in the place of a folder
 * after it was looked at, we are not led elsewhere. Only the root is named by its path: it must lie where no agent writes.
 * What can be done there is in files.ts, walk.ts and removal/remove-held.ts.
 */

/** A folder that is open. */
export interface Held {
  readonly fd: number;
  /** Only for systems that cannot name what lies in an open folder; there agents have no sandbox, and the user's rights. */
  readonly path: Buffer;
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Linux' O_PATH, which Node does not name: opens what may not be read. */
const O_PATH = 0o10000000;
const CAN_NAME = existsSync("/proc/self/fd");
const OWNER_ALL = 0o700;
const OWNER_READ = 0o400;

/** A name in a folder that is open. Names are bytes: an agent can give one that is not UTF-8. */
export function inside(folder: Held, name: Buffer): Buffer {
  const place = CAN_NAME ? Buffer.from(`/proc/self/fd/${folder.fd}`) : folder.path;
  return Buffer.concat([place, Buffer.from("/"), name]);
}

/** Whether it worked: false when it failed with one of these errors. */
export function succeeds(act: () => void, expected: readonly string[]): boolean {
  try {
    act();
    return true;
  } catch (error) {
    if (expected.includes(errnoOf(error) ?? "")) return false;
    throw error;
  }
}

const ABSENT = ["ENOENT", "ENOTDIR", "ELOOP", "ENXIO", "EACCES", "ENAMETOOLONG"];

/** Undefined where a real file or folder was expected and there is none, or one that may not be read. */
export function ifThere<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (ABSENT.includes(errnoOf(error) ?? "")) return undefined;
    throw error;
  }
}

/** Opens a folder in a folder; fails with ENOTDIR or ELOOP where something else is. */
export function step(folder: Held, name: Buffer): Held {
  const path = inside(folder, name);
  try {
    return { fd: openSync(path, FOLDER), path };
  } catch (error) {
    if (errnoOf(error) !== "EACCES" || !CAN_NAME) throw error;
    unlock(path);
    return { fd: openSync(path, FOLDER), path };
  }
}

/** Gives the owner back a folder. By its descriptor: `chmod` follows a link that is put there meanwhile. */
function unlock(path: Buffer): void {
  const fd = openSync(path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    chmodSync(`/proc/self/fd/${fd}`, OWNER_ALL);
  } finally {
    closeSync(fd);
  }
}

/** Gives the owner back a file that may not be read; false when it may be, or is another's. */
export function unlockFile(folder: Held, name: Buffer): boolean {
  if (!CAN_NAME) return false;
  const fd = openSync(inside(folder, name), O_PATH | constants.O_NOFOLLOW);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() || (stat.mode & OWNER_READ) !== 0) return false;
    return succeeds(() => chmodSync(`/proc/self/fd/${fd}`, (stat.mode & 0o777) | OWNER_READ), ["EPERM"]);
  } finally {
    closeSync(fd);
  }
}

/** Gives the owner back a root: an agent to whom it is its own folder cannot replace it, but its mode is the agent's to change. */
export function unlockRoot(root: string): void {
  const mode = statSync(root, { throwIfNoEntry: false })?.mode ?? OWNER_ALL;
  if ((mode & OWNER_ALL) !== OWNER_ALL) chmodSync(root, (mode & 0o777) | OWNER_ALL);
}

/** The same, ready for changes in it. */
export function stepToChange(folder: Held, name: Buffer): Held {
  const child = step(folder, name);
  try {
    const { mode } = fstatSync(child.fd);
    if ((mode & OWNER_ALL) !== OWNER_ALL) fchmodSync(child.fd, (mode & 0o777) | OWNER_ALL);
    return child;
  } catch (error) {
    closeSync(child.fd);
    throw error;
  }
}

/** How often something else may appear where we just made something; beyond it, an agent does it on purpose. */
export const MAX_TRIES = 16;

/** Deeper than anything that is built on purpose, and fewer than files may be open. */
export const MAX_DEPTH = 256;

/** Opens a folder that is made where there is none. */
export function stepOrMake(folder: Held, name: Buffer): Held {
  for (let tries = 1; ; tries += 1) {
    try {
      return step(folder, name);
    } catch (error) {
      if (tries === MAX_TRIES || errnoOf(error) !== "ENOENT") throw error;
      succeeds(() => mkdirSync(inside(folder, name)), ["EEXIST"]);
    }
  }
}

/** The same; a link or a file in its place is removed. */
export function insist(folder: Held, name: Buffer): Held {
  for (let tries = 1; ; tries += 1) {
    try {
      return stepOrMake(folder, name);
    } catch (error) {
      if (tries === MAX_TRIES || !["ENOTDIR", "ELOOP"].includes(errnoOf(error) ?? "")) throw error;
      removeSingle(folder, name);
    }
  }
}

/** A file or a link; a folder stays, and then the answer is no. */
export function removeSingle(folder: Held, name: Buffer): boolean {
  const remove = () => void succeeds(() => unlinkSync(inside(folder, name)), ["ENOENT"]);
  return succeeds(remove, ["EISDIR", "EPERM", "EACCES"]);
}

/** Below a root; as bytes where it comes from a directory. */
export type Below = string | Buffer;

export function stepsOf(below: Below): Buffer[] {
  const parts = Buffer.from(below).toString("latin1").split("/");
  if (parts.includes("..")) throw new Error(`not below its root: ${below}`);
  return parts.filter((part) => part !== "" && part !== ".").map((part) => Buffer.from(part, "latin1"));
}

export type OpenNext = (folder: Held, name: Buffer) => Held;

/** Opens a folder, then the next in it, and so on; the last is the caller's to close. */
export function hold(root: string, below: readonly Buffer[], go: OpenNext): Held {
  // People keep folders on another disk and link to them; a root belongs to them or to us.
  let folder: Held = { fd: openSync(root, FOLDER & ~constants.O_NOFOLLOW), path: Buffer.from(root) };
  for (const part of below) {
    const outer = folder;
    try {
      folder = go(outer, part);
    } finally {
      closeSync(outer.fd);
    }
  }
  return folder;
}

/** The folder `<root>/<below>` is open for as long as `use` takes. */
export function within<T>(root: string, below: readonly Buffer[], go: OpenNext, use: (folder: Held) => T): T {
  const folder = hold(root, below, go);
  try {
    return use(folder);
  } finally {
    closeSync(folder.fd);
  }
}

/** The folder in which `<root>/<below>` lies is open for as long as `use` takes. */
export function withinParent<T>(root: string, below: Below, go: OpenNext, use: (folder: Held, name: Buffer) => T): T {
  const parts = stepsOf(below);
  const name = parts.pop();
  if (name === undefined) throw new Error(`names the root itself: ${below}`);
  return within(root, parts, go, (folder) => use(folder, name));
}

/** What lies in a folder that is open, to be read one by one; names come as bytes. */
export function listingOf(folder: Held): Dir {
  const path = CAN_NAME ? `/proc/self/fd/${folder.fd}` : folder.path.toString();
  return opendirSync(path, { encoding: "buffer" as BufferEncoding });
}

/** The first names in a folder that is open, as many as are wanted. */
export function namesIn(folder: Held, most: number): Buffer[] {
  const names: Buffer[] = [];
  const listing = listingOf(folder);
  try {
    for (let entry = listing.readSync(); entry && names.length < most; entry = listing.readSync()) {
      names.push(Buffer.from(entry.name));
    }
  } finally {
    listing.closeSync();
  }
  return names;
}
