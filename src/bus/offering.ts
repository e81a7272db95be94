import type { Core, Kind } from "./bus-core.ts";
import { compareCursors } from "./cursor.ts";
import { type About, attemptsOf } from "./ledger-entries.ts";
import { type Cursor, START } from "./ports.ts";
import { settle } from "./settling.ts";
import type { Action, BusEvent } from "./types.ts";

type LedgerEntry = NonNullable<ReturnType<Core["ledger"]["entry"]>>;

export interface Offered<T> {
  readonly value: T;
  readonly cursor: Cursor;
  readonly attempts: number;
}

/** Records to call handlers with: first those whose wait is over, then those beyond the cursor. */
export function offered<T>(core: Core, about: About, kind: Kind<T>, limit: number): Offered<T>[] {
  if (!core.readOnly) core.projection.flush();
  const now = core.clock.now();
  const result: Offered<T>[] = [];
  const taken = new Set<string>();
  const attempts = (id: string): number => attemptsOfRecord(core.ledger.entry(id));
  const isDue = (entry: LedgerEntry): boolean => [...entry.waits.values()].some((wait) => wait.deferredUntil <= now);
  for (const entry of inLogOrder(core, (one) => one.about === about && isDue(one))) {
    if (result.length >= limit) return result;
    const value = kind.finder.find(entry);
    taken.add(entry.id);
    if (value === undefined) bury(core, entry);
    else {
      const cursor = kind.offers.find(entry.id)?.cursor ?? entry.at ?? START;
      result.push({ value, cursor, attempts: attempts(entry.id) });
    }
  }
  const offers = kind.offers.take(limit - result.length, (offer, parked) => !parked && !taken.has(offer.id));
  for (const { id, value, cursor } of offers) result.push({ value, cursor, attempts: attempts(id) });
  return result;
}

function inLogOrder(core: Core, isWanted: (entry: LedgerEntry) => boolean): LedgerEntry[] {
  const entries = [...core.ledger.open()].filter(isWanted);
  return entries.sort((a, b) => compareCursors(a.at ?? START, b.at ?? START));
}

function attemptsOfRecord(entry: LedgerEntry | undefined): number {
  if (!entry) return 0;
  const handlers = [...entry.waits.keys(), ...entry.calls.keys()];
  return Math.max(0, ...handlers.map((handler) => attemptsOf(entry, handler)));
}

/** A record that waits and is in no journal any more can never be tried: it is shown as a dead letter instead. */
function bury(core: Core, entry: LedgerEntry): void {
  if (core.readOnly) return;
  const handlers = entry.pendingSince === undefined ? entry.waits.keys() : [...entry.waits.keys(), "triage"];
  const marks = { dead: true, about: entry.about };
  for (const handler of new Set(handlers)) {
    settle(core, {
      record: entry.id,
      handler,
      outcome: "threw",
      reason: "its record is no longer in the journal",
      marks,
    });
  }
}

/** Events that wait for the triage agent, oldest first. */
export function pendingTriage(core: Core): BusEvent[] {
  const events: BusEvent[] = [];
  for (const entry of inLogOrder(core, (one) => one.pendingSince !== undefined)) {
    const event = core.event.finder.find(entry);
    if (event) events.push(event);
    else bury(core, entry);
  }
  return events;
}

/** Actions that wait, due or not, in the order of the log. */
export function deferredActions(core: Core): { action: Action; attempts: number; until: number }[] {
  const found: { action: Action; attempts: number; until: number }[] = [];
  for (const entry of inLogOrder(core, (one) => one.about === "action" && one.waits.size > 0)) {
    const action = core.action.finder.find(entry);
    const until = Math.min(...[...entry.waits.values()].map((wait) => wait.deferredUntil));
    if (action) found.push({ action, attempts: attemptsOfRecord(entry), until });
  }
  return found;
}

/** When the next wait is over; undefined when nothing waits. */
export function nextRetryAt(core: Core): number | undefined {
  let next: number | undefined;
  for (const { waits } of core.ledger.open()) {
    for (const { deferredUntil } of waits.values()) next = Math.min(next ?? deferredUntil, deferredUntil);
  }
  return next;
}

/** How many records were put off, and for how long the oldest of them. */
export function deferredSummary(core: Core): { count: number; oldestMs: number } {
  let count = 0;
  let oldest = core.clock.now();
  for (const { waits } of core.ledger.open()) {
    if (waits.size > 0) count += 1;
    for (const { since } of waits.values()) oldest = Math.min(oldest, since);
  }
  return { count, oldestMs: count === 0 ? 0 : core.clock.now() - oldest };
}
