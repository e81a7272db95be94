import { asFields, ownValue } from "../../kernel/json-fields.ts";
import { type BusState, type DeadLetter, MAX_PROCESSED } from "../bus-state.ts";
import { compareCursors, isCursor } from "../cursor.ts";
import { readMarks } from "../marks.ts";
import type { Cursor, Envelope } from "../ports.ts";
import { refusalSchema, type WrittenSettlement } from "../types.ts";
import { createDue, type Due } from "./due.ts";
import {
  type About,
  attemptsOf,
  type Entry,
  earliestWait,
  isOpen,
  newEntry,
  refuseEntry,
  reviveEntry,
  settleEntry,
} from "./entry.ts";
import { createLogOrder, type LogOrder } from "./log-order.ts";
import { type Cursors, lettersOf, loadEntries, snapshotOf, sortLetters } from "./snapshot.ts";

/** What a record of the settled log asks the bus to do: append these actions, keep this dead letter. */
export interface Effects {
  /** Set when a settlement was the first for its record and handler. */
  readonly won?: WrittenSettlement;
  readonly died?: readonly DeadLetter[];
}

/** The fold of the settled log, kept so that one more record costs the same however many there were. */
export interface Ledger {
  readonly cursors: Cursors;
  /** Without a cursor, the caller moves that of the settled log itself. */
  apply(record: Envelope, cursor?: Cursor): Effects;
  entry(id: string): Readonly<Entry> | undefined;
  /** Records with a handler that waits. */
  readonly waiting: Readonly<Record<About, Due<Readonly<Entry>>>>;
  /** Events that triage is to see. */
  readonly pending: LogOrder<Readonly<Entry>>;
  letters(): DeadLetter[];
  snapshot(): BusState;
}

const FORGOTTEN_AT_ONCE = 100;
const refusalsSchema = refusalSchema.array();

interface Books {
  readonly cursors: Cursors;
  readonly entries: Map<string, Entry>;
  /** Oldest first. */
  readonly processed: Record<About, Set<string>>;
  readonly waiting: Record<About, Due<Entry>>;
  readonly pending: LogOrder<Entry>;
  /** Beyond the cursor: after a restart they are offered again, so what is known about them must be kept. */
  readonly ahead: Record<About, LogOrder<Entry>>;
  readonly dead: Set<Entry>;
}

/** Makes the ledger that a state describes. */
export function createLedger(state: BusState): Ledger {
  const entries = loadEntries(state);
  const books: Books = {
    cursors: { events: state.eventsOffset, actions: state.actionsOffset, settled: state.settledOffset },
    entries,
    processed: { event: new Set(state.processedEventIds), action: new Set(state.processedActionIds) },
    waiting: { event: createDue(), action: createDue() },
    pending: createLogOrder(),
    ahead: { event: createLogOrder(), action: createLogOrder() },
    dead: new Set(),
  };
  for (const entry of entries.values()) index(books, entry);
  return {
    cursors: books.cursors,
    waiting: books.waiting,
    pending: books.pending,
    apply: (record, cursor) => apply(books, record, cursor),
    entry: (id) => entries.get(id),
    letters: () => sortLetters([...books.dead].flatMap(lettersOf)),
    snapshot: () => snapshotOf({ ...books, isAhead: (entry) => isAhead(books, entry) }),
  };
}

function apply(books: Books, record: Envelope, cursor: Cursor | undefined): Effects {
  if (cursor !== undefined) books.cursors.settled = cursor;
  // Few need it, and it costs as much as the rest.
  const ts = (): number => Date.parse(record.ts) || 0;
  const data = asFields(record.data);
  const { record: id, handler } = data;
  if (typeof id !== "string") return {};
  if (record.kind === "revival") {
    const entry = books.entries.get(id);
    if (!entry) return {};
    reviveEntry(entry, ts());
    review(books, entry);
    return {};
  }
  if (typeof handler !== "string") return {};
  if (record.kind === "attempt") {
    const entry = entryOf(books, id, "event");
    if (entry.finals.has(handler)) return {};
    entry.calls.set(handler, attemptsOf(entry, handler) + 1);
    entry.calledAt = record.ts;
    return {};
  }
  if (record.kind === "uncount") {
    uncount(books, id, handler);
    return {};
  }
  if (record.kind !== "settlement" || typeof data.outcome !== "string") return {};
  if (data.also !== undefined && !Array.isArray(data.also)) return {};
  const marks = readMarks(data.marks);
  if (!marks) return {};
  return applySettlement(books, (marks === data.marks ? data : { ...data, marks }) as WrittenSettlement, ts);
}

