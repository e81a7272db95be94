import { TRIAGE } from "../names.ts";
import type { Parts } from "../parts.ts";
import { type Cursor, START } from "../ports.ts";
import type { Action, BusEvent } from "../types.ts";
import { attemptsOf, type Entry, earliestWait } from "./entry.ts";
import { settle } from "./settle.ts";

/** Events to call handlers with: first those whose wait is over, then those beyond the cursor. */
export function newEvents(bus: Parts, limit: number): { event: BusEvent; cursor: Cursor }[] {
  bus.settled.flush();
  const { finder, offers } = bus.event;
  const result: { event: BusEvent; cursor: Cursor }[] = [];
  const taken = new Set<string>();
  for (const entry of bus.ledger.waiting.event.look(bus.clock.now(), limit)) {
    const event = finder.find(entry);
    taken.add(entry.id);
    if (event === undefined) bury(bus, entry);
    else result.push({ event, cursor: offers.find(entry.id)?.cursor ?? entry.at ?? START });
  }
  const others = offers.take(limit - result.length, ({ id }) => !taken.has(id));
  return [...result, ...others.map(({ value: event, cursor }) => ({ event, cursor }))];
}

function attemptsOfRecord(entry: Readonly<Entry> | undefined): number {
  if (!entry) return 0;
  let most = 0;
  for (const handlers of [entry.waits, entry.calls]) {
    for (const handler of handlers.keys()) most = Math.max(most, attemptsOf(entry, handler));
  }
  return most;
}

/** A record that waits and is in no journal any more can never be tried: it is shown as a dead letter instead. */
function bury(bus: Parts, entry: Readonly<Entry>): void {
  if (bus.readOnly) return;
  const handlers = entry.pendingSince === undefined ? entry.waits.keys() : [...entry.waits.keys(), TRIAGE];
  const marks = { dead: true, about: entry.about, moveCursor: true };
  for (const handler of new Set(handlers)) {
    settle(bus, {
      record: entry.id,
      handler,
      outcome: "threw",
      reason: "its record is no longer in the journal",
      marks,
    });
  }
}

/** Events that wait for the triage agent, oldest first. */
export function pendingTriage(bus: Parts): BusEvent[] {
  const events: BusEvent[] = [];
  for (const entry of [...bus.ledger.pending.items()]) {
    const event = bus.event.finder.find(entry);
    if (event) events.push(event);
    else bury(bus, entry);
  }
  return events;
}

/** Up to `limit` actions beyond the cursor that no handler put off, in the order of the log. */
export function freshActions(
  bus: Parts,
  limit: number,
  isWanted: (id: string) => boolean,
): { action: Action; cursor: Cursor }[] {
  bus.settled.flush();
  const offers = bus.action.offers.take(
    limit,
    ({ id }) => (bus.ledger.entry(id)?.waits.size ?? 0) === 0 && isWanted(id),
  );
  return offers.map(({ value: action, cursor }) => ({ action, cursor }));
}

/** An action that waits. */
export interface DeferredAction {
  readonly action: Action;
  readonly attempts: number;
  /** In the past when it is due. */
  readonly until: number;
  /** When it was first put off. */
  readonly since: number;
}

/** Lists the actions that wait, due or not, in the order of the log; anew only when something was settled since. */
export function createDeferredActions(bus: Parts): () => DeferredAction[] {
  let known: { readonly settled: Cursor; readonly actions: readonly DeferredAction[] } | undefined;
  return () => {
    if (known?.settled !== bus.ledger.cursors.settled) {
      const actions = deferredActions(bus);
      known = { settled: bus.ledger.cursors.settled, actions };
    }
    return [...known.actions];
  };
}

function deferredActions(bus: Parts): DeferredAction[] {
  const found: DeferredAction[] = [];
  for (const entry of [...bus.ledger.waiting.action.all()]) {
    const action = bus.action.finder.find(entry);
    const until = earliestWait(entry);
    if (!action) bury(bus, entry);
    else if (until !== undefined) {
      let since = Number.POSITIVE_INFINITY;
      for (const wait of entry.waits.values()) since = Math.min(since, wait.since);
      found.push({ action, attempts: attemptsOfRecord(entry), until, since });
    }
  }
  return found;
}
