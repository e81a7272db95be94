import type { BusEvent } from "../bus/types.ts";
import { type CallOutcome, callHook, handlerName, type Verdict } from "./call.ts";
import { type CallTools, eventContext, globalEventContext, pluginEvent } from "./context.ts";
import type { EventMarks } from "./context-types.ts";
import type { HookHost, HookScope } from "./host.ts";
import type { LoadedPlugin } from "./load.ts";
import { misuse } from "./misuse.ts";

export interface OfferOptions {
  /** In the order in which they are called. */
  readonly plugins: readonly LoadedPlugin[];
  readonly event: BusEvent;
  /**
   * True: nobody comes after the plugins, so the last settlement moves the cursor and, when nobody waits, closes the
   * record.
   */
  readonly moveCursor: boolean;
}

export interface Offered {
  /** False: no settlement was made that ends the offer; the caller settles the record itself. */
  readonly called: boolean;
  /** The first plugin that marked the event handled, now or earlier. */
  readonly handledBy?: string;
  /** A plugin put it off or threw, and will be called again. */
  readonly waiting: boolean;
}

/**
 * Offers an event to the event hook of each plugin that has not settled it, also when one handled it. Settlements are
 * not synced: the caller does that once for many.
 */
export async function offerEvent(host: HookHost, scope: HookScope, options: OfferOptions): Promise<Offered> {
  const { bus } = scope;
  const { event } = options;
  const point = scope.planId === undefined ? "onGlobalEvent" : "onEvent";
  const ready: LoadedPlugin[] = [];
  let handledBy: string | undefined;
  let waiting = false;
  for (const plugin of options.plugins.filter(({ hooks }) => hooks[point] !== undefined)) {
    const handler = handlerName(point, plugin.name);
    const status = bus.handlerStatus(event.id, handler);
    if (status === "ready") ready.push(plugin);
    if (status === "waiting") waiting = true;
    if (status === "settled" && isHandled(bus.results(event.id).get(handler))) handledBy ??= plugin.name;
  }
  let called = false;
  for (const plugin of ready) {
    const isLast = plugin === ready.at(-1);
    const ending = options.moveCursor && isLast;
    const outcome = await offerTo(host, scope, {
      plugin,
      event,
      marks: (verdict) => marksOf(verdict, ending, waiting),
    });
    // What was not offered yet is offered at the next start.
    if (outcome.kind === "stopped")
      return { called: true, waiting: true, ...(handledBy !== undefined && { handledBy }) };
    if (outcome.kind === "waiting") waiting = true;
    if (outcome.kind === "settled" && outcome.verdict.outcome === "handled") handledBy ??= plugin.name;
    called = isLast && outcome.kind !== "dead";
  }
  return { called, waiting, ...(handledBy !== undefined && { handledBy }) };
}

function isHandled(result: unknown): boolean {
  return typeof result === "object" && result !== null && "handled" in result && result.handled === true;
}

function marksOf(verdict: Verdict | "threw", ending: boolean, waiting: boolean): Record<string, unknown> {
  if (!ending) return {};
  const isFinal = verdict !== "threw" && verdict.outcome !== "deferred";
  return { moveCursor: true, ...(isFinal && !waiting ? { closed: true } : {}) };
}

interface Offer {
  readonly plugin: LoadedPlugin;
  readonly event: BusEvent;
  marks(verdict: Verdict | "threw"): Record<string, unknown>;
}

function offerTo(host: HookHost, scope: HookScope, { plugin, event, marks }: Offer): Promise<CallOutcome> {
  const { planId } = scope;
  return callHook(host, scope, {
    plugin,
    point: planId === undefined ? "onGlobalEvent" : "onEvent",
    record: event.id,
    cause: { relatedEventId: event.id, author: event.context?.author },
    onThrow: "retry",
    sync: false,
    marks,
    run(tools) {
      const { marks: members, verdict } = eventMarks(tools, event.id);
      const copy = pluginEvent(event);
      const invoke = () =>
        planId === undefined
          ? plugin.hooks.onGlobalEvent?.(copy, globalEventContext(tools, members))
          : plugin.hooks.onEvent?.(copy, eventContext(tools, planId, members));
      return { invoke, judge: verdict };
    },
  });
}

/** The last mark counts. What a hook returns says nothing: events do not change plans. */
function eventMarks({ host, life }: CallTools, id: string): { marks: EventMarks; verdict: () => Verdict } {
  let verdict: Verdict = { outcome: "passed" };
  const check = (member: string, given: unknown): void => {
    life.require(member);
    if (given !== id)
      throw misuse(`${member}: the event of this call is "${id}", not ${show(given)}.`, "Pass event.id.");
  };
  const marks: EventMarks = {
    markEventHandled(given) {
      check("markEventHandled", given);
      verdict = { outcome: "handled", result: { handled: true } };
    },
    markEventDeferred(given, reason, retryMs) {
      check("markEventDeferred", given);
      const until = retryMs === undefined ? {} : { until: host.clock.now() + checkDelay(retryMs) };
      verdict = { outcome: "deferred", ...(reason === undefined ? {} : { reason: String(reason) }), ...until };
    },
  };
  return { marks, verdict: () => verdict };
}

function checkDelay(retryMs: unknown): number {
  if (typeof retryMs === "number" && Number.isFinite(retryMs) && retryMs >= 0) return retryMs;
  throw misuse(
    "markEventDeferred: retryMs is no number of milliseconds.",
    "Write 60_000 for a minute, or leave it out.",
  );
}

function show(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value.slice(0, 80)) : `a ${typeof value}`;
}
