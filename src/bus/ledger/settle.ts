import { compareCursors } from "../cursor.ts";
import { retryDelay } from "../limits.ts";
import type { Marks, WrittenMarks } from "../marks.ts";
import type { Kind, Parts } from "../parts.ts";
import type { Cursor } from "../ports.ts";
import { type Action, type BusEvent, type Settlement, settlementSchema, type WrittenSettlement } from "../types.ts";
import { type About, attemptsOf, isUncertain, nextAttempts, REST } from "./entry.ts";
import { handlerStatus } from "./waits.ts";

/** What became of a settlement: it won, the record waits or died, or the handler was done with the record before. */
export type Settled = "settled" | "deferred" | "dead" | "ignored";

/** What is known when a call is about to be made. */
export interface Attempted {
  /** Calls so far, this one included when it is allowed. */
  readonly attempts: number;
  /** False: do not make it, the record is settled or a dead letter. */
  readonly allowed: boolean;
  /** It is not known what became of an earlier call: look before making this one, where that is possible. */
  readonly uncertain: boolean;
}

export interface SettleOptions {
  /** False: safe from a killed process, and from a power loss only after `sync()`. Default true. */
  readonly sync?: boolean;
}

/** Counts a call before it is made, so that one that kills the process is counted too. */
export function attempt(bus: Parts, recordId: string, handler: string): Attempted {
  const entry = bus.ledger.entry(recordId);
  const before = attemptsOf(entry, handler);
  const uncertain = isUncertain(entry, handler);
  const status = handlerStatus(bus, recordId, handler);
  if (status === "settled" || status === "dead") return { attempts: before, allowed: false, uncertain };
  if (before >= bus.limits.maxAttempts) {
    const reason = `${handler} was called ${before} times and never came back`;
    settle(bus, { record: recordId, handler, outcome: "threw", reason, marks: { uncertain: true } });
    return { attempts: before, allowed: false, uncertain };
  }
  bus.settled.append({ kind: "attempt", data: { record: recordId, handler } }, false);
  return { attempts: before + 1, allowed: true, uncertain };
}

/** Takes back a counted call that did not fail. Unlike after a deferral, no handler waits for the record. */
export function uncount(bus: Parts, recordId: string, handler: string): void {
  if (bus.ledger.entry(recordId)?.calls.has(handler) !== true) return;
  bus.settled.append({ kind: "uncount", data: { record: recordId, handler } }, false);
}

/** Records what a handler did with a record; the first final settlement of a handler wins. */
export function settle(bus: Parts, input: Settlement, options: SettleOptions = {}): Settled {
  bus.settled.flush();
  const settlement = settlementSchema.parse(input);
  const ids = [settlement.record, ...(settlement.also ?? [])];
  const about = aboutOf(bus, settlement);
  const kind: AnyKind = bus[about];
  // An action that was delivered or put off is done with; `passed` on one only says that a hook had no objection.
  const isDone = settlement.marks?.moveCursor ? true : about === "action" && settlement.outcome !== "passed";
  const moveCursor = isDone ? kind.offers.cursorAfter(ids) : undefined;
  const result = outcomeBefore(bus, settlement);
  if (moveCursor !== undefined || isNews(bus, settlement, { ids, isDone })) {
    const at = placesOf(bus, kind, { ids, settlement, moveCursor });
    const completed = completeSettlement(bus, settlement, { about, now: bus.clock.now(), at, isDone, moveCursor });
    kind.hold(ids);
    try {
      bus.settled.append({ kind: "settlement", data: completed }, options.sync !== false);
    } finally {
      letGo(bus, kind, ids);
    }
  }
  if (isDone) kind.offers.finish(ids);
  else if (settlement.outcome === "deferred" || settlement.outcome === "threw") kind.offers.park(ids);
  if (result === "deferred" && bus.ledger.entry(settlement.record)?.dead.has(settlement.handler)) return "dead";
  return result;
}

/** Whether a settlement says anything that is not known. */
function isNews(bus: Parts, { handler, marks }: Settlement, about: { ids: string[]; isDone: boolean }): boolean {
  return about.ids.some((id) => {
    const entry = bus.ledger.entry(id);
    if (!entry?.finals.has(handler)) return true;
    if (marks?.triaged === true && entry.pendingSince !== undefined) return true;
    if (marks?.closed === true && entry.results.size > 0) return true;
    return about.isDone && entry.waits.has(REST);
  });
}

function outcomeBefore(bus: Parts, { record: id, handler, outcome }: Settlement): Settled {
  if (bus.ledger.entry(id)?.finals.has(handler)) return "ignored";
  return outcome === "handled" || outcome === "passed" ? "settled" : "deferred";
}

