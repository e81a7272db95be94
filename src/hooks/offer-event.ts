import { eventAuthor } from "../bus/event-author.ts";
import type { Marks } from "../bus/marks.ts";
import type { BusEvent } from "../bus/types.ts";
import { type CallOutcome, callHook, type HookAnswer, hookHandler, isThenable } from "./calls/call.ts";
import { SLOW_CALLS, type SlowCalls } from "./calls/handler-queue.ts";
import { misuse, showValue } from "./calls/misuse.ts";
import { goOnWithout, inOwnTick, isOverWithin, type SlowCallState, SOON_MS, waitForCall } from "./calls/slow-call.ts";
import { shortReason } from "./calls/thrown.ts";
import {
  type CallTools,
  type EventMembers,
  eventContext,
  globalEventContext,
  logOf,
  pluginEvent,
} from "./contexts/context.ts";
import type { LoadedPlugin } from "./modules/load-plugins.ts";
import type { HookScope, HookServices } from "./services.ts";

/** How long the others wait for a plugin. */
const PATIENCE_MS = 2000;

export interface OfferOptions {
  /** In the order in which they are called. */
  readonly plugins: readonly LoadedPlugin[];
  readonly event: BusEvent;
  /**
   * True: nothing comes after the plugins, so the last settlement moves the cursor and, when no plugin waits, closes the
   * record.
   */
  readonly moveCursor: boolean;
  /** How long the others wait for a plugin. 2 s */
  readonly patienceMs?: number;
  /** Where calls that take longer are kept. */
  readonly slowCalls?: SlowCalls;
  /** Such a call is over: there may be something new on the bus. */
  onSlowCallEnd?(): void;
}

export interface OfferOutcome {
  /** False: no settlement was made that ends the offer; the caller settles the record itself. */
  readonly called: boolean;
  /** The first plugin that marked the event handled, now or earlier. */
  readonly handledBy?: string;
  /** A plugin put it off or threw, and will be called again, or is still at work on it. */
  readonly waiting: boolean;
}

/**
 * Offers an event to the event hook of each plugin that has not settled it, also when one handled it. A plugin that takes
 * long is left at work, and the others go on. Settlements are not synced: the caller does that once for many.
 */
export async function offerEvent(
  services: HookServices,
  scope: HookScope,
  options: OfferOptions,
): Promise<OfferOutcome> {
  const { bus } = scope;
  const { event } = options;
  const point = scope.planId === undefined ? "onGlobalEvent" : "onEvent";
  const plugins = options.plugins.filter(({ hooks }) => hooks[point] !== undefined);
  const handlerOf = (plugin: LoadedPlugin): string => hookHandler(point, plugin.name);
  const handled = new Set<LoadedPlugin>();
  const note = (): void => {
    const results = bus.results(event.id);
    for (const plugin of plugins) if (isHandled(results.get(handlerOf(plugin)))) handled.add(plugin);
  };
  const now = (waiting: boolean) => {
    note();
    const by = plugins.find((plugin) => handled.has(plugin));
    return { waiting, ...(by === undefined ? {} : { handledBy: by.name }) };
  };
  // A call that took long may be settled at any moment: what the bus says now counts.
  const isWaitedFor = (except?: LoadedPlugin): boolean =>
    plugins.some((plugin) => plugin !== except && bus.waitOf(event.id, handlerOf(plugin)) !== undefined);
  const ready = plugins.filter((plugin) => bus.handlerStatus(event.id, handlerOf(plugin)) === "ready");
  note();
  let called = false;
  for (const plugin of ready) {
    const isLast = plugin === ready.at(-1);
    const ending = options.moveCursor && isLast;
    const marks = (answer: HookAnswer | "threw") => {
      // The settlement that these are for may close the record, and who handled it is forgotten then.
      note();
      return marksOf(answer, ending, ending && isWaitedFor(plugin));
    };
    const outcome = await offerTo(services, scope, { plugin, handler: handlerOf(plugin), options, marks });
    // What was not offered yet is offered at the next start.
    if (outcome.kind === "stopped") return { called: true, ...now(true) };
    if (outcome.kind === "settled" && outcome.answer.outcome === "handled") handled.add(plugin);
    called = isLast && outcome.kind !== "dead";
  }
  return { called, ...now(isWaitedFor()) };
}

function isHandled(result: unknown): boolean {
  return typeof result === "object" && result !== null && "handled" in result && result.handled === true;
}

function marksOf(answer: HookAnswer | "threw", ending: boolean, waiting: boolean): Marks {
  if (!ending) return {};
  const isFinal = answer !== "threw" && answer.outcome !== "deferred";
  return { moveCursor: true, ...(isFinal && !waiting ? { closed: true } : {}) };
}

interface EventOffer {
  readonly plugin: LoadedPlugin;
  readonly handler: string;
  readonly options: OfferOptions;
  marks(answer: HookAnswer | "threw"): Marks;
}

/** The record waits for a plugin, whose call is under way or comes later. */
const LEFT = { kind: "left" } as const;

