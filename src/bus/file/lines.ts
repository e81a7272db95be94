import { isAscii, isUtf8 } from "node:buffer";
import { readSync } from "node:fs";

/** One record is often all that is wanted; a reader that goes on gets more at a time. */
const FIRST_CHUNK_BYTES = 4 * 1024;
const CHUNK_BYTES = 128 * 1024;
const NEWLINE = 10;
const EMPTY = Buffer.alloc(0);

/** Longer than any line we write: such a line is foreign, and only its beginning is kept in memory. */
const MAX_LINE_BYTES = 1024 * 1024;
const KEPT_OF_OVERLONG = 4096;

export interface RawLine {
  readonly start: number;
  /** Where the next line starts. */
  readonly end: number;
  readonly text: string;
  /** False for what we never write: bytes that are not UTF-8, which `text` has as others, and an overlong line's beginning. */
  readonly isOurs: boolean;
}

interface ScanOptions {
  readonly fd: number;
  readonly from: number;
  /** The file will not grow any more: what stands after its last newline is a line too. */
  readonly final: boolean;
}

/** False: no more lines are wanted. */
type Visit = (line: RawLine) => boolean;

/**
 * Calls `visit` with the lines of a file from a byte on that are not empty; returns where the next line starts. The
 * descriptor stays the caller's.
 */
export function scanLines({ fd, from, final }: ScanOptions, visit: Visit): number {
  let start = lineStart(fd, from);
  let position = start;
  let pending: Buffer = EMPTY;
  let overlong = false;
  let buffer: Buffer = EMPTY;
  for (let size = FIRST_CHUNK_BYTES; ; size = Math.min(4 * size, CHUNK_BYTES)) {
    if (buffer.length < size) buffer = Buffer.allocUnsafe(size);
    const chunk = buffer.subarray(0, readSync(fd, buffer, 0, size, position));
    if (chunk.length === 0) break;
    const whole = chunk.lastIndexOf(NEWLINE) + 1;
    let at = 0;
    if (pending.length > 0 && whole > 0) {
      at = chunk.indexOf(NEWLINE) + 1;
      const bytes = overlong ? pending : Buffer.concat([pending, chunk.subarray(0, at - 1)]);
      const line = lineOf(bytes, { start, end: position + at, overlong });
      start = line.end;
      pending = EMPTY;
      overlong = false;
      if (!visit(line)) return start;
    }
    const block = { bytes: chunk.subarray(at, whole), start: position + at };
    const stopped = (isAscii(block.bytes) ? visitText : visitBytes)(block, visit);
    if (stopped !== undefined) return stopped;
    if (whole > 0) start = position + whole;
    if (!overlong) pending = Buffer.concat([pending, chunk.subarray(whole)]);
    if (pending.length > MAX_LINE_BYTES) {
      overlong = true;
      pending = Buffer.from(pending.subarray(0, KEPT_OF_OVERLONG));
    }
    position += chunk.length;
  }
  if (!final || position === start) return start;
  visit(lineOf(pending, { start, end: position, overlong }));
  return position;
}

/** Whole lines, and where they lie in the file. */
interface LineBlock {
  readonly bytes: Buffer;
  readonly start: number;
}

/** Characters are bytes: decoded at once, which many small lines make worth it. Returns where it was told to stop. */
function visitText(block: LineBlock, visit: Visit): number | undefined {
  const all = block.bytes.toString("latin1");
  for (let at = 0; at < all.length; ) {
    const newline = all.indexOf("\n", at);
    const end = block.start + newline + 1;
    if (newline > at) {
      const line = { start: block.start + at, end, text: all.slice(at, newline), isOurs: true };
      if (!visit(line)) return end;
    }
    at = newline + 1;
  }
  return undefined;
}

function visitBytes(block: LineBlock, visit: Visit): number | undefined {
  for (let at = 0; at < block.bytes.length; ) {
    const newline = block.bytes.indexOf(NEWLINE, at);
    const place = { start: block.start + at, end: block.start + newline + 1, overlong: false };
    if (newline > at && !visit(lineOf(block.bytes.subarray(at, newline), place))) return place.end;
    at = newline + 1;
  }
  return undefined;
}

/** The line that these bytes are. */
export function lineOf(bytes: Buffer, place: { start: number; end: number; overlong: boolean }): RawLine {
  const { start, end, overlong } = place;
  return { start, end, text: bytes.toString("utf8"), isOurs: !overlong && isUtf8(bytes) };
}

/**
 * Where the line that contains byte `from` starts. A cursor taken while another process was in the middle of a write
 * points into a line; reading that line twice is harmless, reading its second half would lose it.
 */
function lineStart(fd: number, from: number): number {
  const window = Buffer.allocUnsafe(4096);
  let end = from;
  while (end > 0) {
    const length = end === from ? 1 : Math.min(window.length, end);
    const count = readSync(fd, window, 0, length, end - length);
    const newline = window.subarray(0, count).lastIndexOf(NEWLINE);
    if (newline !== -1) return end - length + newline + 1;
    end -= length;
  }
  return 0;
}
