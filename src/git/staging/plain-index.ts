import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { unlessRefused } from "../../kernel/errors.ts";
import { takeTurns } from "../../kernel/turns.ts";

/** More is git's to read. */
const MAX_BYTES = 64 * 1024 * 1024;

const HEADER = 12;
/** Times, device, inode, mode, owner and size; then come the id of the object, flags and the path. */
const STAT = 40;
const VERSION = 2;
const ASSUME_UNCHANGED = 0x8000;
const EXTENDED = 0x4000;
/** Of the path, as far as it fits. */
const LENGTH = 0x0fff;
/** Whose entries are elsewhere, or are whole folders. */
const ELSEWHERE = new Set(["link", "sdir"]);

const HASHES = [
  { name: "sha1", bytes: 20 },
  { name: "sha256", bytes: 32 },
] as const;

/**
 * The paths of an index, byte for byte, read from the file itself where it is plain: of the version that git writes, whole, and with no
 * flag that hides changes (the one for sparse checkouts takes a later version). Undefined: git has to be asked.
 */
export async function readPlainIndex(file: string): Promise<string[] | undefined> {
  const bytes = readIndex(file);
  if (bytes === undefined || bytes.length < HEADER) return undefined;
  if (bytes.toString("latin1", 0, 4) !== "DIRC" || bytes.readUInt32BE(4) !== VERSION) return undefined;
  const hash = HASHES.find(({ name, bytes: size }) => {
    const end = bytes.length - size;
    return end >= HEADER && createHash(name).update(bytes.subarray(0, end)).digest().equals(bytes.subarray(end));
  });
  return hash && (await pathsIn(bytes.subarray(0, bytes.length - hash.bytes), STAT + hash.bytes));
}

async function pathsIn(bytes: Buffer, flagsAt: number): Promise<string[] | undefined> {
  const paths: string[] = [];
  let at = HEADER;
  for (let left = bytes.readUInt32BE(8); left > 0; left -= 1) {
    await takeTurns();
    const start = at + flagsAt + 2;
    const end = start < bytes.length ? bytes.indexOf(0, start) : -1;
    if (end <= start) return undefined;
    const flags = bytes.readUInt16BE(start - 2);
    const path = bytes.toString("latin1", start, end);
    const isWhole = (flags & LENGTH) === Math.min(path.length, LENGTH);
    // Git refuses one that is not in order; one path more than once is a merge that was not ended.
    if (!isWhole || flags & (ASSUME_UNCHANGED | EXTENDED) || path <= (paths.at(-1) ?? "")) return undefined;
    paths.push(path);
    // At least one byte of nothing, up to a multiple of eight.
    at += Math.ceil((end + 1 - at) / 8) * 8;
  }
  return hasOnlyPlainExtensions(bytes, at) ? paths : undefined;
}

function hasOnlyPlainExtensions(bytes: Buffer, from: number): boolean {
  for (let at = from; at < bytes.length; ) {
    if (at + 8 > bytes.length || ELSEWHERE.has(bytes.toString("latin1", at, at + 4))) return false;
    at += 8 + bytes.readUInt32BE(at + 4);
    if (at > bytes.length) return false;
  }
  return from <= bytes.length;
}

/** An agent may have put anything in its place. */
function readIndex(file: string): Buffer | undefined {
  const fd = unlessRefused(() => openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK));
  if (fd === undefined) return undefined;
  try {
    const stat = fstatSync(fd);
    return stat.isFile() && stat.size <= MAX_BYTES ? readFileSync(fd) : undefined;
  } finally {
    closeSync(fd);
  }
}