/** Calls a plugin, if it is free; when it is not, or takes long, the record is made to wait for it. */
async function offerTo(
  services: HookServices,
  scope: HookScope,
  offer: EventOffer,
): Promise<CallOutcome | typeof LEFT> {
  const { handler, options } = offer;
  const record = options.event.id;
  const queue = (options.slowCalls ?? SLOW_CALLS).queue(scope.bus, handler);
  const isWaiting = (id: string): boolean => scope.bus.waitOf(id, handler) !== undefined;
  const place = queue.placeOf(record, isWaiting);
  const marks = offer.marks("threw");
  if (place === "in-call") waitForCall(services, scope, { record, handler, marks });
  else if (place !== "call") {
    const reason = "is busy with another event";
    const why: Marks = { ...marks, wait: "in-line" };
    const next = place === "behind" ? queue.first(isWaiting) : undefined;
    const until = next === undefined ? undefined : scope.bus.waitOf(next, handler)?.until;
    const when = until === undefined ? {} : { until: Math.max(until, services.clock.now() + SOON_MS) };
    scope.bus.settle({ record, handler, outcome: "deferred", reason, ...when, marks: why }, { sync: false });
  }
  if (place !== "call") return LEFT;
  const state: SlowCallState = { isLeftBehind: false, isGivenUp: false };
  const call = callWith(services, scope, offer, state);
  // One that the end of the dispatcher breaks off does not take long.
  if ((await isOverWithin(call, options.patienceMs ?? PATIENCE_MS)) || services.stopSignal.aborted) return call;
  const { onSlowCallEnd } = options;
  goOnWithout(services, scope, {
    record,
    handler,
    call,
    state,
    queue,
    marks: offer.marks("threw"),
    ...(onSlowCallEnd && { onSlowCallEnd }),
  });
  return LEFT;
}

function callWith(
  services: HookServices,
  scope: HookScope,
  offer: EventOffer,
  state: SlowCallState,
): Promise<CallOutcome> {
  const { planId } = scope;
  const { plugin } = offer;
  const { event } = offer.options;
  return callHook(services, scope, {
    plugin,
    point: planId === undefined ? "onGlobalEvent" : "onEvent",
    record: event.id,
    cause: { relatedEventId: event.id, author: eventAuthor(event) },
    sync: false,
    // The cursor went on when it was left at work; the bus offers the record once more when the last one is through.
    marks: (answer) => (state.isLeftBehind ? {} : offer.marks(answer)),
    isGivenUp: () => state.isGivenUp,
    run(tools) {
      const { members, answer } = eventMembers(tools, event);
      const copy = pluginEvent(event);
      const invoke = () => {
        const returned: unknown =
          planId === undefined
            ? plugin.hooks.onGlobalEvent?.(copy, globalEventContext(tools, members))
            : plugin.hooks.onEvent?.(copy, eventContext(tools, planId, members));
        return isThenable(returned) ? inOwnTick(returned, state) : returned;
      };
      return { invoke, judge: answer };
    },
  });
}

/** The last mark counts. What a hook returns says nothing: events do not change plans. */
function eventMembers(tools: CallTools, event: BusEvent): { members: EventMembers; answer: () => HookAnswer } {
  const { services, life } = tools;
  let answer: HookAnswer = { outcome: "passed" };
  const check = (member: string, given: unknown): void => {
    if (given === event.id) return;
    throw misuse(`${member}: the event of this call is "${event.id}", not ${showValue(given)}.`, "Leave the id out.");
  };
  const members: EventMembers = {
    markEventHandled(given = event.id) {
      life.require("markEventHandled");
      check("markEventHandled", given);
      answer = { outcome: "handled", result: { handled: true } };
    },
    markEventDeferred(...given: unknown[]) {
      life.require("markEventDeferred");
      if (hasId(given, event)) check("markEventDeferred", given.shift());
      const [reason, retryMs] = given;
      const delay = retryMs === undefined ? undefined : Math.max(checkDelay(retryMs), soonest(tools, event));
      const until = delay === undefined ? {} : { until: services.clock.now() + delay };
      answer = {
        outcome: "deferred",
        ...(reason === undefined ? {} : { reason: shortReason(String(reason)) }),
        ...until,
      };
    },
    reply(message, options = {}) {
      const target = event.replyTo;
      if (target) return tools.emit("reply", { target, payload: { type: "comment", message, key: options.key } });
      life.require("reply");
      logOf(tools).info(`${event.id} has no replyTo, so nothing was replied to it`);
      return undefined;
    },
  };
  return { members, answer: () => answer };
}

/** For so long a plugin may put an event off for as short as it likes. */
const QUICK_MS = 10_000;

/** One that asks for milliseconds without end most likely means seconds: each of its rounds is written to the disk. */
function soonest({ services, scope, plugin, point }: CallTools, { id }: BusEvent): number {
  const since = scope.bus.waitOf(id, hookHandler(point, plugin))?.since ?? Number.POSITIVE_INFINITY;
  return services.clock.now() - since > QUICK_MS ? scope.bus.limits().retryMinMs : 0;
}

/** Whether the first argument is meant as an id: it is this event's, or what follows is not what follows a reason. */
function hasId([first, second, ...more]: readonly unknown[], { id }: BusEvent): boolean {
  return first === id || typeof second === "string" || more.length > 0;
}

function checkDelay(retryMs: unknown): number {
  if (typeof retryMs === "number" && Number.isFinite(retryMs) && retryMs >= 0) return retryMs;
  throw misuse(
    "markEventDeferred: retryMs must be a number of milliseconds.",
    "Write 60_000 for a minute, or leave it out.",
  );
}
