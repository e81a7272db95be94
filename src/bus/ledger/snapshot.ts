import { type BusState, type DeadLetter, type Deferred, emptyBusState } from "../bus-state.ts";
import type { Cursor } from "../ports.ts";
import { type About, callKey, type Entry, newEntry } from "./entry.ts";

/** Positions in the three journals that a scope works through. */
export interface Cursors {
  events: Cursor;
  actions: Cursor;
  settled: Cursor;
}

/** The entries that a state describes. */
export function loadEntries(state: BusState): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  const entryOf = (id: string, about: About): Entry => {
    const entry = entries.get(id) ?? newEntry(id, about);
    entries.set(id, entry);
    return entry;
  };
  // First what says whether a record is an event or an action.
  for (const id of state.processedActionIds) entryOf(id, "action");
  for (const [id, { about, handlers }] of Object.entries(state.results)) {
    for (const [handler, value] of Object.entries(handlers)) entryOf(id, about).results.set(handler, value);
  }
  for (const [id, { about, at, done }] of Object.entries(state.ahead)) {
    const entry = entryOf(id, about);
    entry.at = at;
    entry.done = done === true;
  }
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
    for (const handler of handlers) entryOf(id, "event").finals.set(handler, true);
  }
  for (const [key, count] of Object.entries(state.attempts)) {
    const [id, handler] = JSON.parse(key);
    entryOf(id, "event").calls.set(handler, count);
  }
  for (const [id, at] of Object.entries(state.calledAt)) entryOf(id, "event").calledAt = at;
  return entries;
}

function loadDeferred(entry: Entry, deferred: Deferred): void {
  entry.at = deferred.at;
  for (const [handler, wait] of Object.entries(deferred.handlers)) entry.waits.set(handler, wait);
}

function compareKeys(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Dead letters, oldest first; those that died together in an order that a replay gives them too. */
export function sortLetters(letters: DeadLetter[]): DeadLetter[] {
  return letters.sort(
    (a, b) => a.since - b.since || compareKeys(callKey(a.record, a.handler), callKey(b.record, b.handler)),
  );
}

/** The dead letters of one record. */
export function lettersOf(entry: Readonly<Entry>): DeadLetter[] {
  const at = entry.at === undefined ? {} : { at: entry.at };
  return [...entry.dead.values()].map((letter) => ({ ...letter, ...at }));
}

interface Known {
  readonly cursors: Cursors;
  readonly entries: ReadonlyMap<string, Entry>;
  readonly processed: Readonly<Record<About, ReadonlySet<string>>>;
  isAhead(entry: Entry): boolean;
}

/** The state that the entries make up. */
export function snapshotOf({ cursors, entries, processed, isAhead }: Known): BusState {
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
    if (entry.finals.size > 0) state.settled[entry.id] = [...entry.finals.keys()];
    if (entry.waits.size > 0) {
      const waits = [...entry.waits.values()];
      const { reason, deferredUntil, attempts } = waits.reduce((a, b) => (b.deferredUntil < a.deferredUntil ? b : a));
      const handlers = Object.fromEntries(entry.waits);
      const table = entry.about === "action" ? state.deferredActionIds : state.deferredEventIds;
      table[entry.id] = { reason, deferredUntil, attempts, ...at, handlers };
    }
    for (const [handler, count] of entry.calls) state.attempts[callKey(entry.id, handler)] = count;
    if (entry.calls.size > 0 && entry.calledAt !== undefined) state.calledAt[entry.id] = entry.calledAt;
    if (entry.pendingSince !== undefined) state.pendingTriage[entry.id] = { since: entry.pendingSince, ...at };
    if (entry.results.size > 0) {
      state.results[entry.id] = { about: entry.about, handlers: Object.fromEntries(entry.results) };
    }
    if (entry.at !== undefined && isAhead(entry)) {
      const done = entry.done ? { done: true as const } : {};
      state.ahead[entry.id] = { about: entry.about, at: entry.at, ...done };
    }
    state.dead.letters.push(...lettersOf(entry));
  }
  sortLetters(state.dead.letters);
  state.dead.count = state.dead.letters.length;
  return state;
}
