import { triggered } from "../../bridges/triggers.ts";
import type { Bus } from "../../bus/bus.ts";
import { eventAuthor } from "../../bus/event-author.ts";
import type { Marks } from "../../bus/marks.ts";
import { actionId, DISPATCHER, PASS_OVER, TRIAGE, TRIGGERS } from "../../bus/names.ts";
import { type Action, type BusEvent, scopeOf } from "../../bus/types.ts";
import { hookHandler, pluginOf } from "../../hooks/calls/call.ts";
import type { LoadedPlugin } from "../../hooks/modules/load-plugins.ts";
import { offerEvent } from "../../hooks/offer-event.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { takeTurns } from "../../kernel/turns.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Reporting, Stopping, Waking } from "../capabilities.ts";
import { checkSignature } from "../gates/check-signature.ts";
import type { Gated } from "../gates/gate-store.ts";
import { postsFor } from "../gates/hear-answer.ts";
import type { Located } from "../paths.ts";
import { type OfferedEvent, takeEvent } from "../perform/take-event.ts";
import type { Records } from "../records.ts";
import type { AtWork } from "../runs/occupancy.ts";
import type { Configured } from "../settings/pinned.ts";
import type { Buses } from "./buses.ts";
import { type Extended, withHook } from "./extensions.ts";
import { hookScope } from "./hook-scope.ts";

const BATCH = 100;

/** Plugins that were taken out of the config while events waited for them: no plugin would ask for those before their time. */
export function dropAbsent(bus: Bus, point: "onEvent" | "onGlobalEvent", plugins: readonly LoadedPlugin[]): void {
  const handlers = new Set(plugins.map(({ name }) => hookHandler(point, name)));
  for (const { record, handler, about } of bus.deferredList(Number.MAX_SAFE_INTEGER)) {
    if (about !== "event" || pluginOf(handler, point) === undefined || handlers.has(handler)) continue;
    const reason = "it is no longer configured";
    bus.settle({ record, handler, outcome: "passed", reason, marks: { about } }, { sync: false });
  }
}

type Taking = Located & Configured & Records & Gated & Buses & AtWork & Reporting & Stopping & Waking;

/** New events of a plan: its plugins first, then prloom itself. Returns when there is none left, or when it is to stop. */
export async function handlePlanEvents(loom: Taking & Extended, planId: string): Promise<void> {
  const bus = loom.bus(planId);
  for (let batch = bus.newEvents(BATCH); batch.length > 0; batch = bus.newEvents(BATCH)) {
    for (const { event } of batch) {
      // One poll can bring thousands, and what becomes of each is written down.
      await takeTurns();
      // Plugins may take long: what the plan is now counts, not what it was when the batch was read.
      const record = loom.store.byId(planId);
      if (!record || loom.stopping) return;
      if (record.deleted) {
        dropStrangers(bus, event.id, new Set());
        passOver(bus, [event.id], { closed: true });
        continue;
      }
      const plugins = withHook(loom.extensions.pluginsOf(record), "onEvent");
      dropStrangers(bus, event.id, new Set(plugins.map(({ name }) => hookHandler("onEvent", name)).concat(DISPATCHER)));
      const scope = hookScope(loom, record);
      const offered = await offerEvent(loom.hookServices, scope, {
        plugins,
        event,
        moveCursor: false,
        onSlowCallEnd: () => loom.wakeBus(planId),
      });
      if (loom.stopping) return;
      crashPoint("events:offered");
      if (offered.waiting || bus.handlerStatus(event.id, DISPATCHER) !== "ready") passOver(bus, [event.id]);
      else await take(loom, record, { event, ...(offered.handledBy === undefined ? {} : { by: offered.handledBy }) });
      if (loom.stopping) return;
    }
    // What was ignored is listed there, and is not looked at again.
    loom.store.sync();
    commit(loom, bus, planId);
  }
}

