import type { JsonValue } from "../../kernel/json.ts";
import type { DeadLetter, Wait } from "../bus-state.ts";
import { retryDelay } from "../limits.ts";
import { parseHandler, TRIAGE } from "../names.ts";
import type { Cursor } from "../ports.ts";
import type { Refusal, WrittenSettlement } from "../types.ts";

export type About = "event" | "action";

/**
 * Stands among the handlers that wait for an event that came back from its wait: the handler that waited is done, and
 * it is not recorded yet that the others were offered it. Without it, a crash right then would lose the event for them.
 */
export const REST = "*";

const NONE: readonly never[] = [];

/** Something for each handler. Mostly one has something, and millions may be made in a start: a map is made for the second. */
class ByHandler<T> {
  /** The only handler, until there are two. */
  #one: string | undefined;
  #value: T | undefined;
  #all: Map<string, T> | undefined;

  get size(): number {
    return this.#all ? this.#all.size : Number(this.#one !== undefined);
  }
  get(handler: string): T | undefined {
    if (this.#all) return this.#all.get(handler);
    return this.#one === handler ? this.#value : undefined;
  }
  has(handler: string): boolean {
    return this.#all ? this.#all.has(handler) : this.#one === handler;
  }
  set(handler: string, value: T): void {
    if (!this.#all && this.#one !== undefined && this.#one !== handler) this.#all = new Map(this);
    if (this.#all) this.#all.set(handler, value);
    else {
      this.#one = handler;
      this.#value = value;
    }
  }
  delete(handler: string): void {
    if (this.#all) this.#all.delete(handler);
    else if (this.#one === handler) this.clear();
  }
  clear(): void {
    this.#one = undefined;
    this.#value = undefined;
    this.#all = undefined;
  }
  *keys(): Generator<string> {
    for (const [handler] of this) yield handler;
  }
  *values(): Generator<T> {
    for (const [, value] of this) yield value;
  }
  [Symbol.iterator](): Iterator<[string, T]> {
    if (this.#all) return this.#all[Symbol.iterator]();
    const one: readonly [string, T][] = this.#one === undefined ? NONE : [[this.#one, this.#value as T]];
    return one[Symbol.iterator]();
  }
}

/** All that is known about one record that is remembered. */
export interface Entry {
  readonly id: string;
  about: About;
  at: Cursor | undefined;
  /** Handlers that are done with it. */
  readonly finals: ByHandler<true>;
  readonly waits: ByHandler<Wait>;
  readonly calls: ByHandler<number>;
  /** When the last of them was counted. */
  calledAt: string | undefined;
  readonly dead: ByHandler<DeadLetter>;
  /** What handlers decided, until the record is closed. */
  readonly results: ByHandler<JsonValue>;
  pendingSince: number | undefined;
  /** Every handler was offered it, and the cursor has not passed it yet. */
  done: boolean;
  /** It is in one of the lists of the ledger. */
  listed: boolean;
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
  if (entry.waits.size === 0) return undefined;
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
    finals: new ByHandler(),
    waits: new ByHandler(),
    calls: new ByHandler(),
    calledAt: undefined,
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

export interface Settling {
  /** When it was settled. */
  ts(): number;
  readonly died: DeadLetter[];
}

/** Applies a settlement to one of its records; tells whether it was the first final one of its handler. */
export function settleEntry(entry: Entry, settlement: WrittenSettlement, { ts, died }: Settling): boolean {
  const { handler, outcome } = settlement;
  const { marks } = settlement;
  if (marks.triaged === true) entry.pendingSince = undefined;
  if (marks.closed === true) entry.results.clear();
  if (marks.done === true) entry.waits.delete(REST);
  if (entry.finals.has(handler)) return false;
  const before = entry.waits.get(handler);
  if (outcome === "handled" || outcome === "passed") {
    settleFinally(entry, settlement, ts);
    goOn(entry, settlement, { before, ts });
    return true;
  }
  const wait = nextWait(entry, settlement, ts);
  entry.calls.delete(handler);
  if (outcome === "threw" && marks.dead === true) {
    const { reason, attempts } = wait;
    const uncertain = wait.uncertain ? { uncertain: true as const } : {};
    const follows = marks.follows ? { follows: true as const } : {};
    const about = { about: entry.about, ...uncertain, ...follows };
    const letter: DeadLetter = { record: entry.id, handler, reason, attempts, since: ts(), ...about };
    entry.waits.delete(handler);
    entry.dead.set(handler, letter);
    if (handler === TRIAGE) entry.pendingSince = undefined;
    goOn(entry, settlement, { before, ts });
    died.push(letter);
  } else {
    entry.waits.set(handler, wait);
  }
  return false;
}

function settleFinally(entry: Entry, { handler, result, marks }: WrittenSettlement, ts: () => number): void {
  const isForTriage = marks.pendingTriage === true && entry.about === "event";
  if (isForTriage) entry.pendingSince ??= ts();
  entry.waits.delete(handler);
  entry.calls.delete(handler);
  entry.dead.delete(handler);
  // Putting a record on the triage list is not the answer of triage.
  if (isForTriage && handler === TRIAGE) return;
  entry.finals.set(handler, true);
  if (result !== undefined && marks.closed !== true) entry.results.set(handler, result);
}

/**
 * The last handler that waited is done: an event stays open until it is recorded that the others were offered it. An
 * action does not: its delivery waits for it under a name of its own until it is made.
 */
function goOn(
  entry: Entry,
  { marks }: WrittenSettlement,
  { before, ts }: { before: Wait | undefined; ts(): number },
): void {
  if (entry.about !== "event" || before === undefined || entry.waits.size > 0) return;
  if (marks.done === true || marks.triaged === true || marks.closed === true) return;
  const reason = "not all that handle it were asked yet";
  entry.waits.set(REST, { reason, deferredUntil: ts(), attempts: 0, deferrals: 0, since: before.since });
}

function nextWait(entry: Entry, settlement: WrittenSettlement, ts: () => number): Wait {
  const { handler, outcome, reason } = settlement;
  const before = entry.waits.get(handler);
  const call = entry.calls.get(handler);
  const threw = outcome === "threw";
  const counted = before?.attempts ?? 0;
  const attempts = threw ? nextAttempts(entry, handler) : call === undefined ? counted : call - 1;
  const deferrals = threw ? 0 : (before?.deferrals ?? 0) + 1;
  const deferredUntil = settlement.until ?? ts() + retryDelay(threw ? attempts : deferrals);
  // Of several calls that were begun only the last one is settled here.
  const isLost = before?.uncertain === true || (call ?? 0) > counted + 1;
  const said = settlement.marks.uncertain;
  const uncertain = said === true || (said !== false && isLost) ? { uncertain: true as const } : {};
  const kind = settlement.marks.wait === undefined ? {} : { kind: settlement.marks.wait };
  const since = before?.since ?? ts();
  return { reason: reason ?? outcome, deferredUntil, attempts, deferrals, since, ...uncertain, ...kind };
}

/** Keeps what a poll brought and prloom could not take, unless it was taken or dropped since. */
export function refuseEntry(
  entry: Entry,
  handler: string,
  { refusal, ts, died }: Settling & { refusal: Refusal },
): void {
  if (entry.finals.has(handler)) return;
  const since = entry.dead.get(handler)?.since ?? ts();
  const letter: DeadLetter = {
    record: entry.id,
    handler,
    reason: refusal.reason,
    attempts: 0,
    since,
    about: entry.about,
  };
  entry.dead.set(handler, letter);
  entry.results.set(handler, refusal.item);
  died.push(letter);
}

/** Makes the handlers that gave a record up wait for it again, due at once; polls find what is revived for them. */
export function reviveEntry(entry: Entry, ts: number): void {
  for (const [handler, letter] of entry.dead) {
    const { reason, uncertain } = letter;
    if (parseHandler(handler)?.kind === "poll") {
      entry.dead.set(handler, { ...letter, revived: true });
      continue;
    }
    if (handler === TRIAGE && entry.about === "event") entry.pendingSince ??= ts;
    else {
      const wait = { reason, deferredUntil: ts, attempts: 0, deferrals: 0, since: ts };
      entry.waits.set(handler, uncertain ? { ...wait, uncertain } : wait);
    }
    entry.dead.delete(handler);
  }
}
