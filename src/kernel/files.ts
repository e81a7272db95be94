import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { errnoOf, isMissing, PrloomError, unlessGone } from "./errors.ts";
import { readInside, remakeFolder, threadId } from "./held/files.ts";
import { lstatIfThere } from "./lstat.ts";
import { inPlaceOf, openOwn, readOwn } from "./own-file.ts";
import { sweepRemoved } from "./removal/remove-aside.ts";

let temporary = 0;

/** Replaces a file wholly or not at all: temporary name beside it, fsync, rename. */
export function writeFileAtomic(path: string, data: string | Uint8Array, mode = 0o644): void {
  replaceFile(path, data, { mode, sync: true });
}

/**
 * The same without the fsync, for files that only describe a run: they survive every kill, and a machine that was
 * restarted has no run left.
 */
export function writeRunFile(path: string, data: string | Uint8Array, mode = 0o644): void {
  replaceFile(path, data, { mode, sync: false });
}

/** The same, and all that `act` does, or neither: it is called when the bytes are on the disk, before they take their place. */
export function writeFileWith(path: string, data: string, act: () => void): void {
  replaceFile(path, data, { mode: 0o644, sync: true, act });
}

interface Replacing {
  readonly mode: number;
  readonly sync: boolean;
  act?(): void;
}

function replaceFile(path: string, data: string | Uint8Array, how: Replacing): void {
  temporary += 1;
  const temp = join(dirname(path), `.${basename(path)}.${process.pid}-${threadId()}.${temporary}.tmp`);
  try {
    const fd = openNew(temp, how.mode);
    try {
      writeAll(fd, typeof data === "string" ? Buffer.from(data) : data);
      if (how.sync) fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    how.act?.();
    renameSync(temp, path);
  } catch (error) {
    rmSync(temp, { force: true });
    throw diskError(inPlaceOf(path, error), path);
  }
}

/**
 * Writes a file where it is, torn by a kill: for one that is written often, and says nothing when it cannot be read. A file in its
 * place costs a new number on the disk, and an old one that is given back.
 */
export function rewriteFile(path: string, data: string): void {
  const bytes = Buffer.from(data);
  const fd = openOwn(path, constants.O_WRONLY | constants.O_CREAT);
  try {
    writeAll(fd, bytes);
    ftruncateSync(fd, bytes.length);
  } catch (error) {
    throw diskError(error, path);
  } finally {
    closeSync(fd);
  }
}

/** In a container every start has the same pid: what a killed one left under this name is garbage. */
function openNew(temp: string, mode: number): number {
  try {
    return openSync(temp, "wx", mode);
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
    rmSync(temp, { force: true });
    return openSync(temp, "wx", mode);
  }
}

/** What `writeFileAtomic` calls its temporary files. */
const TEMPORARY = /^\..+\.\d+-\d+\.\d+\.tmp$/;

/** Removes what writers that were killed left in a directory. Only for one that no process writes to at that moment. */
export function removeTemporaryFiles(dir: string): void {
  for (const name of listDir(dir)) if (TEMPORARY.test(name)) rmSync(join(dir, name), { force: true });
}

/** Writes the file only when its bytes differ; returns whether it did. */
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

/** Has what was written to a file, or what a folder lists, on the disk. */
export function syncPath(path: string): void {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** The text of a file that only prloom writes, or undefined when there is none. Any other failure is thrown, a link in its place too. */
export function readTextIfExists(path: string): string | undefined {
  return readOwn(path)?.toString("utf8");
}

/** The last `bytes` bytes of a file, from a whole character on; "" when there is none. */
export function readTail(path: string, bytes: number): string {
  let fd: number;
  try {
    fd = openOwn(path);
  } catch (error) {
    if (isMissing(error)) return "";
    throw error;
  }
  try {
    const { size } = fstatSync(fd);
    const from = Math.max(0, size - bytes);
    const buffer = Buffer.alloc(size - from);
    const tail = buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, from));
    let start = 0;
    while (from > 0 && start < 3 && ((tail[start] ?? 0) & 0xc0) === 0x80) start += 1;
    return tail.subarray(start).toString("utf8");
  } finally {
    closeSync(fd);
  }
}

