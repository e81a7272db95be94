import { crashPoint } from "../../kernel/crash-point.ts";
import type { Core, Kind } from "../bus-core.ts";
import type { Wait } from "../bus-state.ts";
import { compareCursors } from "../cursor.ts";
import type { WaitKind } from "../marks.ts";
import type { Cursor } from "../ports.ts";
import { type Action, type BusEvent, type Settlement, settlementSchema } from "../types.ts";
import { completeSettlement } from "./complete-settlement.ts";
import { type About, attemptsOf, isUncertain, REST } from "./entries.ts";

/** What became of a settlement: it won, the record waits or died, or the handler was done with the record before. */
export type Settled = "settled" | "deferred" | "dead" | "ignored";
export type HandlerStatus = "ready" | "waiting" | "settled" | "dead";

/** What is known when a call is about to be made. */
export interface Attempted {
  /** Calls so far, this one included when it is allowed. */
  readonly attempts: number;
  /** False: do not make it, the record is settled or a dead letter. */
  readonly allowed: boolean;
  /** Nobody knows what became of an earlier call: look before making this one, where that is possible. */
  readonly uncertain: boolean;
}

export interface SettleOptions {
  /** False: safe from a killed process, and from a power loss only after `sync()`. Default true. */
  readonly sync?: boolean;
}

/** One handler's wait for its next call with a record. */
export interface HandlerWait {
  readonly until: number;
  readonly attempts: number;
  readonly since: number;
  readonly reason: string;
  readonly kind?: WaitKind;
}

const LOGS = ["settled", "actions", "dead"] as const;

/** Appends to the settled log, and folds it as a replay would: live state and replayed state are made by the same code. */
function record(core: Core, entry: { kind: string; data: object }, sync: boolean): void {
  if (!sync) core.unsynced = true;
  const address = { scope: core.scope, log: "settled" } as const;
  const { from, cursor, ts } = core.log.append(address, [entry], { sync });
  core.dirty = true;
  // What a reader will find: nothing of the caller's objects, and no key that JSON leaves out.
  const data: unknown = JSON.parse(JSON.stringify(entry.data));
  core.projection.take({ record: { ts, kind: entry.kind, schemaVersion: 1, data }, from, cursor, sync });
}

/** Makes what was appended without sync safe from a power loss: what follows from a settlement never before it. */
export function sync(core: Core): void {
  if (!core.unsynced) return;
  for (const log of LOGS) {
    core.log.sync({ scope: core.scope, log });
    crashPoint("bus.synced");
  }
  core.unsynced = false;
}

/** Whether a handler has still to be called with a record. */
export function handlerStatus(core: Core, recordId: string, handler: string): HandlerStatus {
  const entry = core.ledger.entry(recordId);
  if (entry?.finals.has(handler)) return "settled";
  if (entry?.dead.has(handler)) return "dead";
  const wait = entry?.waits.get(handler);
  return wait && wait.deferredUntil > core.clock.now() ? "waiting" : "ready";
}

/** What a handler waits for, if it waits. */
export function waitOf(core: Core, recordId: string, handler: string): HandlerWait | undefined {
  const wait: Wait | undefined = core.ledger.entry(recordId)?.waits.get(handler);
  if (!wait) return undefined;
  const { deferredUntil: until, attempts, since, reason, kind } = wait;
  return { until, attempts, since, reason, ...(kind === undefined ? {} : { kind }) };
}

/** Counts a call before it is made, so that one that kills the process is counted too. */
export function attempt(core: Core, recordId: string, handler: string): Attempted {
  const entry = core.ledger.entry(recordId);
  const before = attemptsOf(entry, handler);
  const uncertain = isUncertain(entry, handler);
  const status = handlerStatus(core, recordId, handler);
  if (status === "settled" || status === "dead") return { attempts: before, allowed: false, uncertain };
  if (before >= core.limits.maxAttempts) {
    const reason = `${handler} was called ${before} times and never came back`;
    settle(core, { record: recordId, handler, outcome: "threw", reason, marks: { uncertain: true } });
    return { attempts: before, allowed: false, uncertain };
  }
  record(core, { kind: "attempt", data: { record: recordId, handler } }, false);
  return { attempts: before + 1, allowed: true, uncertain };
}

/** Takes back a counted call that did not fail. Unlike after a deferral, no handler waits for the record. */
export function uncount(core: Core, recordId: string, handler: string): void {
  if (core.ledger.entry(recordId)?.calls.has(handler) !== true) return;
  record(core, { kind: "uncount", data: { record: recordId, handler } }, false);
}

