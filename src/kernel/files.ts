import {
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { errnoOf, PrloomError } from "./errors.ts";

let temporary = 0;

/** Replaces a file wholly or not at all: temporary name beside it, fsync, rename. */
export function writeFileAtomic(path: string, data: string | Uint8Array, mode = 0o644): void {
  temporary += 1;
  const temp = join(dirname(path), `.${basename(path)}.${process.pid}.${temporary}.tmp`);
  try {
    const fd = openSync(temp, "wx", mode);
    try {
      writeAll(fd, typeof data === "string" ? Buffer.from(data) : data);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(temp, path);
  } catch (error) {
    rmSync(temp, { force: true });
    throw diskError(error, path);
  }
}

/** Writes the file only when its bytes differ; tells whether it did. */
export function writeFileIfChanged(path: string, data: string, mode = 0o644): boolean {
  if (readTextIfExists(path) === data) return false;
  writeFileAtomic(path, data, mode);
  return true;
}

/** `writeSync` may write less than it was given (a full disk, a signal): goes on until all is written or it fails. */
export function writeAll(fd: number, bytes: Uint8Array): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(fd, bytes, done, bytes.length - done);
}

/** The text of a file, or undefined when there is none. Any other failure is thrown. */
export function readTextIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

export function isMissing(error: unknown): boolean {
  const code = errnoOf(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

export function ensureDir(path: string): void {
  mkdirSync(path, { recursive: true });
}

/** Names in a directory, sorted; none when it does not exist. */
export function listDir(path: string): string[] {
  try {
    return readdirSync(path).sort();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** True when there is something at the path, a dangling link included. */
export function existsNoFollow(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Makes `path` a link to `target`; leaves it alone when it already is. What lies there instead is removed. */
export function ensureLink(path: string, target: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isSymbolicLink() && readlinkSync(path) === target) return;
  if (stat) rmSync(path, { recursive: true, force: true });
  symlinkSync(target, path);
}

const NO_FOLLOW = constants.O_NOFOLLOW;

/**
 * Reads `<root>/<relative>` without following a link at any component below root: what an agent left in its folder is
 * data, and a link there would make us read somebody else's file. Undefined when absent, a link, or not a file.
 */
export function readTextNoFollow(root: string, relative: string, maxBytes = 4 * 1024 * 1024): string | undefined {
  const parts = relative.split(sep);
  let path = root;
  for (const part of parts.slice(0, -1)) {
    path = join(path, part);
    if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return undefined;
  }
  path = join(path, parts.at(-1) ?? "");
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat?.isFile()) return undefined;
  const fd = openSync(path, constants.O_RDONLY | NO_FOLLOW | constants.O_NONBLOCK);
  try {
    const buffer = Buffer.alloc(Math.min(stat.size, maxBytes));
    const read = readSync(fd, buffer, 0, buffer.length, 0);
    return buffer.subarray(0, read).toString("utf8");
  } finally {
    closeSync(fd);
  }
}

/**
 * Removes `<root>/<relative>` and makes it anew as an empty real directory. Components that an agent replaced by links
 * or files are removed, never followed.
 */
export function remakeDirNoFollow(root: string, relative: string): string {
  const parts = relative.split(sep);
  let path = root;
  for (const part of parts.slice(0, -1)) {
    path = join(path, part);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat && !stat.isDirectory()) unlinkSync(path);
    if (!stat?.isDirectory()) mkdirSync(path);
  }
  path = join(path, parts.at(-1) ?? "");
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path);
  return path;
}

/** Removes a directory if it is there and empty; says whether it is gone. */
export function removeDirIfEmpty(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    return isMissing(error);
  }
}

/** Turns "no space left" into an error that says so; passes everything else on. */
export function diskError(error: unknown, path: string): unknown {
  const code = errnoOf(error);
  if (code !== "ENOSPC" && code !== "EDQUOT") return error;
  return new PrloomError(
    "disk-full",
    `No space left on the disk while writing ${path}.`,
    "Free some space; nothing was lost, and prloom goes on by itself. `prloom clean` removes worktrees of finished plans.",
    error,
  );
}
