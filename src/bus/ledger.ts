import { type BusState, type DeadLetter, MAX_PROCESSED, retryDelay, type Wait } from "./bus-state.ts";
import { compareCursors } from "./cursor.ts";
import {
  type About,
  attemptsOf,
  type Cursors,
  type Entry,
  isOpen,
  loadEntries,
  newEntry,
  nextAttempts,
  snapshotOf,
} from "./ledger-entries.ts";
import type { Cursor, Envelope } from "./ports.ts";
import type { Settlement } from "./types.ts";

/** What a record of the settled log asks the bus to do: append these actions, keep this dead letter. */
export interface Effects {
  /** Set when a settlement was the first for its record and handler. */
  readonly won?: Settlement;
  readonly died?: readonly DeadLetter[];
}

/** The fold of the settled log, kept so that one more record costs the same however many there were. */
export interface Ledger {
  readonly cursors: Cursors;
  apply(record: Envelope, cursor: Cursor): Effects;
  entry(id: string): Readonly<Entry> | undefined;
  /** Records with something open: a handler that waits, or triage. */
  open(): Iterable<Readonly<Entry>>;
  snapshot(): BusState;
}

const FORGOTTEN_AT_ONCE = 100;

interface Books {
  readonly cursors: Cursors;
  readonly entries: Map<string, Entry>;
  /** Oldest first. */
  readonly processed: Record<About, Set<string>>;
  readonly open: Set<Entry>;
}

/** Makes the ledger that a state describes. */
export function createLedger(state: BusState): Ledger {
  const entries = loadEntries(state);
  const books: Books = {
    cursors: { events: state.eventsOffset, actions: state.actionsOffset, settled: state.settledOffset },
    entries,
    processed: { event: new Set(state.processedEventIds), action: new Set(state.processedActionIds) },
    open: new Set([...entries.values()].filter(isOpen)),
  };
  return {
    cursors: books.cursors,
    apply: (record, cursor) => apply(books, record, cursor),
    entry: (id) => entries.get(id),
    open: () => books.open,
    snapshot: () => snapshotOf(books.cursors, entries, books.processed),
  };
}

function apply(books: Books, record: Envelope, cursor: Cursor): Effects {
  books.cursors.settled = cursor;
  const ts = Date.parse(record.ts) || 0;
  const data = asObject(record.data);
  const { record: id, handler } = data;
  if (typeof id !== "string") return {};
  if (record.kind === "revival") {
    const entry = books.entries.get(id);
    if (!entry) return {};
    revive(entry, ts);
    review(books, entry);
    return {};
  }
  if (typeof handler !== "string") return {};
  if (record.kind === "attempt") {
    const entry = entryOf(books, id, "event");
    if (!entry.finals.has(handler)) entry.calls.set(handler, attemptsOf(entry, handler) + 1);
    return {};
  }
  if (record.kind !== "settlement" || typeof data.outcome !== "string") return {};
  if (data.also !== undefined && !Array.isArray(data.also)) return {};
  if (data.marks !== undefined && asObject(data.marks) !== data.marks) return {};
  return applySettlement(books, record.data as Settlement, ts);
}

function applySettlement(books: Books, settlement: Settlement, ts: number): Effects {
  const marks = settlement.marks ?? {};
  const about: About = marks.about === "action" ? "action" : "event";
  moveCursor(books.cursors, about, marks.moveCursor);
  const died: DeadLetter[] = [];
  let won = false;
  for (const id of [settlement.record, ...(settlement.also ?? [])]) {
    const entry = entryOf(books, id, about);
    entry.about = about;
    entry.at ??= positionIn(marks.at, id);
    const first = settleOne(entry, settlement, { ts, died });
    if (id === settlement.record) won = first;
    review(books, entry);
  }
  return { ...(won ? { won: settlement } : {}), died };
}