/**
 * Like `readTextIfExists` for a file that is not ours: of a checkout, of git, of the person, of the system. A link can lead to a device or a
 * pipe, which never end. Links are followed; what is not a regular file, or larger than `maxBytes`, throws.
 */
export function readCheckedOut(path: string, maxBytes = 1024 * 1024): string | undefined {
  return unlessGone(() => {
    const pieces: Buffer[] = [];
    readRegular(path, maxBytes, (piece) => pieces.push(Buffer.from(piece)));
    return Buffer.concat(pieces).toString("utf8");
  });
}

/** More than any program has, and no more than is hashed within a second. */
export const MAX_HASHED = 256 * 1024 ** 2;

/** The sha256 of such a file, which is never in memory as a whole; undefined when it cannot be read, or has more than its size says. */
export function hashCheckedOut(path: string, maxBytes = MAX_HASHED): string | undefined {
  const hash = createHash("sha256");
  try {
    readRegular(path, Math.min(maxBytes, statSync(path).size), (piece) => hash.update(piece));
  } catch {
    return undefined;
  }
  return hash.digest("hex");
}

/** Reads to the end, however little the size says: files of /proc have none and may not end. The pieces share their memory. */
function readRegular(path: string, maxBytes: number, take: (piece: Buffer) => void): void {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw unusable(`${path} is not a regular file`);
    const piece = Buffer.allocUnsafe(64 * 1024);
    let bytes = stat.size > maxBytes ? stat.size : 0;
    for (let count = 1; count > 0 && bytes <= maxBytes; bytes += count) {
      count = readSync(fd, piece);
      take(piece.subarray(0, count));
    }
    if (bytes > maxBytes) throw unusable(`${path} is larger than ${maxBytes} bytes`);
  } finally {
    closeSync(fd);
  }
}

/** As if the system had refused it. */
function unusable(message: string): Error {
  return Object.assign(new Error(message), { code: "EINVAL" });
}

export function ensureDir(path: string, mode?: number): void {
  try {
    makeDirs(path, mode);
  } catch (error) {
    throw diskError(error, path);
  }
}

/** From the top: where a folder is and none can be made in it, as in /proc, Node's own way from the bottom tries forever. */
function makeDirs(path: string, mode: number | undefined): void {
  if (!existsSync(path)) {
    makeDirs(dirname(path), mode);
    try {
      mkdirSync(path, mode);
    } catch (error) {
      // Another process may have made it; a file that lies there is told below.
      if (errnoOf(error) !== "EEXIST") throw error;
    }
  }
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
  return lstatIfThere(path) !== undefined;
}

/**
 * Reads `<root>/<relative>` without following a link at any component below root: what an agent left in its folder is
 * data, and a link there would make us read another file. Undefined when absent, a link, not a file, or larger
 * than `maxBytes`.
 */
export function readTextNoFollow(root: string, relative: string, maxBytes = 4 * 1024 * 1024): string | undefined {
  if (relative.split(sep).includes("..")) return undefined;
  return readInside(root, relative, maxBytes)?.toString("utf8");
}

/**
 * Removes `<root>/<relative>` and makes it again as an empty real directory. Components that an agent replaced by links
 * or files are removed, never followed. What was in it goes beside `root`, out of the way, and is removed while everything
 * else goes on.
 */
export function remakeDirNoFollow(root: string, relative: string): string {
  sweepRemoved(dirname(root));
  remakeFolder(root, relative);
  return join(root, relative);
}

/** Turns "no space left" into an error that says so; passes everything else on. */
export function diskError(error: unknown, path: string): unknown {
  const code = errnoOf(error);
  if (code !== "ENOSPC" && code !== "EDQUOT") return error;
  return diskFull(`writing ${path}`, error);
}

/** The error for a full disk, whichever program found it. */
export function diskFull(doing: string, cause: unknown): PrloomError {
  return new PrloomError(
    "disk-full",
    `No space left on the disk while ${doing}.`,
    "Free some space; nothing was lost. A dispatcher then goes on by itself; type a command again. A few kilobytes are enough for `prloom clean`, which removes worktrees of finished plans.",
    cause,
  );
}
