import type { Marks } from "../../bus/marks.ts";
import { handlerName, parseHandler } from "../../bus/names.ts";
import type { Action, Settlement } from "../../bus/types.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { passesByItself } from "../../kernel/used-up.ts";
import type { CallTools } from "../contexts/context.ts";
import { type Cause, createEmitters } from "../contexts/emitters.ts";
import type { JsonValue } from "../contexts/event-types.ts";
import type { HookPoint } from "../contexts/hook-types.ts";
import type { HookHost, HookScope } from "../host.ts";
import type { LoadedPlugin } from "../modules/load.ts";
import { type CallMemory, createMemory } from "../state/memory.ts";
import { startDeadline } from "./deadline.ts";
import { CallLife } from "./misuse.ts";
import { describeThrown, sentence } from "./thrown.ts";
import type { Turn } from "./turns.ts";

/** A hook whose text is changed each time it runs must not run for ever. */
const MAX_STALE = 100;

/** What a hook decided about a record. */
export interface Verdict {
  readonly outcome: "handled" | "passed" | "deferred";
  readonly result?: JsonValue;
  readonly reason?: string;
  readonly until?: number;
}

/** One run of a hook: a conflict makes another one. */
export interface HookRun {
  /** Calls the hook. */
  invoke(): unknown;
  /** Makes a verdict of what it returned; throws when that is nonsense. */
  judge(returned: unknown): Verdict;
  /** What it was given changed meanwhile: it must run again. */
  isStale?(): boolean;
  /** What the settlement promised, done in the same breath. */
  follow?(): void;
}

export interface HookCall {
  readonly plugin: LoadedPlugin;
  readonly point: HookPoint;
  readonly record: string;
  readonly cause: Cause;
  run(tools: CallTools): HookRun;
  /** `retry`: put off, and a dead letter at last. `fail`: the record's round is over for this hook. */
  readonly onThrow: "retry" | "fail";
  /** Marks for the settlement. */
  marks?(verdict: Verdict | "threw"): Marks;
  /** True: somebody else said what becomes of the record, and the call settles nothing. */
  isGivenUp?(): boolean;
  /** Whether the settlement is on the disk when the call returns. */
  readonly sync: boolean;
  /** Runs that may be stale. */
  readonly maxStale?: number;
}

export type CallOutcome =
  | { readonly kind: "settled"; readonly verdict: Verdict }
  | { readonly kind: "waiting"; readonly until: number }
  | { readonly kind: "dead"; readonly reason: string }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "stopped" };

/** The name under which a plugin's hook settles records. */
export function hookHandler(point: HookPoint, plugin: string): string {
  return handlerName({ kind: "hook", point, plugin });
}

/** The plugin whose hook of this point settles under a name; undefined when it is another handler's. */
export function pluginOf(handler: string, point: HookPoint): string | undefined {
  const parsed = parseHandler(handler);
  return parsed?.kind === "hook" && parsed.point === point ? parsed.plugin : undefined;
}

/** Calls one hook with one record: attempt, call, settlement. Everything that the hook did is in that one line. */
export async function callHook(host: HookHost, scope: HookScope, call: HookCall): Promise<CallOutcome> {
  if (host.stopSignal.aborted) return { kind: "stopped" };
  const handler = hookHandler(call.point, call.plugin.name);
  const { allowed, attempts } = scope.bus.attempt(call.record, handler);
  if (!allowed) return notAllowed(host, scope, call);
  crashPoint("hook:attempted");
  const { turns } = host.stores;
  let turn: Turn | undefined;
  try {
    for (let stale = 0; stale < (call.maxStale ?? MAX_STALE); ) {
      const calling = { call, handler, attempts, turn };
      // Of many that wait for the turn each would have its time to end, one after the other.
      if (host.stopSignal.aborted) return brokenOff(scope, calling);
      let work: Work;
      try {
        work = await runOnce(host, scope, calling);
      } catch (error) {
        return call.isGivenUp?.() ? { kind: "stopped" } : threw(host, scope, { ...calling, error });
      }
      if (isLost(host, { ...calling, ...work })) {
        if (turn) turn.holdAll();
        else turn = await turns.take(call.plugin.name, work.memory.touched());
      }
      if (call.isGivenUp?.()) return { kind: "stopped" };
      // Who waited for the turn may find that nothing was changed after all.
      const committed = commit(host, scope, { ...calling, ...work, turn });
      if (committed) return committed;
      if (work.run.isStale?.()) stale += 1;
    }
    const error = new Error("what it worked on was changed by others each time it ran");
    return threw(host, scope, { call, handler, attempts, turn, error });
  } finally {
    turn?.end();
  }
}

