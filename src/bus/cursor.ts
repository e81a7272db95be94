import { PrloomError } from "../kernel/errors.ts";
import { type Cursor, START } from "./ports.ts";

/** What a cursor means to the engines; all other code passes it on unread. */
export interface Position {
  readonly segment: number;
  readonly offset: number;
}

const MAX_DIGITS = 15;
const FIRST: Position = { segment: 1, offset: 0 };

/** The position that a cursor names; START is the beginning of the first segment. */
export function parseCursor(cursor: Cursor): Position {
  const position = positionIn(cursor);
  if (!position) {
    throw new PrloomError(
      "state-unreadable",
      `${JSON.stringify(cursor)} is not a position in a journal.`,
      "A file in bus/state was changed by hand. Remove it and run `prloom start`: it is rebuilt from the journals.",
    );
  }
  return position;
}

/** By hand: a start may read millions of them. */
function positionIn(cursor: string): Position | undefined {
  if (cursor === START) return FIRST;
  const colon = cursor.indexOf(":");
  const segment = numberIn(cursor, 0, colon);
  const offset = numberIn(cursor, colon + 1, cursor.length);
  return colon === -1 || segment < 1 || offset < 0 ? undefined : { segment, offset };
}

/** The number that these characters are; -1 when they are none. */
function numberIn(text: string, from: number, to: number): number {
  if (to <= from || to - from > MAX_DIGITS) return -1;
  let number = 0;
  for (let at = from; at < to; at += 1) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) return -1;
    number = number * 10 + digit;
  }
  return number;
}

/** The cursor that names a position. */
export function formatCursor(position: Position): Cursor {
  return `${position.segment}:${position.offset}`;
}

/** Whether a string can be a position at all; one written by hand may not be. */
export function isCursor(text: unknown): text is Cursor {
  return typeof text === "string" && positionIn(text) !== undefined;
}

/** Negative when `a` is before `b`, as for sort. */
export function compareCursors(a: Cursor, b: Cursor): number {
  return a === b ? 0 : comparePositions(parseCursor(a), parseCursor(b));
}

/** Negative when `a` is before `b`, as for sort. */
export function comparePositions(a: Position, b: Position): number {
  return a.segment - b.segment || a.offset - b.offset;
}
