import * as z from "zod";
import { isCursor } from "./cursor.ts";

/**
 * Waits that hold only while the process lives that made them. `at-work`: a call is under way. `in-line`: another call
 * of the same handler is. A wait without a kind was asked for, by a plugin or after a failure, and holds until its time.
 */
export const waitKindSchema = z.enum(["at-work", "in-line"]);
export type WaitKind = z.infer<typeof waitKindSchema>;

const about = z.enum(["event", "action"]);
const order = z.record(z.string(), z.int().min(1));

const shared = {
  about: about.optional(),
  pendingTriage: z.boolean().optional(),
  triaged: z.boolean().optional(),
  /** No handler will ask for the record's results again. */
  closed: z.boolean().optional(),
  /** True: a call whose effect is unknown, so look before the next one. False: what was unknown is known now. */
  uncertain: z.boolean().optional(),
  /** The record is a dead letter of this handler, whatever its attempts. */
  dead: z.boolean().optional(),
  /** This dead letter only follows from another one of the same record, which says why. */
  follows: z.boolean().optional(),
  wait: waitKindSchema.optional(),
  /** The order of changes to global values, which several buses make: by store. */
  stateSeq: order.optional(),
};

/** What a caller asks of the bus with a settlement. */
export const marksSchema = z.strictObject({
  ...shared,
  /** Every handler was offered the record. */
  moveCursor: z.boolean().optional(),
});
export type Marks = z.infer<typeof marksSchema>;

/** What the bus adds, so that a replay decides nothing anew. */
interface Decided {
  /** How far the cursor goes. */
  moveCursor?: string | undefined;
  /** Where the records lie. */
  at?: Readonly<Record<string, unknown>> | undefined;
  /** Every handler was offered the record. */
  done?: boolean | undefined;
}
export type WrittenMarks = Omit<Marks, "moveCursor"> & Decided;

/** What each mark of a journal must be. */
const CHECKS: { readonly [Mark in keyof Required<WrittenMarks>]: (value: unknown) => boolean } = {
  about: (value) => value === "event" || value === "action",
  pendingTriage: isBoolean,
  triaged: isBoolean,
  closed: isBoolean,
  uncertain: isBoolean,
  dead: isBoolean,
  follows: isBoolean,
  wait: (value) => waitKindSchema.safeParse(value).success,
  stateSeq: (value) => order.safeParse(value).success,
  moveCursor: isCursor,
  at: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  done: isBoolean,
};

function isBoolean(value: unknown): boolean {
  return value === true || value === false;
}

/**
 * The marks of a line of the journal; undefined when they are not marks at all. A journal may be of another version or
 * damaged: a mark that is unknown or wrong is left out, the others count. By hand, because a start may read millions.
 */
export function readMarks(value: unknown): WrittenMarks | undefined {
  if (value === undefined) return {};
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const isRight = ([mark, found]: [string, unknown]): boolean =>
    Object.hasOwn(CHECKS, mark) && CHECKS[mark as keyof typeof CHECKS](found);
  for (const mark in value) {
    if (!isRight([mark, value[mark as keyof typeof value]]))
      return Object.fromEntries(Object.entries(value).filter(isRight));
  }
  return value;
}
