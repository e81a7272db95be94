import { PrloomError } from "../kernel/errors.ts";
import { type Cursor, START } from "./ports.ts";

/** What a cursor means to the engines; all other code passes it on unread. */
export interface Position {
  readonly segment: number;
  readonly offset: number;
}

const PATTERN = /^(\d{1,15}):(\d{1,15})$/;
const FIRST: Position = { segment: 1, offset: 0 };

/** The position that a cursor names; START is the beginning of the first segment. */
export function parseCursor(cursor: Cursor): Position {
  if (cursor === START) return FIRST;
  const match = PATTERN.exec(cursor);
  if (!match || Number(match[1]) < 1) {
    throw new PrloomError(
      "state-unreadable",
      `${JSON.stringify(cursor)} is not a position in a journal.`,
      "A file in bus/state was changed by hand. Remove it and run `prloom start`: it is rebuilt from the journals.",
    );
  }
  return { segment: Number(match[1]), offset: Number(match[2]) };
}

/** The cursor that names a position. */
export function formatCursor(position: Position): Cursor {
  return `${position.segment}:${position.offset}`;
}

/** Whether a string can be a position at all; one written by hand may not be. */
export function isCursor(text: unknown): text is Cursor {
  return typeof text === "string" && (text === START || (PATTERN.test(text) && !text.startsWith("0:")));
}

/** Negative when `a` is before `b`, as for sort. */
export function compareCursors(a: Cursor, b: Cursor): number {
  return a === b ? 0 : comparePositions(parseCursor(a), parseCursor(b));
}

/** Negative when `a` is before `b`, as for sort. */
export function comparePositions(a: Position, b: Position): number {
  return a.segment - b.segment || a.offset - b.offset;
}
