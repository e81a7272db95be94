import type { Core } from "../bus-core.ts";
import type { WaitKind } from "../marks.ts";
import { type About, callKey, REST } from "./entries.ts";

/** One wait, as it is shown to people. */
export interface DeferredWait {
  readonly record: string;
  readonly handler: string;
  readonly about: About;
  readonly reason: string;
  /** In the past when it is due. */
  readonly until: number;
  /** When it was first put off. */
  readonly since: number;
  /** Calls that threw, or ended the process. */
  readonly attempts: number;
  readonly kind?: WaitKind;
}

type LedgerEntry = NonNullable<ReturnType<Core["ledger"]["entry"]>>;

/** What waits, soonest first: each handler that waits for an event, and each action once. */
export function deferredList({ ledger }: Core, limit: number): DeferredWait[] {
  const found: DeferredWait[] = [];
  for (const entry of ledger.waiting.event.all()) found.push(...waitsOf(entry));
  for (const entry of ledger.waiting.action.all()) {
    // An action goes on when the last of its waits is over.
    const [last] = waitsOf(entry).sort((a, b) => compare(b, a));
    if (last) found.push(last);
  }
  return found.sort(compare).slice(0, Math.max(0, limit));
}

function waitsOf({ id, about, waits }: LedgerEntry): DeferredWait[] {
  return [...waits]
    .filter(([handler]) => handler !== REST)
    .map(([handler, { reason, deferredUntil: until, since, attempts, kind }]) => {
      const wait = { record: id, handler, about, reason, until, since, attempts };
      return kind === undefined ? wait : { ...wait, kind };
    });
}

function compare(a: DeferredWait, b: DeferredWait): number {
  const [left, right] = [callKey(a.record, a.handler), callKey(b.record, b.handler)];
  return a.until - b.until || a.since - b.since || (left < right ? -1 : Number(left > right));
}

/** How many records were put off, of both kinds or of one, and for how long the oldest of them. */
export function deferredSummary({ ledger, clock }: Core, about?: About): { count: number; oldestMs: number } {
  const kinds = about ? [ledger.waiting[about]] : [ledger.waiting.event, ledger.waiting.action];
  let count = 0;
  // Asked once: where nothing waits, the clock must not go on between the two.
  const now = clock.now();
  let oldest = now;
  for (const kind of kinds) {
    count += kind.size;
    for (const { waits } of kind.all()) for (const { since } of waits.values()) oldest = Math.min(oldest, since);
  }
  return { count, oldestMs: now - oldest };
}
