import type { Marks } from "../../bus/marks.ts";
import { handlerName, parseHandler } from "../../bus/names.ts";
import { type Action, type Settlement, scopeOf } from "../../bus/types.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import type { JsonValue } from "../../kernel/json.ts";
import { passesByItself } from "../../kernel/system/used-up.ts";
import type { CallTools } from "../contexts/context.ts";
import { type Cause, createEmit } from "../contexts/emitters.ts";
import { type HookPoint, THROW_EFFECTS } from "../contexts/hook-types.ts";
import type { LoadedPlugin } from "../modules/load-plugins.ts";
import type { HookScope, HookServices } from "../services.ts";
import { type CallMemory, createMemory } from "../state/call-memory.ts";
import type { KeyLock } from "../state/key-locks.ts";
import { startDeadline } from "./deadline.ts";
import { CallLife } from "./misuse.ts";
import { describeThrown, sentence } from "./thrown.ts";

/** A hook whose text is changed each time it runs must not run forever. */
const MAX_STALE = 100;

/** What a hook decided about a record. */
export interface HookAnswer {
  readonly outcome: "handled" | "passed" | "deferred";
  readonly result?: JsonValue;
  readonly reason?: string;
  readonly until?: number;
}

/** One run of a hook: a conflict makes another one. */
export interface HookRun {
  /** Calls the hook. */
  invoke(): unknown;
  /** Makes an answer of what it returned; throws when that is nonsense. */
  judge(returned: unknown): HookAnswer;
  /** What it was given changed meanwhile: it must run again. */
  isStale?(): boolean;
  /** What the settlement promised, done in the same tick. */
  follow?(): void;
}

export interface HookCall {
  readonly plugin: LoadedPlugin;
  readonly point: HookPoint;
  readonly record: string;
  readonly cause: Cause;
  run(tools: CallTools): HookRun;
  /** Marks for the settlement. */
  marks?(answer: HookAnswer | "threw"): Marks;
  /** True: the record was put off when the dispatcher stopped, and the call settles nothing. */
  isGivenUp?(): boolean;
  /** Whether the settlement is on the disk when the call returns. */
  readonly sync: boolean;
  /** Runs that may be stale. */
  readonly maxStale?: number;
}

export type CallOutcome =
  | { readonly kind: "settled"; readonly answer: HookAnswer }
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
export async function callHook(services: HookServices, scope: HookScope, call: HookCall): Promise<CallOutcome> {
  if (services.stopSignal.aborted) return { kind: "stopped" };
  const handler = hookHandler(call.point, call.plugin.name);
  const { allowed, attempts } = scope.bus.attempt(call.record, handler);
  if (!allowed) return notAllowed(services, scope, call);
  crashPoint("hook:attempted");
  const { locks } = services.stores;
  let lock: KeyLock | undefined;
  try {
    for (let stale = 0; stale < (call.maxStale ?? MAX_STALE); ) {
      const calling = { call, handler, attempts, lock };
      // Of many that wait for the lock each would have its time to end, one after the other.
      if (services.stopSignal.aborted) return brokenOff(scope, calling);
      let work: Work;
      try {
        work = await runOnce(services, scope, calling);
      } catch (error) {
        return call.isGivenUp?.() ? { kind: "stopped" } : threw(services, scope, { ...calling, error });
      }
      if (isLost(services, { ...calling, ...work })) {
        if (lock) lock.coverAll();
        else lock = await locks.acquire(call.plugin.name, work.memory.touched());
      }
      if (call.isGivenUp?.()) return { kind: "stopped" };
      // After the wait for the lock it may turn out that nothing was changed after all.
      const committed = commit(services, scope, { ...calling, ...work, lock });
      if (committed) return committed;
      if (work.run.isStale?.()) stale += 1;
    }
    const error = new Error("what it worked on was changed by others each time it ran");
    return threw(services, scope, { call, handler, attempts, lock, error });
  } finally {
    lock?.release();
  }
}

/** Whether others changed what a run worked on, or the holder of the lock is about to. */
function isLost(services: HookServices, { call, memory, lock }: Calling & Work): boolean {
  if (memory.conflicts()) return true;
  return lock === undefined && services.stores.locks.blocks(call.plugin.name, memory.written());
}

interface Calling {
  readonly call: HookCall;
  readonly handler: string;
  /** Which attempt it is. */
  readonly attempts: number;
  /** It lost before, and is sure to win. */
  readonly lock: KeyLock | undefined;
}

/** What one run came to, not yet settled. */
interface Work {
  readonly run: HookRun;
  readonly answer: HookAnswer;
  readonly actions: readonly Action[];
  readonly memory: CallMemory;
}

async function runOnce(services: HookServices, scope: HookScope, { call, handler }: Calling): Promise<Work> {
  const life = new CallLife(`${handler} for ${call.record}`);
  const deadline = startDeadline({ ms: services.timeoutMs(), stopSignal: services.stopSignal });
  const findEvent = (id: string) => scope.bus.findEvent(id);
  const { record, cause, plugin, point } = call;
  const { emit, actions } = createEmit({ scope, record, handler, cause, life, findEvent });
  const planId = plugin.kind === "plan" ? scope.planId : undefined;
  const memory = createMemory({ stores: services.stores, plugin: plugin.name, planId, life });
  const run = call.run({
    services,
    scope,
    plugin: plugin.name,
    point,
    life,
    deadline,
    emit,
    memory: memory.memory,
  });
  const token = services.entering(handler);
  try {
    const returned = run.invoke();
    const value = isThenable(returned) ? await deadline.wait(returned) : returned;
    return { run, answer: judged(run, value), actions, memory };
  } finally {
    services.left(token);
    life.end();
    deadline.end();
  }
}

