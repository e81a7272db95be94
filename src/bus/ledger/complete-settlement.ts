import { type RetryLimits, retryDelay } from "../bus-state.ts";
import type { Marks, WrittenMarks } from "../marks.ts";
import type { Cursor } from "../ports.ts";
import type { Settlement, WrittenSettlement } from "../types.ts";
import { type About, nextAttempts } from "./entries.ts";
import type { Ledger } from "./ledger.ts";

export interface BusLimits {
  /** Calls that may throw, or end the process, before a record is a dead letter. */
  readonly maxAttempts: number;
  readonly retryMinMs: number;
  readonly retryMaxMs: number;
}

export interface SettlementContext {
  readonly ledger: Ledger;
  readonly about: About;
  readonly now: number;
  readonly limits: BusLimits;
  /** Where the records lie, as far as it is known and a replay needs it. */
  readonly at: Readonly<Record<string, Cursor>>;
  /** Every handler was offered the records; the cursor may be kept before them by one that was not. */
  readonly isDone: boolean;
  /** How far the cursor may go; undefined when the settlement does not move it. */
  readonly moveCursor: Cursor | undefined;
}

/**
 * The settlement as it is written: with every number that was decided now, so that folding it again later gives the
 * same state, whatever the limits are then.
 */
export function completeSettlement(settlement: Settlement, context: SettlementContext): WrittenSettlement {
  const { moveCursor: _moveCursor, ...asked }: Marks = settlement.marks ?? {};
  const isFinal = settlement.outcome === "handled" || settlement.outcome === "passed";
  const marks: WrittenMarks = { ...asked, about: context.about };
  if (context.moveCursor !== undefined) marks.moveCursor = context.moveCursor;
  if (context.isDone) marks.done = true;
  if (Object.keys(context.at).length > 0) marks.at = context.at;
  if (isFinal) return { ...settlement, marks };
  // A handler that threw or waits runs again, and its actions then have the same ids: none of them goes out now.
  const { actions: _actions, state: _state, result: _result, refused: _refused, ...rest } = settlement;
  if (settlement.outcome === "threw") {
    const attempts = nextAttempts(context.ledger.entry(settlement.record), settlement.handler);
    if (attempts >= context.limits.maxAttempts) marks.dead = true;
    return { ...rest, until: settlement.until ?? later(context, attempts), marks };
  }
  const before = context.ledger.entry(settlement.record)?.waits.get(settlement.handler)?.deferrals ?? 0;
  // A wait that is over already would make a loop out of a handler that defers each time.
  const isAhead = settlement.until !== undefined && settlement.until > context.now;
  return { ...rest, until: isAhead ? settlement.until : later(context, before + 1), marks };
}

function later(context: SettlementContext, count: number): number {
  const limits: RetryLimits = { minMs: context.limits.retryMinMs, maxMs: context.limits.retryMaxMs };
  return context.now + retryDelay(count, limits);
}
