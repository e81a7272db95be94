import type { Core, Kind } from "./bus-core.ts";
import { completeSettlement } from "./complete-settlement.ts";
import { type About, attemptsOf } from "./ledger-entries.ts";
import type { Cursor, NewRecord } from "./ports.ts";
import { type Action, type BusEvent, type Settlement, settlementSchema } from "./types.ts";

/** What became of a settlement: it won, the record waits or died, or the handler was done with the record before. */
export type Settled = "settled" | "deferred" | "dead" | "ignored";
export type HandlerStatus = "ready" | "waiting" | "settled" | "dead";

/** Appends to the settled log, then folds what is in it: live state and replayed state are made by the same code. */
function record(core: Core, entry: NewRecord): void {
  core.log.append({ scope: core.scope, log: "settled" }, [entry]);
  if (core.projection.catchUp() > 0) core.dirty = true;
}

/** Whether a handler has still to be called with a record. */
export function handlerStatus(core: Core, recordId: string, handler: string): HandlerStatus {
  const entry = core.ledger.entry(recordId);
  if (entry?.finals.has(handler)) return "settled";
  if (entry?.dead.has(handler)) return "dead";
  const wait = entry?.waits.get(handler);
  return wait && wait.deferredUntil > core.clock.now() ? "waiting" : "ready";
}

/** Counts a call before it is made, so that one that kills the process is counted too. */
export function attempt(core: Core, recordId: string, handler: string): { attempts: number; allowed: boolean } {
  const before = attemptsOf(core.ledger.entry(recordId), handler);
  const status = handlerStatus(core, recordId, handler);
  if (status === "settled" || status === "dead") return { attempts: before, allowed: false };
  if (before >= core.limits.maxAttempts) {
    const reason = `${handler} was called ${before} times and never came back`;
    settle(core, { record: recordId, handler, outcome: "threw", reason });
    return { attempts: before, allowed: false };
  }
  record(core, { kind: "attempt", data: { record: recordId, handler } });
  return { attempts: before + 1, allowed: true };
}

/** Records what a handler did with a record; the first final settlement of a handler wins. */
export function settle(core: Core, input: Settlement): Settled {
  core.projection.flush();
  const settlement = settlementSchema.parse(input);
  const { handler, marks } = settlement;
  const ids = [settlement.record, ...(settlement.also ?? [])];
  const about = aboutOf(core, settlement);
  const kind = core[about];
  // An action that was delivered or put off is done with; `passed` on one only says that a hook had no objection.
  const isDone = marks?.moveCursor ? true : about === "action" && settlement.outcome !== "passed";
  const moveCursor = isDone ? kind.offers.cursorAfter(ids) : undefined;
  const isNews = ids.some((id) => {
    const entry = core.ledger.entry(id);
    return !entry?.finals.has(handler) || (marks?.triaged === true && entry.pendingSince !== undefined);
  });
  const result = outcomeBefore(core, settlement);
  if (isNews || moveCursor !== undefined) {
    const { ledger, limits } = core;
    const context = { ledger, about, now: core.clock.now(), limits, at: placesOf(core, kind, ids), moveCursor };
    const completed = completeSettlement(settlement, context);
    kind.hold(ids);
    try {
      record(core, { kind: "settlement", data: completed });
    } finally {
      letGo(core, kind, ids);
    }
  }
  if (isDone) kind.offers.finish(ids);
  else if (settlement.outcome === "deferred" || settlement.outcome === "threw") kind.offers.park(ids);
  if (result === "deferred" && core.ledger.entry(settlement.record)?.dead.has(handler)) return "dead";
  return result;
}

function outcomeBefore(core: Core, { record: id, handler, outcome }: Settlement): Settled {
  if (core.ledger.entry(id)?.finals.has(handler)) return "ignored";
  return outcome === "handled" || outcome === "passed" ? "settled" : "deferred";
}

/** An id that was offered as an action, or is known as one, is an action's; all others are events'. */
function aboutOf(core: Core, { record: id, marks }: Settlement): About {
  if (marks?.about === "action" || marks?.about === "event") return marks.about;
  if (core.action.offers.find(id)) return "action";
  if (core.event.offers.find(id)) return "event";
  return core.ledger.entry(id)?.about ?? "event";
}

type AnyKind = Kind<BusEvent> | Kind<Action>;

function placesOf(core: Core, kind: AnyKind, ids: readonly string[]): Record<string, Cursor> {
  const places: Record<string, Cursor> = {};
  for (const id of ids) {
    const at = kind.offers.find(id)?.at ?? core.ledger.entry(id)?.at;
    if (at !== undefined) places[id] = at;
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
  if (count > 0) record(core, { kind: "revival", data: { record: recordId } });
  return count;
}