/** What a hook returned is wrong. It is retried like a throw, and told as what it is. */
class WrongReturn extends Error {}

function judged(run: HookRun, value: unknown): HookAnswer {
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
function commit(services: HookServices, scope: HookScope, work: Calling & Work): CallOutcome | undefined {
  const { call, handler, answer, memory, run } = work;
  crashPoint("hook:called");
  if (isLost(services, work) || run.isStale?.()) return undefined;
  const { state, order } = memory.commit();
  const isFinal = answer.outcome !== "deferred";
  const settlement = {
    record: call.record,
    handler,
    ...answer,
    ...(isFinal && work.actions.length > 0 ? { actions: [...work.actions] } : {}),
    ...(isFinal && state ? { state } : {}),
    marks: { ...call.marks?.(answer), ...(isFinal && order ? { stateSeq: order } : {}) },
  } as Settlement;
  if (isFinal && order && scope.planId !== undefined) {
    services.stores.markPending(scope.planId);
    crashPoint("hook:pending");
  }
  scope.bus.settle(settlement, { sync: call.sync });
  crashPoint("hook:settled");
  if (!isFinal) return { kind: "waiting", until: waitUntil(services, scope, { record: call.record, handler }) };
  run.follow?.();
  return { kind: "settled", answer };
}

/** When a handler that waits for a record may be called again. */
export function waitUntil(services: HookServices, { bus }: HookScope, on: { record: string; handler: string }): number {
  return bus.waitOf(on.record, on.handler)?.until ?? services.clock.now();
}

/** A call that the end of the dispatcher broke off did not fail, and does not count as an attempt. */
function brokenOff(scope: HookScope, { call, handler }: Calling): CallOutcome {
  const { record, sync } = call;
  if (isRetried(call))
    scope.bus.settle({ record, handler, outcome: "deferred", reason: "the dispatcher was stopped" }, { sync });
  else scope.bus.uncount(record, handler);
  return { kind: "stopped" };
}

/** No process left to start an agent with, a full disk: that does not count as an attempt of the hook, however often. */
function putOff(services: HookServices, scope: HookScope, put: Calling & { error: unknown }): CallOutcome {
  const { call, handler, error } = put;
  const { record, sync } = call;
  const reason = describeThrown(error);
  scope.bus.settle({ record, handler, outcome: "deferred", reason }, { sync });
  tell(services, scope, { level: "warn", text: `${handler} waits with ${record}: ${reason}` });
  return { kind: "waiting", until: waitUntil(services, scope, { record, handler }) };
}

function threw(services: HookServices, scope: HookScope, thrown: Calling & { error: unknown }): CallOutcome {
  const { call, handler, attempts, error } = thrown;
  const { record, sync } = call;
  const reason = describeThrown(error);
  const what = error instanceof WrongReturn ? "returned what it must not" : "threw";
  if (services.stopSignal.aborted) return brokenOff(scope, thrown);
  if (passesByItself(error) && isRetried(call)) return putOff(services, scope, thrown);
  const marks = call.marks?.("threw") ?? {};
  const file = error instanceof WrongReturn ? undefined : services.keepStack?.(handler, error);
  const stack = file === undefined ? "" : ` (stack: ${file})`;
  if (!isRetried(call)) {
    scope.bus.settle({ record, handler, outcome: "handled", result: { threw: reason }, marks }, { sync });
    tell(services, scope, { level: "warn", text: `${handler} ${what}: ${reason}${stack}` });
    return { kind: "failed", reason };
  }
  const settled = scope.bus.settle({ record, handler, outcome: "threw", reason, marks }, { sync });
  const when = settled === "dead" ? "" : nextCall(services, scope, { record, handler });
  const count = `attempt ${attempts} of ${scope.bus.limits().maxAttempts}`;
  tell(services, scope, {
    level: "warn",
    text: `${handler} ${what} on ${record} (${count}${when}): ${reason}${stack}`,
  });
  if (settled === "dead") return dead(services, scope, { call, handler, reason });
  return { kind: "waiting", until: waitUntil(services, scope, { record, handler }) };
}

/** Put off, and a dead letter at last; else the record's round is over for this hook. */
function isRetried({ point }: HookCall): boolean {
  return THROW_EFFECTS[point] === "retried";
}

function nextCall(services: HookServices, scope: HookScope, on: { record: string; handler: string }): string {
  const seconds = Math.ceil((waitUntil(services, scope, on) - services.clock.now()) / 1000);
  return `, next in ${seconds} s`;
}

/** Settled, dead, or dead by now: it was called too often and never came back. */
function notAllowed(services: HookServices, scope: HookScope, call: HookCall): CallOutcome {
  const handler = hookHandler(call.point, call.plugin.name);
  if (scope.bus.handlerStatus(call.record, handler) !== "dead")
    return { kind: "settled", answer: { outcome: "passed" } };
  const letter = scope.bus.deadLetters().find((one) => one.record === call.record && one.handler === handler);
  return dead(services, scope, { call, handler, reason: letter?.reason ?? "it is a dead letter" });
}

function dead(
  services: HookServices,
  scope: HookScope,
  about: { call: HookCall; handler: string; reason: string },
): CallOutcome {
  const { call, handler, reason } = about;
  const again = isRetried(call) ? ` \`prloom retry ${call.record}\` tries it again.` : "";
  tell(services, scope, { level: "bad", text: `${handler} gave up on ${call.record}: ${sentence(reason)}${again}` });
  return { kind: "dead", reason };
}

function tell(services: HookServices, { planId }: HookScope, report: { level: "warn" | "bad"; text: string }): void {
  services.report({ ...scopeOf(planId), ...report });
}

/** Whether something is to be awaited. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  return "then" in value && typeof value.then === "function";
}