/** Whether others changed what a run worked on, or one with the turn is about to. */
function isLost(host: HookHost, { call, memory, turn }: Calling & Work): boolean {
  if (memory.conflicts()) return true;
  return turn === undefined && host.stores.turns.blocks(call.plugin.name, memory.written());
}

interface Calling {
  readonly call: HookCall;
  readonly handler: string;
  /** Which attempt it is. */
  readonly attempts: number;
  /** It lost before, and is sure to win. */
  readonly turn: Turn | undefined;
}

/** What one run came to, not yet settled. */
interface Work {
  readonly run: HookRun;
  readonly verdict: Verdict;
  readonly actions: readonly Action[];
  readonly memory: CallMemory;
}

async function runOnce(host: HookHost, scope: HookScope, { call, handler }: Calling): Promise<Work> {
  const life = new CallLife(`${handler} for ${call.record}`);
  const deadline = startDeadline({ ms: host.timeoutMs(), stopSignal: host.stopSignal });
  const busScope = scope.planId === undefined ? {} : { plan: scope.planId };
  const findEvent = (id: string) => scope.bus.findEvent(id);
  const { record, cause, plugin, point } = call;
  const { emitters, actions } = createEmitters({ scope: busScope, record, handler, cause, life, findEvent });
  const planId = plugin.scope === "plan" ? scope.planId : undefined;
  const memory = createMemory({ stores: host.stores, plugin: plugin.name, planId, life });
  const run = call.run({ host, scope, plugin: plugin.name, point, life, deadline, emitters, memory: memory.memory });
  const token = host.entering(handler);
  try {
    const returned = run.invoke();
    const value = isThenable(returned) ? await deadline.wait(returned) : returned;
    return { run, verdict: judged(run, value), actions, memory };
  } finally {
    host.left(token);
    life.end();
    deadline.end();
  }
}

/** What a hook returned is wrong. It is retried like a throw, and told as what it is. */
class WrongReturn extends Error {}

function judged(run: HookRun, value: unknown): Verdict {
  try {
    return run.judge(value);
  } catch (error) {
    throw new WrongReturn("", { cause: error });
  }
}

/**
 * Settles what a run came to; undefined when others changed what it worked on, so that it must run again. From the look
 * to the settlement and what follows from it nothing else runs, so no other call can come in between.
 */
function commit(host: HookHost, scope: HookScope, work: Calling & Work): CallOutcome | undefined {
  const { call, handler, verdict, memory, run } = work;
  crashPoint("hook:called");
  if (isLost(host, work) || run.isStale?.()) return undefined;
  const { state, order } = memory.commit();
  const isFinal = verdict.outcome !== "deferred";
  const settlement = {
    record: call.record,
    handler,
    ...verdict,
    ...(isFinal && work.actions.length > 0 ? { actions: [...work.actions] } : {}),
    ...(isFinal && state ? { state } : {}),
    marks: { ...call.marks?.(verdict), ...(isFinal && order ? { stateSeq: order } : {}) },
  } as Settlement;
  if (isFinal && order && scope.planId !== undefined) {
    host.stores.markPending(scope.planId);
    crashPoint("hook:pending");
  }
  scope.bus.settle(settlement, { sync: call.sync });
  crashPoint("hook:settled");
  if (!isFinal) return { kind: "waiting", until: waitUntil(host, scope, { record: call.record, handler }) };
  run.follow?.();
  return { kind: "settled", verdict };
}

