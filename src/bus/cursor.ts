import { PrloomError } from "../kernel/errors.ts";
import { type Cursor, START } from "./ports.ts";

/** What a cursor means to the engines; everybody else passes it on unread. */
export interface Position {
  readonly segment: number;
  readonly offset: number;
}

const FIRST: Position = { segment: 1, offset: 0 };

/** The position that a cursor names; START is the beginning of the first segment. */
export function parseCursor(cursor: Cursor): Position {
  if (cursor === START) return FIRST;
  const match = /^(\d{1,15}):(\d{1,15})$/.exec(cursor);
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

/** Negative when `a` is before `b`, as for sort. */
export function compareCursors(a: Cursor, b: Cursor): number {
  const left = parseCursor(a);
  const right = parseCursor(b);
  return left.segment - right.segment || left.offset - right.offset;
}