/** As if the last call had not been made; what only it made known is forgotten. */
function uncount(books: Books, id: string, handler: string): void {
  const entry = books.entries.get(id);
  const count = entry?.calls.get(handler);
  if (!entry || count === undefined) return;
  if (count - 1 > (entry.waits.get(handler)?.attempts ?? 0)) entry.calls.set(handler, count - 1);
  else entry.calls.delete(handler);
  const isKnown = entry.calls.size + entry.waits.size + entry.finals.size + entry.dead.size + entry.results.size > 0;
  if (!isKnown && entry.pendingSince === undefined && entry.at === undefined) books.entries.delete(id);
}

function applySettlement(books: Books, settlement: WrittenSettlement, ts: () => number): Effects {
  const { marks } = settlement;
  const about: About = marks.about === "action" ? "action" : "event";
  moveCursor(books, about, marks.moveCursor);
  const died: DeadLetter[] = [];
  const settle = (id: string): boolean => {
    const entry = entryOf(books, id, about);
    entry.about = about;
    entry.at ??= positionIn(marks.at, id);
    if (marks.done === true && isAhead(books, entry)) entry.done = true;
    const isFirst = settleEntry(entry, settlement, { ts, died });
    review(books, entry);
    return isFirst;
  };
  const won = settle(settlement.record);
  for (const id of settlement.also ?? []) if (id !== settlement.record) settle(id);
  // A journal may be damaged or of another version.
  const refused = won && settlement.refused !== undefined ? refusalsSchema.safeParse(settlement.refused).data : [];
  for (const refusal of refused ?? []) {
    const entry = entryOf(books, refusal.id, "event");
    refuseEntry(entry, settlement.handler, { refusal, ts, died });
    review(books, entry);
  }
  return won ? { won: settlement, died } : { died };
}

function entryOf(books: Books, id: string, about: About): Entry {
  const known = books.entries.get(id);
  if (known) return known;
  const entry = newEntry(id, about);
  books.entries.set(id, entry);
  return entry;
}

function isAhead({ cursors }: Books, { about, at }: Entry): boolean {
  return at !== undefined && compareCursors(at, cursors[about === "action" ? "actions" : "events"]) >= 0;
}

/** Puts a record where it is looked for, and takes it away from where it is not. */
function index(books: Books, entry: Entry): void {
  const { about, at } = entry;
  const other: About = about === "action" ? "event" : "action";
  const until = earliestWait(entry);
  const isListed =
    until !== undefined || entry.pendingSince !== undefined || entry.dead.size > 0 || isAhead(books, entry);
  if (!isListed && !entry.listed) return;
  entry.listed = isListed;
  books.waiting[other].delete(entry);
  if (until === undefined) books.waiting[about].delete(entry);
  else books.waiting[about].put(entry, until, at);
  if (entry.pendingSince === undefined) books.pending.delete(entry);
  else books.pending.put(entry, at);
  books.ahead[other].delete(entry);
  if (isAhead(books, entry)) books.ahead[about].put(entry, at);
  else books.ahead[about].delete(entry);
  if (entry.dead.size > 0) books.dead.add(entry);
  else books.dead.delete(entry);
}

/** A record is processed when a handler is done with it and none waits for it. Old ones are forgotten. */
function review(books: Books, entry: Entry): void {
  const isKept = isOpen(entry) || isAhead(books, entry);
  if (!isKept && entry.dead.size === 0) entry.at = undefined;
  index(books, entry);
  const list = books.processed[entry.about];
  if (isKept || entry.results.size > 0 || entry.finals.size + entry.dead.size === 0) list.delete(entry.id);
  else {
    list.add(entry.id);
    if (list.size > MAX_PROCESSED) forget(books, list);
  }
}

/** Some at a time: finding the oldest of a set costs what was removed from its front before. */
function forget({ entries }: Books, list: Set<string>): void {
  const most = list.size - FORGOTTEN_AT_ONCE;
  for (const id of list) {
    if (list.size <= most) return;
    list.delete(id);
    // Who is done with a record is known as long as a dead letter of it may be tried again: the others must not be.
    if (!entries.get(id)?.dead.size) entries.delete(id);
  }
}

function positionIn(at: unknown, id: string): Cursor | undefined {
  const position = ownValue(asFields(at), id);
  return isCursor(position) ? position : undefined;
}

function moveCursor(books: Books, about: About, to: Cursor | undefined): void {
  const name = about === "action" ? "actions" : "events";
  if (to === undefined || compareCursors(to, books.cursors[name]) <= 0) return;
  books.cursors[name] = to;
  const ahead = books.ahead[about];
  for (let entry = ahead.first(); entry && !isAhead(books, entry); entry = ahead.first()) {
    entry.done = false;
    review(books, entry);
  }
}
