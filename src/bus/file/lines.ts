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
  readonly bytes: Buffer;
  readonly overlong: boolean;
}

interface ScanOptions {
  readonly fd: number;
  readonly from: number;
  /** The file will not grow any more: what stands after its last newline is a line too. */
  readonly final: boolean;
}

/** The lines of a file from a byte on. The descriptor stays the caller's. */
export function* scanLines(options: ScanOptions): Generator<RawLine> {
  const { fd, final } = options;
  let start = lineStart(fd, options.from);
  let position = start;
  let pending: Buffer = EMPTY;
  let overlong = false;
  for (let size = FIRST_CHUNK_BYTES; ; size = Math.min(4 * size, CHUNK_BYTES)) {
    const chunk = Buffer.allocUnsafe(size);
    const count = readSync(fd, chunk, 0, size, position);
    if (count === 0) break;
    let from = 0;
    for (;;) {
      const newline = chunk.indexOf(NEWLINE, from);
      if (newline === -1 || newline >= count) break;
      const rest = chunk.subarray(from, newline);
      const end = position + newline + 1;
      if (pending.length === 0) pending = rest;
      else if (!overlong) pending = Buffer.concat([pending, rest]);
      yield { start, end, bytes: pending, overlong };
      start = end;
      from = newline + 1;
      pending = EMPTY;
      overlong = false;
    }
    if (!overlong) pending = Buffer.concat([pending, chunk.subarray(from, count)]);
    if (pending.length > MAX_LINE_BYTES) {
      overlong = true;
      pending = Buffer.from(pending.subarray(0, KEPT_OF_OVERLONG));
    }
    position += count;
  }
  if (final && position > start) yield { start, end: position, bytes: pending, overlong };
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