/** An id that was offered as an action, or is known as one, is an action's; all others are events'. */
function aboutOf(bus: Parts, { record: id, marks }: Settlement): About {
  if (marks?.about !== undefined) return marks.about;
  if (bus.action.offers.find(id)) return "action";
  if (bus.event.offers.find(id)) return "event";
  return bus.ledger.entry(id)?.about ?? "event";
}

type AnyKind = Kind<BusEvent> | Kind<Action>;

interface Placing {
  readonly ids: readonly string[];
  readonly settlement: Settlement;
  readonly moveCursor: Cursor | undefined;
}

/** Where records lie that are read again, or that the cursor has not passed: those must not be forgotten. */
function placesOf(bus: Parts, kind: AnyKind, { ids, settlement, moveCursor }: Placing): Record<string, Cursor> {
  const { outcome, marks } = settlement;
  const isReadAgain = outcome === "deferred" || outcome === "threw" || marks?.pendingTriage === true;
  const places: Record<string, Cursor> = {};
  for (const id of ids) {
    const ahead = kind.offers.find(id)?.at;
    const at = ahead ?? bus.ledger.entry(id)?.at;
    if (at === undefined) continue;
    const isAhead = ahead !== undefined && (moveCursor === undefined || compareCursors(ahead, moveCursor) >= 0);
    if (isReadAgain || isAhead) places[id] = at;
  }
  return places;
}

/** Records that nothing waits for any more need not be held in memory. */
function letGo(bus: Parts, kind: AnyKind, ids: readonly string[]): void {
  for (const id of ids) {
    const entry = bus.ledger.entry(id);
    if (!entry || (entry.waits.size === 0 && entry.pendingSince === undefined)) kind.finder.drop(id);
  }
}

/** Lets the dead letters of a record be tried again; tells how many there were. */
export function revive(bus: Parts, recordId: string): number {
  const count = bus.ledger.entry(recordId)?.dead.size ?? 0;
  if (count > 0) bus.settled.append({ kind: "revival", data: { record: recordId } }, true);
  return count;
}

/** Gives the dead letters of a record up for good, or that of one handler; tells how many there were. */
export function drop(bus: Parts, recordId: string, handler?: string): number {
  const entry = bus.ledger.entry(recordId);
  const dropped = [...(entry?.dead.keys() ?? [])].filter((other) => handler === undefined || other === handler);
  if (!entry || dropped.length === 0) return 0;
  const { about } = entry;
  const isLast = dropped.length === entry.dead.size;
  // An action with a dead letter waits for nothing, but a kill may have come before that was said.
  const waits = about === "action" && isLast ? [...entry.waits.keys()] : [];
  const isOver = isLast && waits.length === entry.waits.size && entry.pendingSince === undefined;
  const handlers = [...waits, ...dropped];
  for (const [index, each] of handlers.entries()) {
    const closed = isOver && index === handlers.length - 1 ? { closed: true } : {};
    const reason = "dropped by a person";
    settle(bus, { record: recordId, handler: each, outcome: "handled", reason, marks: { about, ...closed } });
  }
  return dropped.length;
}

interface Decided {
  readonly about: About;
  readonly now: number;
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
function completeSettlement(bus: Parts, settlement: Settlement, decided: Decided): WrittenSettlement {
  const { now } = decided;
  const { moveCursor: _moveCursor, ...asked }: Marks = settlement.marks ?? {};
  const isFinal = settlement.outcome === "handled" || settlement.outcome === "passed";
  const marks: WrittenMarks = { ...asked, about: decided.about };
  if (decided.moveCursor !== undefined) marks.moveCursor = decided.moveCursor;
  if (decided.isDone) marks.done = true;
  if (Object.keys(decided.at).length > 0) marks.at = decided.at;
  if (isFinal) return { ...settlement, marks };
  const { maxAttempts, retryMinMs: minMs, retryMaxMs: maxMs } = bus.limits;
  const later = (count: number): number => now + retryDelay(count, { minMs, maxMs });
  // A handler that threw or waits runs again, and its actions then have the same ids: none of them goes out now.
  const { actions: _actions, state: _state, result: _result, refused: _refused, ...rest } = settlement;
  const entry = bus.ledger.entry(settlement.record);
  if (settlement.outcome === "threw") {
    const attempts = nextAttempts(entry, settlement.handler);
    if (attempts >= maxAttempts) marks.dead = true;
    return { ...rest, until: Math.max(settlement.until ?? 0, later(attempts)), marks };
  }
  // A wait that is over already would make a loop out of a handler that defers each time.
  const isAhead = settlement.until !== undefined && settlement.until > now;
  const deferrals = entry?.waits.get(settlement.handler)?.deferrals ?? 0;
  return { ...rest, until: isAhead ? settlement.until : later(deferrals + 1), marks };
}