/** When a handler that waits for a record may be called again. */
export function waitUntil(host: HookHost, { bus }: HookScope, on: { record: string; handler: string }): number {
  return bus.waitOf(on.record, on.handler)?.until ?? host.clock.now();
}

/** A call that the end of the dispatcher broke off is nobody's fault and no attempt. */
function brokenOff(scope: HookScope, { call, handler }: Calling): CallOutcome {
  const { record, sync } = call;
  if (call.onThrow === "retry")
    scope.bus.settle({ record, handler, outcome: "deferred", reason: "the dispatcher was stopped" }, { sync });
  else scope.bus.uncount(record, handler);
  return { kind: "stopped" };
}

/** An agent that nothing was left to start with, a full disk: that is no attempt of the hook, however often. */
function putOff(host: HookHost, scope: HookScope, { call, handler, error }: Calling & { error: unknown }): CallOutcome {
  const { record, sync } = call;
  const reason = describeThrown(error);
  scope.bus.settle({ record, handler, outcome: "deferred", reason }, { sync });
  tell(host, scope, { level: "warn", text: `${handler} waits with ${record}: ${reason}` });
  return { kind: "waiting", until: waitUntil(host, scope, { record, handler }) };
}

function threw(host: HookHost, scope: HookScope, thrown: Calling & { error: unknown }): CallOutcome {
  const { call, handler, attempts, error } = thrown;
  const { record, sync } = call;
  const reason = describeThrown(error);
  const what = error instanceof WrongReturn ? "returned what it must not" : "threw";
  if (host.stopSignal.aborted) return brokenOff(scope, thrown);
  if (passesByItself(error) && call.onThrow === "retry") return putOff(host, scope, thrown);
  const marks = call.marks?.("threw") ?? {};
  if (call.onThrow === "fail") {
    scope.bus.settle({ record, handler, outcome: "handled", result: { threw: reason }, marks }, { sync });
    tell(host, scope, { level: "warn", text: `${handler} ${what}: ${reason}` });
    return { kind: "failed", reason };
  }
  const settled = scope.bus.settle({ record, handler, outcome: "threw", reason, marks }, { sync });
  const when = settled === "dead" ? "" : nextCall(host, scope, { record, handler });
  const count = `attempt ${attempts} of ${scope.bus.limits().maxAttempts}`;
  tell(host, scope, { level: "warn", text: `${handler} ${what} on ${record} (${count}${when}): ${reason}` });
  if (settled === "dead") return dead(host, scope, { call, handler, reason });
  return { kind: "waiting", until: waitUntil(host, scope, { record, handler }) };
}

function nextCall(host: HookHost, scope: HookScope, on: { record: string; handler: string }): string {
  const seconds = Math.ceil((waitUntil(host, scope, on) - host.clock.now()) / 1000);
  return `, next in ${seconds} s`;
}

/** Settled, dead, or dead by now: it was called too often and never came back. */
function notAllowed(host: HookHost, scope: HookScope, call: HookCall): CallOutcome {
  const handler = hookHandler(call.point, call.plugin.name);
  if (scope.bus.handlerStatus(call.record, handler) !== "dead")
    return { kind: "settled", verdict: { outcome: "passed" } };
  const letter = scope.bus.deadLetters().find((one) => one.record === call.record && one.handler === handler);
  return dead(host, scope, { call, handler, reason: letter?.reason ?? "it is a dead letter" });
}

function dead(
  host: HookHost,
  scope: HookScope,
  about: { call: HookCall; handler: string; reason: string },
): CallOutcome {
  const { call, handler, reason } = about;
  const again = call.onThrow === "retry" ? ` \`prloom retry ${call.record}\` tries it again.` : "";
  tell(host, scope, { level: "bad", text: `${handler} gave up on ${call.record}: ${sentence(reason)}${again}` });
  return { kind: "dead", reason };
}

function tell(host: HookHost, { planId }: HookScope, report: { level: "warn" | "bad"; text: string }): void {
  host.report({ ...(planId === undefined ? {} : { planId }), ...report });
}

/** Whether something is to be awaited. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  return "then" in value && typeof value.then === "function";
}
