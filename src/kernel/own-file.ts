import { appendFileSync, closeSync, constants, fstatSync, openSync, readSync, type Stats } from "node:fs";
import { errnoOf, PrloomError, unlessGone } from "./errors.ts";
import { lstatIfThere } from "./lstat.ts";

/** More than any file has that is read as a whole, and no more than is read within a second and fits into a string. */
export const MAX_FILE_BYTES = 256 * 1024 ** 2;

const { O_WRONLY, O_CREAT, O_APPEND, O_TRUNC } = constants;
/** How a file is opened that grows, and one that begins anew. */
export const TO_APPEND = O_WRONLY | O_CREAT | O_APPEND;
export const TO_REWRITE = O_WRONLY | O_CREAT | O_TRUNC;

/** What the system answers where something else than a file lies: a link, a folder, and a socket or a pipe that is not read. */
const NOT_A_FILE: readonly (string | undefined)[] = ["ELOOP", "EISDIR", "ENXIO"];

/**
 * Opens a file that only prloom writes, its state above all. Anything can lie in its place, put there by an agent without a sandbox, by a
 * backup or by hand: a pipe would be waited for, a device never ends, and a link leads to a file of another. Fails with ENOENT where nothing is.
 */
export function openOwn(path: string, flags: number = constants.O_RDONLY, mode = 0o644): number {
  let fd: number;
  try {
    fd = openSync(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, mode);
  } catch (error) {
    throw inPlaceOf(path, error);
  }
  const stat = fstatSync(fd);
  if (stat.isFile()) return fd;
  closeSync(fd);
  throw notOurs(path, stat);
}

/** The error for what lies in the place of a file of ours, if a system call failed for that; any other as it is. */
export function inPlaceOf(path: string, error: unknown): unknown {
  const found = NOT_A_FILE.includes(errnoOf(error)) ? lstatIfThere(path) : undefined;
  return found && !found.isFile() ? notOurs(path, found, error) : error;
}

/** The same to be read; undefined when nothing is there. */
export function openIfThere(path: string): number | undefined {
  return unlessGone(() => openOwn(path));
}

/** The same to be read from its beginning on. One that is too large is refused, too. */
export function openWhole(path: string): number | undefined {
  const fd = openIfThere(path);
  if (fd === undefined) return undefined;
  const stat = fstatSync(fd);
  if (stat.size <= MAX_FILE_BYTES) return fd;
  closeSync(fd);
  throw notOurs(path, stat);
}

/** The bytes of a file that only prloom writes; undefined when there is none. */
export function readOwn(path: string): Buffer | undefined {
  const fd = openWhole(path);
  if (fd === undefined) return undefined;
  try {
    return firstBytes(fd, fstatSync(fd).size);
  } finally {
    closeSync(fd);
  }
}

/** Adds to the end of such a file, which is made if need be. */
export function appendOwn(path: string, text: string): void {
  const fd = openOwn(path, TO_APPEND);
  try {
    appendFileSync(fd, text);
  } finally {
    closeSync(fd);
  }
}

/** Refuses what else lies at such a path without opening it; nothing at all is fine. */
export function checkOwn(path: string): void {
  const stat = lstatIfThere(path);
  if (stat && !(stat.isFile() && stat.size <= MAX_FILE_BYTES)) throw notOurs(path, stat);
}

/** Not to its end: it may be written to faster than we read. */
export function firstBytes(fd: number, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  let done = 0;
  while (done < size) {
    const read = readSync(fd, bytes, done, size - done, null);
    if (read === 0) break;
    done += read;
  }
  return bytes.subarray(0, done);
}

function kindOf(stat: Stats): string {
  if (stat.isSymbolicLink()) return "a link";
  // With the errno that reading it ends with: people search for it.
  if (stat.isDirectory()) return "a folder (EISDIR)";
  if (stat.isFIFO()) return "a pipe";
  return stat.isSocket() ? "a socket" : "a device";
}

function notOurs(path: string, stat: Stats, cause?: unknown): PrloomError {
  const what = stat.isFile()
    ? `has ${stat.size} bytes, which no file of prloom has`
    : `is ${kindOf(stat)}, and prloom keeps a file of its own there`;
  const hint = `Move it away: \`mv ${path} ${path}.aside\`.`;
  return new PrloomError("state-unreadable", `${path} ${what}.`, hint, cause);
}