function entryOf(books: Books, id: string, about: About): Entry {
  const entry = books.entries.get(id) ?? newEntry(id, about);
  books.entries.set(id, entry);
  return entry;
}

/** A record is processed when somebody is done with it and nobody waits for it. Old ones are forgotten. */
function review({ entries, processed, open }: Books, entry: Entry): void {
  if (isOpen(entry)) open.add(entry);
  else open.delete(entry);
  if (!isOpen(entry) && entry.dead.size === 0) entry.at = undefined;
  const list = processed[entry.about];
  if (isOpen(entry) || entry.finals.size + entry.dead.size === 0) {
    list.delete(entry.id);
    return;
  }
  list.add(entry.id);
  if (list.size <= MAX_PROCESSED) return;
  // Some at a time: finding the oldest of a set costs what was removed from its front before.
  for (const oldest of [...list].slice(0, FORGOTTEN_AT_ONCE)) {
    list.delete(oldest);
    const old = entries.get(oldest);
    if (old?.dead.size) old.finals.clear();
    else entries.delete(oldest);
  }
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function positionIn(at: unknown, id: string): Cursor | undefined {
  if (at === undefined) return undefined;
  const position = Object.hasOwn(asObject(at), id) ? asObject(at)[id] : undefined;
  return typeof position === "string" ? position : undefined;
}

function moveCursor(cursors: Cursors, about: About, to: unknown): void {
  if (typeof to !== "string") return;
  const name = about === "action" ? "actions" : "events";
  if (compareCursors(to, cursors[name]) > 0) cursors[name] = to;
}

interface Settling {
  readonly ts: number;
  readonly died: DeadLetter[];
}

/** Applies a settlement to one of its records; tells whether it was the first final one of its handler. */
function settleOne(entry: Entry, settlement: Settlement, { ts, died }: Settling): boolean {
  const { handler, outcome } = settlement;
  const marks = settlement.marks ?? {};
  if (marks.triaged === true) entry.pendingSince = undefined;
  if (entry.finals.has(handler)) return false;
  if (outcome === "handled" || outcome === "passed") {
    // Putting a record on the triage list is not the answer of triage.
    if (!(marks.pendingTriage === true && handler === "triage")) entry.finals.add(handler);
    if (marks.pendingTriage === true) entry.pendingSince ??= ts;
    for (const map of [entry.waits, entry.calls, entry.dead]) map.delete(handler);
    return true;
  }
  const wait = nextWait(entry, settlement, ts);
  entry.calls.delete(handler);
  if (outcome === "threw" && marks.dead === true) {
    const { reason, attempts } = wait;
    const letter = { record: entry.id, handler, reason, attempts, since: ts, about: entry.about };
    entry.waits.delete(handler);
    entry.dead.set(handler, letter);
    if (handler === "triage") entry.pendingSince = undefined;
    died.push(letter);
  } else {
    entry.waits.set(handler, wait);
  }
  return false;
}

function nextWait(entry: Entry, settlement: Settlement, ts: number): Wait {
  const { handler, outcome, reason } = settlement;
  const before = entry.waits.get(handler);
  const call = entry.calls.get(handler);
  const threw = outcome === "threw";
  const counted = before?.attempts ?? 0;
  const attempts = threw ? nextAttempts(entry, handler) : call === undefined ? counted : call - 1;
  const deferrals = threw ? 0 : (before?.deferrals ?? 0) + 1;
  const deferredUntil = settlement.until ?? ts + retryDelay(threw ? attempts : deferrals);
  return { reason: reason ?? outcome, deferredUntil, attempts, deferrals, since: before?.since ?? ts };
}

function revive(entry: Entry, ts: number): void {
  for (const [handler, letter] of entry.dead) {
    if (handler === "triage") entry.pendingSince ??= ts;
    else {
      const wait = { reason: letter.reason, deferredUntil: ts, attempts: 0, deferrals: 0, since: ts };
      entry.waits.set(handler, wait);
    }
  }
  entry.dead.clear();
}
