import { type BusState, type DeadLetter, type Deferred, emptyBusState, type Wait } from "./bus-state.ts";
import type { Cursor } from "./ports.ts";

export type About = "event" | "action";

/** All that is known about one record that is remembered. */
export interface Entry {
  readonly id: string;
  about: About;
  at: Cursor | undefined;
  readonly finals: Set<string>;
  readonly waits: Map<string, Wait>;
  readonly calls: Map<string, number>;
  readonly dead: Map<string, DeadLetter>;
  pendingSince: number | undefined;
}

/** Positions in the three journals that a scope works through. */
export interface Cursors {
  events: Cursor;
  actions: Cursor;
  settled: Cursor;
}

/** How often a handler was called with a record so far, a call under way included. */
export function attemptsOf(entry: Readonly<Entry> | undefined, handler: string): number {
  return entry?.calls.get(handler) ?? entry?.waits.get(handler)?.attempts ?? 0;
}

/** The number of the attempt that is settled as thrown now. */
export function nextAttempts(entry: Readonly<Entry> | undefined, handler: string): number {
  return entry?.calls.get(handler) ?? (entry?.waits.get(handler)?.attempts ?? 0) + 1;
}

/** A record is open while a handler waits for it, or triage is to see it. */
export function isOpen(entry: Entry): boolean {
  return entry.waits.size > 0 || entry.pendingSince !== undefined;
}

/** A record about which nothing is known yet. */
export function newEntry(id: string, about: About): Entry {
  const maps = { finals: new Set<string>(), waits: new Map(), calls: new Map(), dead: new Map() };
  return { id, about, at: undefined, ...maps, pendingSince: undefined };
}

/** The name of a call in `BusState.attempts`. */
export function callKey(record: string, handler: string): string {
  return JSON.stringify([record, handler]);
}

/** The entries that a state describes. */
export function loadEntries(state: BusState): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  const entryOf = (id: string, about: About): Entry => {
    const entry = entries.get(id) ?? newEntry(id, about);
    entries.set(id, entry);
    return entry;
  };
  for (const id of state.processedActionIds) entryOf(id, "action");
  for (const [id, deferred] of Object.entries(state.deferredActionIds)) loadDeferred(entryOf(id, "action"), deferred);
  for (const [id, deferred] of Object.entries(state.deferredEventIds)) loadDeferred(entryOf(id, "event"), deferred);
  for (const letter of state.dead.letters) {
    const entry = entryOf(letter.record, letter.about);
    entry.at ??= letter.at;
    entry.dead.set(letter.handler, letter);
  }
  for (const [id, pending] of Object.entries(state.pendingTriage)) {
    const entry = entryOf(id, "event");
    entry.at ??= pending.at;
    entry.pendingSince = pending.since;
  }
  for (const [id, handlers] of Object.entries(state.settled)) {
    for (const handler of handlers) entryOf(id, "event").finals.add(handler);
  }
  for (const [key, count] of Object.entries(state.attempts)) {
    const [id, handler] = JSON.parse(key);
    entryOf(id, "event").calls.set(handler, count);
  }
  return entries;
}

function loadDeferred(entry: Entry, deferred: Deferred): void {
  entry.at = deferred.at;
  for (const [handler, wait] of Object.entries(deferred.handlers)) entry.waits.set(handler, wait);
}

function compareKeys(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

type Processed = Readonly<Record<About, ReadonlySet<string>>>;

/** The state that the entries make up. */
export function snapshotOf(cursors: Cursors, entries: ReadonlyMap<string, Entry>, processed: Processed): BusState {
  const state: BusState = {
    ...emptyBusState(),
    eventsOffset: cursors.events,
    actionsOffset: cursors.actions,
    settledOffset: cursors.settled,
    processedEventIds: [...processed.event],
    processedActionIds: [...processed.action],
  };
  for (const entry of entries.values()) {
    const at = entry.at === undefined ? {} : { at: entry.at };
    if (entry.finals.size > 0) state.settled[entry.id] = [...entry.finals];
    if (entry.waits.size > 0) {
      const waits = [...entry.waits.values()];
      const { reason, deferredUntil, attempts } = waits.reduce((a, b) => (b.deferredUntil < a.deferredUntil ? b : a));
      const handlers = Object.fromEntries(entry.waits);
      const table = entry.about === "action" ? state.deferredActionIds : state.deferredEventIds;
      table[entry.id] = { reason, deferredUntil, attempts, ...at, handlers };
    }
    for (const [handler, count] of entry.calls) state.attempts[callKey(entry.id, handler)] = count;
    if (entry.pendingSince !== undefined) state.pendingTriage[entry.id] = { since: entry.pendingSince, ...at };
    for (const letter of entry.dead.values()) state.dead.letters.push({ ...letter, ...at });
  }
  state.dead.letters.sort(
    (a, b) => a.since - b.since || compareKeys(callKey(a.record, a.handler), callKey(b.record, b.handler)),
  );
  state.dead.count = state.dead.letters.length;
  return state;
}
