import { setMaxListeners } from "node:events";
import type { Bus } from "../../bus/bus.ts";
import type { Marks } from "../../bus/marks.ts";
import { scopeOf } from "../../bus/types.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import type { HookScope, HookServices } from "../services.ts";
import type { CallOutcome } from "./call.ts";
import type { HandlerQueue } from "./handler-queue.ts";
import { describeThrown } from "./thrown.ts";

/** By then the settlement of a call that met its deadline is written. */
const AFTER_DEADLINE_MS = 1000;

/** "Now" for a deferral: one whose time has come before it is written would be one without a time. */
export const SOON_MS = 50;

/** Makes due what waits for a call of a process that is gone. To be called before this process makes any call itself. */
export function makeInterruptedDue(bus: Bus, now: number): void {
  for (const { record, handler, about, kind, until } of bus.deferredList(Number.MAX_SAFE_INTEGER)) {
    // A wait without a kind was asked for, or follows a throw: the end of a process does not end it.
    if (about !== "event" || until <= now || kind === undefined) continue;
    const again = { outcome: "deferred", reason: "its call was cut off", until: now + SOON_MS } as const;
    bus.settle({ record, handler, ...again, marks: { about } }, { sync: false });
    // The deferral took the count back, and the call may be what ended the process.
    if (kind === "at-work") bus.attempt(record, handler);
  }
}

/**
 * Makes due what began to wait at a time that has not come yet: the clock was set back, and a wait of seconds would be one of days. What a
 * plugin put off may be offered early then; it can put it off again.
 */
export function makeSetBackDue(bus: Bus, now: number): void {
  for (const { record, handler, about, kind, reason, since, until } of bus.deferredList(Number.MAX_SAFE_INTEGER)) {
    if (since <= now || until <= now + SOON_MS || kind !== undefined) continue;
    bus.settle(
      { record, handler, outcome: "deferred", reason, until: now + SOON_MS, marks: { about } },
      { sync: false },
    );
  }
}

/** The state of a call that takes long; its own settlement looks here. */
export interface SlowCallState {
  /** The others went on without it. */
  isLeftBehind: boolean;
  /** The dispatcher stopped, and the record was put off: whatever comes of the call now is too late. */
  isGivenUp: boolean;
}

export interface SlowCall {
  readonly record: string;
  readonly handler: string;
  readonly call: Promise<CallOutcome>;
  readonly state: SlowCallState;
  readonly queue: HandlerQueue;
  /** Marks for the deferral that lets the others go on. */
  readonly marks: Marks;
  onSlowCallEnd?(): void;
}

/** Whether a call is over within `ms`. */
export async function isOverWithin(call: Promise<unknown>, ms: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), ms);
  const over = (): void => {
    clearTimeout(timer);
    resolve(true);
  };
  call.then(over, over);
  return promise;
}

/** Lets the others go on: the record waits on the disk, so that a kill loses nothing, until the call has settled it. */
export function goOnWithout(services: HookServices, scope: HookScope, slow: SlowCall): void {
  waitForCall(services, scope, slow);
  slow.state.isLeftBehind = true;
  slow.queue.begin(slow.record, follow(services, scope, slow));
}

/** Makes a record wait for the call that is at work on it. */
export function waitForCall(
  services: HookServices,
  { bus }: HookScope,
  { record, handler, marks }: Pick<SlowCall, "record" | "handler" | "marks">,
): void {
  const until = services.clock.now() + services.timeoutMs() + AFTER_DEADLINE_MS;
  const reason = "still at work";
  const why: Marks = { ...marks, wait: "at-work" };
  bus.settle({ record, handler, outcome: "deferred", reason, until, marks: why }, { sync: false });
  crashPoint("hook:put-off");
  // The deferral took the count back, and a call that ends the process has to be counted.
  bus.attempt(record, handler);
}

async function follow(services: HookServices, scope: HookScope, slow: SlowCall): Promise<void> {
  const { record, handler, queue, state } = slow;
  const onStop = (): void => {
    state.isGivenUp = true;
    const reason = "the dispatcher was stopped";
    guarded(services, scope, () =>
      scope.bus.settle({ record, handler, outcome: "deferred", reason, until: services.clock.now() + SOON_MS }),
    );
  };
  // Every call that takes long listens; that is not a leak.
  setMaxListeners(0, services.stopSignal);
  services.stopSignal.addEventListener("abort", onStop, { once: true });
  try {
    await slow.call;
  } catch (error) {
    tell(services, scope, error);
  }
  services.stopSignal.removeEventListener("abort", onStop);
  queue.end();
  if (state.isGivenUp) return;
  guarded(services, scope, () => {
    makeQueuedDue(services, scope, slow);
    scope.bus.sync();
  });
  slow.onSlowCallEnd?.();
}

/** What came meanwhile is due now, in its order. */
function makeQueuedDue(services: HookServices, { bus }: HookScope, { handler, queue }: SlowCall): void {
  for (const record of queue.waiting) {
    const until = services.clock.now() + SOON_MS;
    const wait = bus.waitOf(record, handler);
    if (!wait || wait.until <= until) continue;
    const { reason, kind } = wait;
    const marks = kind === undefined ? {} : { marks: { wait: kind } };
    bus.settle({ record, handler, outcome: "deferred", reason, until, ...marks }, { sync: false });
    crashPoint("hook:hurried");
  }
}

/** A full disk: what was written before stays true, and the waits end by themselves. */
function guarded(services: HookServices, scope: HookScope, work: () => void): void {
  try {
    work();
  } catch (error) {
    tell(services, scope, error);
  }
}

function tell(services: HookServices, { planId }: HookScope, error: unknown): void {
  services.report({ ...scopeOf(planId), level: "bad", text: `handling its events failed: ${describeThrown(error)}` });
}

/**
 * What a hook gives; after a slow call in a tick of its own: between the word of `offerEvent` about a record and what its
 * caller does with it no settlement of a slow call may come.
 */
export async function inOwnTick(returned: PromiseLike<unknown>, state: SlowCallState): Promise<unknown> {
  try {
    return await returned;
  } finally {
    if (state.isLeftBehind) await new Promise((resolve) => setImmediate(resolve));
  }
}
