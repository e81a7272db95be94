import type { JsonValue } from "../../kernel/json.ts";
import { type BusState, type DeadLetter, type Deferred, emptyBusState, type Wait } from "../bus-state.ts";
import type { Cursor } from "../ports.ts";

export type About = "event" | "action";

/**
 * Stands among the handlers that wait for an event that came back from its wait: the handler that waited is done, and
 * it is not recorded yet that the others were offered it. Without it, a crash right then would lose the event for them.
 */
export const REST = "*";

const NOTHING = new Map<string, never>();

/** Something for each handler; a map is made only when there is something, because millions may be made in a start. */
export class ByHandler<T> {
  #map: Map<string, T> | undefined;

  get size(): number {
    return this.#map?.size ?? 0;
  }
  get(handler: string): T | undefined {
    return this.#map?.get(handler);
  }
  has(handler: string): boolean {
    return this.#map?.has(handler) === true;
  }
  set(handler: string, value: T): void {
    this.#map ??= new Map();
    this.#map.set(handler, value);
  }
  delete(handler: string): void {
    this.#map?.delete(handler);
  }
  clear(): void {
    this.#map = undefined;
  }
  keys(): Iterable<string> {
    return (this.#map ?? NOTHING).keys();
  }
  values(): Iterable<T> {
    return (this.#map ?? NOTHING).values();
  }
  [Symbol.iterator](): Iterator<[string, T]> {
    return (this.#map ?? NOTHING)[Symbol.iterator]();
  }
}

/** All that is known about one record that is remembered. */
export interface Entry {
  readonly id: string;
  about: About;
  at: Cursor | undefined;
  readonly finals: Set<string>;
  readonly waits: ByHandler<Wait>;
  readonly calls: ByHandler<number>;
  readonly dead: ByHandler<DeadLetter>;
  /** What handlers decided, until the record is closed. */
  readonly results: ByHandler<JsonValue>;
  pendingSince: number | undefined;
  /** Every handler was offered it, and the cursor has not passed it yet. */
  done: boolean;
  /** It is in one of the lists of the ledger. */
  listed: boolean;
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

/** Whether it is unknown what became of an earlier call of a handler. */
export function isUncertain(entry: Readonly<Entry> | undefined, handler: string): boolean {
  return entry !== undefined && (entry.calls.has(handler) || entry.waits.get(handler)?.uncertain === true);
}

/** Whether something was settled about an action with this id, as far as it is remembered. */
export function isKnownAction(ledger: { entry(id: string): Readonly<Entry> | undefined }, id: string): boolean {
  const entry = ledger.entry(id);
  return entry?.about === "action" && entry.finals.size + entry.waits.size + entry.dead.size > 0;
}

/** When the first of the handlers that wait for a record is to be called; undefined when none waits. */
export function earliestWait(entry: Readonly<Entry>): number | undefined {
  let earliest: number | undefined;
  for (const { deferredUntil } of entry.waits.values()) earliest = Math.min(earliest ?? deferredUntil, deferredUntil);
  return earliest;
}

/** A record is open while a handler waits for it, or triage is to see it. */
export function isOpen(entry: Entry): boolean {
  return entry.waits.size > 0 || entry.pendingSince !== undefined;
}

/** A record about which nothing is known yet. */
export function newEntry(id: string, about: About): Entry {
  return {
    id,
    about,
    at: undefined,
    finals: new Set(),
    waits: new ByHandler(),
    calls: new ByHandler(),
    dead: new ByHandler(),
    results: new ByHandler(),
    pendingSince: undefined,
    done: false,
    listed: false,
  };
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
