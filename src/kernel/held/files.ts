import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { copyFile } from "node:fs/promises";
import { firstBytes } from "../own-file.ts";
import { clear } from "../removal/remove-held.ts";
import {
  type Below,
  type Held,
  hold,
  ifThere,
  inside,
  insist,
  MAX_TRIES,
  namesIn,
  removeSingle,
  step,
  stepOrMake,
  stepsOf,
  stepToChange,
  succeeds,
  within,
  withinParent,
} from "./folder.ts";

/** Makes `<root>/<below>` a real folder, and everything between; what is in it stays. */
export function ensureFolder(root: string, below: Below): void {
  within(root, stepsOf(below), insist, () => undefined);
}

/** Gives the owner back the folder `<root>/<below>`, and all above it, where they are real ones. */
export function unlockFolder(root: string, below: Below): void {
  ifThere(() => within(root, stepsOf(below), stepToChange, () => undefined));
}

/** Makes `<root>/<below>` a real folder that is new and empty. */
export function remakeFolder(root: string, below: Below): void {
  withinParent(root, below, insist, (folder, name) => {
    for (let tries = 1; ; tries += 1) {
      clear(root, folder, name);
      if (succeeds(() => mkdirSync(inside(folder, name)), tries === MAX_TRIES ? [] : ["EEXIST"])) return;
    }
  });
}

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** Makes `<root>/<below>` a real file; one that is there stays as it is. */
export function ensureFile(root: string, below: Below): void {
  withinParent(root, below, insist, (folder, name) => {
    if (isFileAt(folder, name)) return;
    clear(root, folder, name);
    succeeds(() => closeSync(openSync(inside(folder, name), NEW_FILE, 0o600)), ["EEXIST"]);
  });
}

/** Makes `<root>/<below>` a link; one to the same place is left alone. */
export function ensureLinkIn(root: string, below: Below, to: string): void {
  withinParent(root, below, insist, (folder, name) => {
    if (linkAt(folder, name) === to) return;
    clear(root, folder, name);
    symlinkSync(to, inside(folder, name));
  });
}

/** Not imported: to load its module takes 4 ms, which a command that only reads does not need. */
export function threadId(): number {
  return process.getBuiltinModule("node:worker_threads").threadId;
}

let temporary = 0;

/** A name for a file that is not whole yet. */
function newName(root: string, folder: Held): Buffer {
  temporary += 1;
  const name = Buffer.from(`.prloom-${process.pid}-${threadId()}.${temporary}.tmp`);
  // Left by a killed process that had our id, or put there to be in the way.
  clear(root, folder, name);
  return name;
}

/** Puts what was made under a new name in its place; whatever was there is gone. */
function settle(root: string, folder: Held, { from, to }: { from: Buffer; to: Buffer }): void {
  const move = () => renameSync(inside(folder, from), inside(folder, to));
  if (succeeds(move, ["EISDIR", "ENOTEMPTY", "EEXIST"])) return;
  clear(root, folder, to);
  move();
}

/** Puts a file at `<root>/<below>`, wholly or not at all; links and files in its way are removed, never followed. */
export function placeFile(root: string, below: Below, data: string | Uint8Array, mode = 0o600): void {
  withinParent(root, below, insist, (folder, name) => {
    const temp = newName(root, folder);
    try {
      const fd = openSync(inside(folder, temp), NEW_FILE, mode);
      try {
        writeFileSync(fd, data);
      } finally {
        closeSync(fd);
      }
      settle(root, folder, { from: temp, to: name });
    } catch (error) {
      removeSingle(folder, temp);
      throw error;
    }
  });
}

/** Puts a file of ours there, which is gone from where it was. */
export function placeMoved(root: string, below: Below, from: string): void {
  withinParent(root, below, insist, (folder, name) => {
    clear(root, folder, name);
    renameSync(from, inside(folder, name));
  });
}

/** Puts a copy of a file of the user there. Fails with ENOTDIR or ELOOP where something else is in the place of a folder. */
export async function placeCopy(root: string, below: Below, from: string): Promise<void> {
  const parts = stepsOf(below);
  const name = parts.pop() ?? Buffer.from("");
  const folder = hold(root, parts, stepOrMake);
  const temp = newName(root, folder);
  try {
    await copyFile(from, inside(folder, temp), constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    settle(root, folder, { from: temp, to: name });
  } catch (error) {
    removeSingle(folder, temp);
    throw error;
  } finally {
    closeSync(folder.fd);
  }
}

/** Moves a file or folder to the same place below another root; where there is none, nothing happens. */
export function moveBetween(from: string, to: string, below: Below): void {
  ifThere(() =>
    withinParent(from, below, stepToChange, (folder, name) => {
      const child = ifThere(() => stepToChange(folder, name));
      if (child) closeSync(child.fd);
      else if (!isFileAt(folder, name)) return;
      withinParent(to, below, insist, (target, same) => {
        clear(to, target, same);
        renameSync(inside(folder, name), inside(target, same));
      });
    }),
  );
}

function openFile(folder: Held, name: Buffer): number | undefined {
  const path = inside(folder, name);
  // Opening a device may do something, so look first; a pipe that is put there meanwhile would wait for a writer.
  if (!lstatSync(path, { throwIfNoEntry: false })?.isFile()) return undefined;
  return ifThere(() => openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK));
}

function isFileAt(folder: Held, name: Buffer): boolean {
  const file = openFile(folder, name);
  if (file === undefined) return false;
  try {
    return fstatSync(file).isFile();
  } finally {
    closeSync(file);
  }
}

function linkAt(folder: Held, name: Buffer): string | undefined {
  let to: string | undefined;
  succeeds(() => {
    to = readlinkSync(inside(folder, name));
  }, ["EINVAL", "ENOENT"]);
  return to;
}

/**
 * The bytes of `<root>/<below>`; undefined when absent, a link, not a file, or larger than `maxBytes`: half a file would say
 * what was never written.
 */
export function readInside(root: string, below: Below, maxBytes: number): Buffer | undefined {
  return ifThere(() => withinParent(root, below, step, (folder, name) => readHeld(folder, name, maxBytes)));
}

/** The same, of a file in which each line stands for itself: of one that is larger the whole lines that fit. */
export function readLinesInside(
  root: string,
  below: Below,
  maxBytes: number,
): { readonly bytes: Buffer; readonly isWhole: boolean } | undefined {
  return ifThere(() =>
    withinParent(root, below, step, (folder, name) =>
      readAt(folder, name, (file, size) => {
        if (size <= maxBytes) return { bytes: firstBytes(file, size), isWhole: true };
        const bytes = firstBytes(file, maxBytes);
        return { bytes: bytes.subarray(0, bytes.lastIndexOf(10) + 1), isWhole: false };
      }),
    ),
  );
}

/** The same of a name in a folder that is held open. */
export function readHeld(folder: Held, name: Buffer, maxBytes: number): Buffer | undefined {
  return readAt(folder, name, (file, size) => (size <= maxBytes ? firstBytes(file, size) : undefined));
}

function readAt<T>(folder: Held, name: Buffer, read: (file: number, size: number) => T): T | undefined {
  const file = openFile(folder, name);
  if (file === undefined) return undefined;
  try {
    const stat = fstatSync(file);
    return stat.isFile() ? read(file, stat.size) : undefined;
  } finally {
    closeSync(file);
  }
}

/** The first names in the folder `<root>/<below>`, as many as are wanted; none when it is not a real folder. */
export function listInside(root: string, below: Below, most: number): Buffer[] {
  return ifThere(() => within(root, stepsOf(below), step, (folder) => namesIn(folder, most))) ?? [];
}
