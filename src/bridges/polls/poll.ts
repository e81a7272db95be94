import { isDeepStrictEqual } from "node:util";
import type { AppendedEvents, Bus } from "../../bus/bus.ts";
import { handlerName, storeName } from "../../bus/names.ts";
import type { Settlement } from "../../bus/types.ts";
import { describeThrown } from "../../hooks/calls/thrown.ts";
import type { JsonValue } from "../../hooks/contexts/event-types.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { callBridge } from "../call-bridge.ts";
import { type BridgeHost, type BridgeScope, type BridgeStateRef, busScope } from "../host.ts";
import type { LoadedBridge } from "../load.ts";
import { withoutClashes } from "./clashes.ts";
import { type JudgedPoll, judgePoll } from "./judge-poll.ts";
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
}

const NO_EVENTS: AppendedEvents = { appended: [], duplicates: [], refused: [] };
const NOTHING: PollOutcome = { events: 0, actions: 0, refused: [] };
/** Refusals that are told one by one; a bridge that is all wrong must not fill the log. */
const MOST_TOLD = 20;

/** Asks a bridge for what is new and puts it on the bus. Never rejects. */
export async function pollBridge(host: BridgeHost, scope: BridgeScope, loaded: LoadedBridge): Promise<PollOutcome> {
  try {
    const outcome = await poll(host, scope, loaded);
    tell(host, scope, loaded, outcome);
    return outcome;
  } catch (error) {
    const outcome = { ...NOTHING, failed: describeThrown(error) };
    tell(host, scope, loaded, outcome);
    return outcome;
  }
}

async function poll(host: BridgeHost, scope: BridgeScope, loaded: LoadedBridge): Promise<PollOutcome> {
  const { bridge, name } = loaded;
  const { planId } = scope;
  const handler = handlerName({ kind: "poll", bridge: name });
  const again = await takeRevived(host, scope, { loaded, handler });
  const ref: BridgeStateRef = { kind: "bridge", name, ...(planId === undefined ? {} : { planId }) };
  const before = host.stores.read(ref);
  // A copy: a bridge that changes what it was given would make its old state look like the new one.
  const state = structuredClone(before.state);
  const call = (ctx: Parameters<NonNullable<typeof bridge.events>>[0]): unknown => bridge.events?.(ctx, state);
  const called = await callBridge(host, { loaded, planId, label: handler, call });
  const nothing = { ...NOTHING, ...again };
  if (called.kind !== "returned") return called.kind === "stopped" ? nothing : { ...nothing, failed: called.error };
  crashPoint("poll:returned");
  let seq = typeof before.seq === "number" ? before.seq + 1 : 1;
  // Only when the file of the bridge's state was lost: a number that was used would make this poll one that is settled.
  while (scope.bus.handlerStatus(`poll-${name}-${seq}`, handler) === "settled") seq += 1;
  const record = `poll-${name}-${seq}`;
  const findEvent = (id: string) => scope.bus.findEvent(id);
  const judged = judgePoll({ result: called.value, bridge: name, scope: busScope(planId), record, handler, findEvent });
  if (judged.kind === "failed") return { ...nothing, failed: judged.reason };
  const brought = commit(scope, judged, { name, record, handler, seq, before: before.state });
  return {
    events: again.events + brought.events,
    actions: again.actions + brought.actions,
    refused: [...again.refused, ...brought.refused],
  };
}

interface Committing {
  readonly name: string;
  readonly record: string;
  readonly handler: string;
  readonly seq: number;
  readonly before: JsonValue | undefined;
}

/** The events first, then the cursor: a kill in between makes the bridge tell them again, under the same ids. */
function commit(scope: BridgeScope, judged: JudgedPoll & { kind: "good" }, poll: Committing): PollOutcome {
  const appended = judged.events.length === 0 ? NO_EVENTS : scope.bus.appendEvents(judged.events);
  crashPoint("poll:events-appended");
  const { actions, refused } = withoutClashes(scope.bus, { ...judged, bridge: poll.name, appended });
  const letters = newLetters(scope.bus, poll, refused);
  const isMoved = judged.state !== undefined && !isDeepStrictEqual(judged.state.value, poll.before);
  if (isMoved || actions.length > 0 || letters.length > 0) {
    const patch = { seq: { value: poll.seq }, ...(judged.state ? { state: judged.state } : {}) };
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
  return { events: appended.appended.length, actions: actions.length, refused: refused.map(refusalText) };
}

/** Those of the refusals that were not told before. Its place in the list is no part of what is told about an event. */
function untold(bus: Bus, bridge: string, refused: readonly string[]): string[] {
  const { told } = pollMemory(bus, bridge);
  return refused.filter((reason) => {
    const what = reason.replace(/^events\[\d+\]: (?=")/, "");
    const isNew = !told.has(what);
    remember(told, what, true);
    return isNew;
  });
}

function tell(host: BridgeHost, { bus, planId }: BridgeScope, { name }: LoadedBridge, outcome: PollOutcome): void {
  const where = planId === undefined ? {} : { planId };
  if (outcome.failed !== undefined) {
    host.report({ ...where, level: "warn", text: `the poll of bridge ${name} failed: ${outcome.failed}` });
  }
  const refused = untold(bus, name, outcome.refused);
  for (const reason of refused.slice(0, MOST_TOLD)) {
    host.report({ ...where, level: "warn", text: `bridge ${name}: not taken: ${reason}` });
  }
  const rest = refused.length - MOST_TOLD;
  if (rest > 0) host.report({ ...where, level: "warn", text: `bridge ${name}: ${rest} more were not taken` });
}