/** A signature is checked by another program, and what it may answer is read again; the plan may have changed meanwhile. */
async function take(loom: Taking & Extended, record: PlanRecord, offered: OfferedEvent): Promise<void> {
  const { event, by } = offered;
  const signature = await checkSignature(loom, record, event);
  const read = by === undefined ? await postsFor(loom, record, { event, signature }) : undefined;
  const now = loom.store.byId(record.id);
  // What is not taken comes again with the next start.
  if (now && !now.deleted && !loom.stopping) takeEvent(loom, now, { ...offered, signature, read });
}

/** New events of the repository: triggers and global plugins. What none of them wants has no other consequence. */
export async function handleGlobalEvents(
  loom: Configured & Records & Buses & Extended & Stopping & Waking,
): Promise<void> {
  const bus = loom.globalBus();
  const plugins = withHook(loom.extensions.globalPlugins, "onGlobalEvent");
  const handlers = new Set(plugins.map(({ name }) => hookHandler("onGlobalEvent", name)).concat(TRIGGERS));
  for (let batch = bus.newEvents(BATCH); batch.length > 0; batch = bus.newEvents(BATCH)) {
    const untouched: string[] = [];
    for (const { event } of batch) {
      await takeTurns();
      if (loom.stopping) return;
      dropStrangers(bus, event.id, handlers);
      const isTriggered = pullTriggers(loom, bus, event);
      const offered = await offerEvent(
        loom.hookServices,
        { bus },
        {
          plugins,
          event,
          moveCursor: true,
          onSlowCallEnd: () => loom.wakeBus(),
        },
      );
      if (offered.called) continue;
      if (offered.waiting || isTriggered) passOver(bus, [event.id], offered.waiting ? {} : { closed: true });
      else untouched.push(event.id);
    }
    passOver(bus, untouched, { closed: true });
    // A power loss that takes back that no plugin wanted them makes them be offered again, to the same end.
    if (untouched.length < batch.length) commit(loom, bus);
  }
}

/** One settlement for many records: the cursor gets past what needs no other word. */
function passOver(bus: Bus, ids: readonly string[], more: { closed?: true } = {}): void {
  const [record, ...also] = ids;
  if (record === undefined) return;
  const marks: Marks = { moveCursor: true, about: "event", ...more };
  bus.settle(
    { record, handler: PASS_OVER, outcome: "passed", marks, ...(also.length > 0 ? { also } : {}) },
    { sync: false },
  );
}

/** A plugin that was taken out of the config must not keep its events waiting forever. */
function dropStrangers(bus: Bus, id: string, handlers: ReadonlySet<string>): void {
  for (const handler of bus.waitingHandlers(id)) {
    if (handlers.has(handler) || handler === TRIAGE) continue;
    const reason = "it is no longer configured";
    bus.settle({ record: id, handler, outcome: "passed", reason, marks: { about: "event" } }, { sync: false });
  }
}

function commit(loom: Extended, bus: Bus, planId?: string): void {
  bus.sync();
  crashPoint("events:synced");
  loom.stores.flush({ sync: false, ...scopeOf(planId) });
}

/** `triggers` in the config: intake without code. */
function pullTriggers(loom: Configured & Records, bus: Bus, event: BusEvent): boolean {
  const wanted = triggered(loom.config.triggers, event, (source) => {
    const record = loom.store.bySource(source);
    if (!record || record.deleted) return undefined;
    return record.status === "done" ? "done" : "open";
  });
  if (wanted.length === 0 || bus.handlerStatus(event.id, TRIGGERS) !== "ready") return false;
  const author = eventAuthor(event);
  const actions = wanted.map(
    (action, ordinal): Action => ({
      ...action,
      id: actionId({ scope: {}, recordId: event.id, handler: TRIGGERS, ordinal }),
      type: "respond",
      relatedEventId: event.id,
      ...(author === undefined ? {} : { author }),
    }),
  );
  bus.settle({ record: event.id, handler: TRIGGERS, outcome: "handled", actions }, { sync: false });
  return true;
}
