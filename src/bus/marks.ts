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

/** A journal may be of another version or damaged: a mark that is unknown or wrong is left out, the others count. */
const writtenSchema = z.object({
  about: shared.about.catch(undefined),
  pendingTriage: shared.pendingTriage.catch(undefined),
  triaged: shared.triaged.catch(undefined),
  closed: shared.closed.catch(undefined),
  uncertain: shared.uncertain.catch(undefined),
  dead: shared.dead.catch(undefined),
  follows: shared.follows.catch(undefined),
  wait: shared.wait.catch(undefined),
  stateSeq: shared.stateSeq.catch(undefined),
  moveCursor: z.custom<string>(isCursor).optional().catch(undefined),
  at: z.record(z.string(), z.unknown()).optional().catch(undefined),
  done: z.boolean().optional().catch(undefined),
});

/** The marks of a line of the journal; undefined when they are no marks at all. */
export function readMarks(value: unknown): WrittenMarks | undefined {
  return value === undefined ? {} : writtenSchema.safeParse(value).data;
}
