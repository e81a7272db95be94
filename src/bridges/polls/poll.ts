import { isDeepStrictEqual } from "node:util";
import type { Bus } from "../../bus/bus.ts";
import { handlerName, storeName } from "../../bus/names.ts";
import { type Settlement, scopeOf } from "../../bus/types.ts";
import { describeThrown } from "../../hooks/calls/thrown.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import type { JsonValue } from "../../kernel/json.ts";
import { callBridge } from "../call-bridge.ts";
import type { LoadedBridge } from "../load.ts";
import type { BridgeScope, BridgeServices, BridgeStateRef } from "../services.ts";
import { type AppendedPoll, appendEvents } from "./append-events.ts";
import { judgePoll, type PollToJudge } from "./judge-poll.ts";
import { pollMemory, remember } from "./memory.ts";
import { newLetters, refusalText, takeRevived } from "./refusals.ts";

/** What a poll brought. */
export interface PollOutcome {
  /** Events that were not known before. */
  readonly events: number;
  readonly actions: number;
  /** Events and actions that were not taken, and why. */
  readonly refused: readonly string[];
  /** Set when the poll as a whole failed: nothing of it was taken, or not all of it was saved. */
  readonly failed?: string;
  /** How long the outside asked to be left alone; only where it failed. */
  readonly retryAfterMs?: number;
}

const NOTHING: PollOutcome = { events: 0, actions: 0, refused: [] };
/** Refusals that are told one by one; a bridge that is all wrong must not fill the log. */
const MAX_TOLD = 20;

/** Asks a bridge for what is new and puts it on the bus. `failedBefore` is told already. Never rejects. */
export async function pollBridge(
  services: BridgeServices,
  scope: BridgeScope,
  loaded: LoadedBridge,
  failedBefore?: string,
): Promise<PollOutcome> {
  const outcome = await poll(services, scope, loaded).catch((error) => ({ ...NOTHING, failed: describeThrown(error) }));
  const { failed, ...others } = outcome as PollOutcome;
  tell(services, scope, loaded, failed === failedBefore ? others : outcome);
  return outcome;
}

async function poll(services: BridgeServices, scope: BridgeScope, loaded: LoadedBridge): Promise<PollOutcome> {
  const { bridge, name } = loaded;
  const { planId } = scope;
  const handler = handlerName({ kind: "poll", bridge: name });
  const again = await takeRevived(services, scope, { loaded, handler });
  const ref: BridgeStateRef = { kind: "bridge", name, ...scopeOf(planId) };
  const before = services.stores.read(ref);
  // A copy: a bridge that changes what it was given would make its old state look like the new one.
  const state = structuredClone(before.state);
  const call = (ctx: Parameters<NonNullable<typeof bridge.events>>[0]): unknown => bridge.events?.(ctx, state);
  const called = await callBridge(services, { loaded, planId, label: handler, call });
  const nothing = { ...NOTHING, ...again };
  if (called.kind !== "returned") {
    return called.kind === "stopped" ? nothing : { ...nothing, ...failure(called.error, called.retryAfterMs) };
  }
  crashPoint("poll:returned");
  let seq = typeof before.seq === "number" ? before.seq + 1 : 1;
  // Only when the file of the bridge's state was lost: a number that was used would make this poll one that is settled.
  while (scope.bus.handlerStatus(`poll-${name}-${seq}`, handler) === "settled") seq += 1;
  const record = `poll-${name}-${seq}`;
  const findEvent = (id: string) => scope.bus.findEvent(id);
  const findPlan: PollToJudge["findPlan"] = (plan) => services.findPlan(plan);
  const given = { result: called.value, bridge: name, scope: scopeOf(planId), record, handler };
  const judged = judgePoll({ ...given, findEvent, findPlan });
  if (judged.kind === "failed") return { ...nothing, ...failure(judged.reason, judged.retryAfterMs) };
  const appended = appendEvents(services, scope, { ...judged, bridge: name });
  crashPoint("poll:events-appended");
  const brought = commit(scope, appended, { name, record, handler, seq, before: before.state, state: judged.state });
  return {
    events: again.events + brought.events,
    actions: again.actions + brought.actions,
    refused: [...again.refused, ...brought.refused],
  };
}

function failure(failed: string, retryAfterMs: number | undefined): Pick<PollOutcome, "failed" | "retryAfterMs"> {
  return { failed, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

interface Committing {
  readonly name: string;
  readonly record: string;
  readonly handler: string;
  readonly seq: number;
  readonly before: JsonValue | undefined;
  readonly state: { readonly value: JsonValue } | undefined;
}

/** The events are on their buses; a kill before the cursor is makes the bridge tell them again, under the same ids. */
function commit(scope: BridgeScope, { events, actions, refused }: AppendedPoll, poll: Committing): PollOutcome {
  const letters = newLetters(scope.bus, poll, refused);
  const isMoved = poll.state !== undefined && !isDeepStrictEqual(poll.state.value, poll.before);
  if (isMoved || actions.length > 0 || letters.length > 0) {
    const patch = { seq: { value: poll.seq }, ...(poll.state ? { state: poll.state } : {}) };
    scope.bus.settle({
      record: poll.record,
      handler: poll.handler,
      outcome: "handled",
      ...(actions.length > 0 ? { actions } : {}),
      ...(letters.length > 0 ? { refused: letters } : {}),
      state: { [storeName({ kind: "bridge", name: poll.name })]: patch } as NonNullable<Settlement["state"]>,
      marks: { about: "event", closed: true },
    });
    crashPoint("poll:settled");
  }
  return { events, actions: actions.length, refused: refused.map(refusalText) };
}

/** Those of the refusals that were not told before. The place in the list is not part of what is told about an event. */
function untold(bus: Bus, bridge: string, refused: readonly string[]): string[] {
  const { told } = pollMemory(bus, bridge);
  return refused.filter((reason) => {
    const what = reason.replace(/^events\[\d+\]: (?=")/, "");
    const isNew = !told.has(what);
    remember(told, what, true);
    return isNew;
  });
}

function tell(
  services: BridgeServices,
  { bus, planId }: BridgeScope,
  { name }: LoadedBridge,
  outcome: PollOutcome,
): void {
  const where = scopeOf(planId);
  if (outcome.failed !== undefined) {
    services.report({ ...where, level: "warn", text: `the poll of bridge ${name} failed: ${outcome.failed}` });
  }
  const refused = untold(bus, name, outcome.refused);
  for (const reason of refused.slice(0, MAX_TOLD)) {
    services.report({ ...where, level: "warn", text: `bridge ${name}: not taken: ${reason}` });
  }
  const rest = refused.length - MAX_TOLD;
  if (rest > 0) services.report({ ...where, level: "warn", text: `bridge ${name}: ${rest} more were not taken` });
}