/** Records what a handler did with a record; the first final settlement of a handler wins. */
export function settle(core: Core, input: Settlement, options: SettleOptions = {}): Settled {
  core.projection.flush();
  const settlement = settlementSchema.parse(input);
  const ids = [settlement.record, ...(settlement.also ?? [])];
  const about = aboutOf(core, settlement);
  const kind: AnyKind = core[about];
  // An action that was delivered or put off is done with; `passed` on one only says that a hook had no objection.
  const isDone = settlement.marks?.moveCursor ? true : about === "action" && settlement.outcome !== "passed";
  const moveCursor = isDone ? kind.offers.cursorAfter(ids) : undefined;
  const result = outcomeBefore(core, settlement);
  if (moveCursor !== undefined || isNews(core, settlement, { ids, isDone })) {
    const { ledger, limits } = core;
    const at = placesOf(core, kind, { ids, settlement, moveCursor });
    const context = { ledger, about, now: core.clock.now(), limits, at, isDone, moveCursor };
    const completed = completeSettlement(settlement, context);
    kind.hold(ids);
    try {
      record(core, { kind: "settlement", data: completed }, options.sync !== false);
    } finally {
      letGo(core, kind, ids);
    }
  }
  if (isDone) kind.offers.finish(ids);
  else if (settlement.outcome === "deferred" || settlement.outcome === "threw") kind.offers.park(ids);
  if (result === "deferred" && core.ledger.entry(settlement.record)?.dead.has(settlement.handler)) return "dead";
  return result;
}

/** Whether a settlement says anything that is not known. */
function isNews(core: Core, { handler, marks }: Settlement, about: { ids: string[]; isDone: boolean }): boolean {
  return about.ids.some((id) => {
    const entry = core.ledger.entry(id);
    if (!entry?.finals.has(handler)) return true;
    if (marks?.triaged === true && entry.pendingSince !== undefined) return true;
    if (marks?.closed === true && entry.results.size > 0) return true;
    return about.isDone && entry.waits.has(REST);
  });
}

function outcomeBefore(core: Core, { record: id, handler, outcome }: Settlement): Settled {
  if (core.ledger.entry(id)?.finals.has(handler)) return "ignored";
  return outcome === "handled" || outcome === "passed" ? "settled" : "deferred";
}

/** An id that was offered as an action, or is known as one, is an action's; all others are events'. */
function aboutOf(core: Core, { record: id, marks }: Settlement): About {
  if (marks?.about !== undefined) return marks.about;
  if (core.action.offers.find(id)) return "action";
  if (core.event.offers.find(id)) return "event";
  return core.ledger.entry(id)?.about ?? "event";
}

type AnyKind = Kind<BusEvent> | Kind<Action>;

interface Placing {
  readonly ids: readonly string[];
  readonly settlement: Settlement;
  readonly moveCursor: Cursor | undefined;
}

/** Where records lie that are read again, or that the cursor has not passed: those must not be forgotten. */
function placesOf(core: Core, kind: AnyKind, { ids, settlement, moveCursor }: Placing): Record<string, Cursor> {
  const { outcome, marks } = settlement;
  const isReadAgain = outcome === "deferred" || outcome === "threw" || marks?.pendingTriage === true;
  const places: Record<string, Cursor> = {};
  for (const id of ids) {
    const ahead = kind.offers.find(id)?.at;
    const at = ahead ?? core.ledger.entry(id)?.at;
    if (at === undefined) continue;
    const isAhead = ahead !== undefined && (moveCursor === undefined || compareCursors(ahead, moveCursor) >= 0);
    if (isReadAgain || isAhead) places[id] = at;
  }
  return places;
}

/** Records that nothing waits for any more need not be held in memory. */
function letGo(core: Core, kind: AnyKind, ids: readonly string[]): void {
  for (const id of ids) {
    const entry = core.ledger.entry(id);
    if (!entry || (entry.waits.size === 0 && entry.pendingSince === undefined)) kind.finder.drop(id);
  }
}

/** Lets the dead letters of a record be tried again; tells how many there were. */
export function revive(core: Core, recordId: string): number {
  const count = core.ledger.entry(recordId)?.dead.size ?? 0;
  if (count > 0) record(core, { kind: "revival", data: { record: recordId } }, true);
  return count;
}

/** Gives the dead letters of a record up for good, or that of one handler; tells how many there were. */
export function drop(core: Core, recordId: string, handler?: string): number {
  const entry = core.ledger.entry(recordId);
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
    settle(core, { record: recordId, handler: each, outcome: "handled", reason, marks: { about, ...closed } });
  }
  return dropped.length;
}
