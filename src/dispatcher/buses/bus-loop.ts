import type { LoadedBridge } from "../../bridges/load.ts";
import { Outbox } from "../../bridges/outbox/outbox.ts";
import type { Bus } from "../../bus/bus.ts";
import { retryDelay } from "../../bus/limits.ts";
import { CORE_TARGET } from "../../bus/names.ts";
import { scopeOf } from "../../bus/types.ts";
import { SLOW_CALLS } from "../../hooks/calls/handler-queue.ts";
import { makeInterruptedDue, makeSetBackDue } from "../../hooks/calls/slow-call.ts";
import type { LoadedPlugin } from "../../hooks/modules/load-plugins.ts";
import { messageOf } from "../../kernel/errors.ts";
import { Loop } from "../../kernel/loop.ts";
import type { Naming, Publishing, Reporting, Stopping, Waking } from "../capabilities.ts";
import type { Gated } from "../gates/gate-store.ts";
import type { Intake } from "../intake/intake.ts";
import type { Located } from "../paths.ts";
import type { Records } from "../records.ts";
import type { AtWork } from "../runs/occupancy.ts";
import type { Configured } from "../settings/pinned.ts";
import type { Watched } from "../watchdog/stalls.ts";
import type { Bridging, PollReport } from "./bridging.ts";
import type { Buses } from "./buses.ts";
import type { Extended } from "./extensions.ts";
import { dropAbsent, handleGlobalEvents, handlePlanEvents } from "./handle-events.ts";
import { hookScope } from "./hook-scope.ts";
import { createPoller, giveBackAbsent, type Poller } from "./polling.ts";
import { coreBridge, routeOn, upsertsAtOnce } from "./routing.ts";

/** What handling events, delivering actions and polling bridges takes. */
export type BusesAtWork = Located &
  Naming &
  Configured &
  Records &
  Gated &
  Intake &
  Buses &
  Extended &
  Bridging &
  Publishing &
  AtWork &
  Watched &
  Reporting &
  Stopping &
  Waking;

/** A hook that takes its time must not keep from going out what others sent meanwhile. */
const OUTBOX_LOOK_MS = 200;

export interface BusLoopOptions {
  readonly loom: BusesAtWork;
  /** Undefined: the repository's own. */
  readonly planId?: string;
  /** Resolves when the plans may go on with their events: the global ones come first. */
  readonly first: () => Promise<void>;
  /** Something was settled: the plan may have work, the dispatcher may be idle. */
  onPass(): void;
  onIdle(): void;
}

/** The bus of one scope at work: events to hooks, actions to bridges, polls. It never waits for the steps of a plan. */
export class BusLoop {
  readonly #options: BusLoopOptions;
  readonly #loop: Loop;
  readonly #outbox: Outbox;
  readonly #bus: Bus;
  #pollers: Poller[] = [];
  /** The events that were there at the start have been offered. */
  readonly #begun = Promise.withResolvers<void>();
  /** Asked for once by passes that follow each other at once. */
  #first: Promise<void> | undefined;
  #lastPassAt = Number.POSITIVE_INFINITY;

  constructor(options: BusLoopOptions) {
    const { loom, planId } = options;
    this.#options = options;
    this.#bus = planId === undefined ? loom.globalBus() : loom.bus(planId);
    makeInterruptedDue(this.#bus, loom.clock.now());
    dropAbsent(this.#bus, planId === undefined ? "onGlobalEvent" : "onEvent", pluginsOf(loom, planId));
    giveBackAbsent(loom, this.#bus);
    const scope = () => hookScopeNow(loom, planId, this.#bus);
    const core = coreBridge(loom, scope());
    this.#outbox = new Outbox({
      bus: this.#bus,
      scope: scopeOf(planId),
      bridgeFor: (target) =>
        target === CORE_TARGET
          ? { name: CORE_TARGET, kind: "builtin", bridge: core, config: {}, timeoutMs: coreTimeoutMs(loom) }
          : bridgeFor(loom, target, planId),
      circuits: loom.circuits,
      services: loom.bridgeServices,
      route: (action) => routeOn(loom, scope(), action),
      callsAtOnce: (bridge) => (bridge === CORE_TARGET ? upsertsAtOnce(loom) : undefined),
      targets: () => loom.extensions.registry.targets.filter((target) => bridgeFor(loom, target, planId)),
      onSettled: () => {
        for (const plan of loom.upsertsWaiting.keys()) loom.wake(plan);
        options.onPass();
      },
      onIdle: () => options.onIdle(),
    });
    this.#loop = new Loop({
      clock: loom.clock,
      pass: () => loom.watch.about(planId, "handling events", () => this.#pass()),
      // A full disk, a journal that cannot be read: only this scope waits.
      backoffMs: (failures) => retryDelay(failures, loom.bridgeServices.retryLimits()),
      onFailure: (error) =>
        loom.report({ ...scopeOf(planId), level: "bad", text: `handling its events failed: ${messageOf(error)}` }),
      onIdle: () => {
        this.#first = undefined;
        options.onPass();
      },
    });
  }

  /** "There may be something new on this bus." */
  wake(): void {
    if (!this.#options.loom.stopping) this.#loop.hurry();
  }

  /** Which bridges are polled for this scope from now on. */
  pollWith(bridges: readonly LoadedBridge[]): void {
    const polled = bridges.filter(({ bridge }) => bridge.events !== undefined);
    const names = new Set(polled.map(({ name }) => name));
    for (const poller of this.#pollers) if (!names.has(poller.bridge)) poller.stop();
    const kept = this.#pollers.filter(({ bridge }) => names.has(bridge));
    const known = new Set(kept.map(({ bridge }) => bridge));
    const { loom, planId, onPass } = this.#options;
    const fresh = polled.filter(({ name }) => !known.has(name));
    const more = { loom, bus: this.#bus, ready: this.#begun.promise, ...scopeOf(planId) };
    const made = fresh.map((loaded) => createPoller({ ...more, loaded, onNews: () => this.wake(), onQuiet: onPass }));
    this.#pollers = [...kept, ...made];
    if (made.length > 0) this.wake();
  }

  /** Polls the bridges of this scope now, or the one that is named. */
  async poll(bridge: string | undefined): Promise<PollReport[]> {
    const wanted = this.#pollers.filter((poller) => bridge === undefined || poller.bridge === bridge);
    return Promise.all(wanted.map((poller) => poller.poll()));
  }

  /** An action that waits for a plan to be free may be tried now. */
  hurry(actionId: string): boolean | undefined {
    return this.#outbox.hurry(actionId);
  }

  /** Nothing is under way and nothing is due before `horizon`. */
  idle(horizon: number): boolean {
    if (!this.#loop.idle(horizon) || !this.#outbox.idle() || SLOW_CALLS.has(this.#bus)) return false;
    if (!this.#pollers.every((poller) => poller.quiet(horizon))) return false;
    return (this.#outbox.nextAt() ?? Infinity) > horizon;
  }

  /** Resolves when the events of this moment are through. */
  async passed(): Promise<void> {
    await this.#loop.settled();
  }

  async settled(): Promise<void> {
    await this.#loop.settled();
    await SLOW_CALLS.settled(this.#bus);
    await this.#outbox.settled();
  }

  stop(): void {
    this.#loop.stop();
    this.#outbox.stop();
    for (const poller of this.#pollers) poller.stop();
  }

  /** At the first pass, too: it may have been set back since the last process. */
  #lookAtClock(): void {
    const now = this.#options.loom.clock.now();
    if (now < this.#lastPassAt) makeSetBackDue(this.#bus, now);
    this.#lastPassAt = now;
  }

  async #pass(): Promise<number | undefined> {
    const { loom, planId, first } = this.#options;
    const looks = setInterval(() => this.#outbox.wake(), OUTBOX_LOOK_MS);
    try {
      this.#first ??= first();
      await this.#first;
      if (loom.stopping) return undefined;
      this.#lookAtClock();
      if (planId === undefined) await handleGlobalEvents(loom);
      else await handlePlanEvents(loom, planId);
      this.#outbox.wake();
      return this.#bus.nextRetryAt("event");
    } finally {
      clearInterval(looks);
      this.#begun.resolve();
    }
  }
}

function pluginsOf(loom: Records & Extended, planId: string | undefined): readonly LoadedPlugin[] {
  if (planId === undefined) return loom.extensions.globalPlugins;
  const record = loom.store.byId(planId);
  return record ? loom.extensions.pluginsOf(record) : [];
}

/** Its hooks have deadlines of their own, one after another. */
function coreTimeoutMs(loom: Configured & Extended): number {
  return (loom.extensions.globalPlugins.length + 1) * loom.config.bus.hookTimeoutMs;
}

function hookScopeNow(loom: Records & Buses, planId: string | undefined, bus: Bus) {
  const record = planId === undefined ? undefined : loom.store.byId(planId);
  return record ? hookScope(loom, record) : { bus, ...scopeOf(planId) };
}

/** A preset may switch a plan's bridge off; then no bridge has its targets for that plan. */
function bridgeFor(loom: Records & Extended, target: string, planId: string | undefined): LoadedBridge | undefined {
  const found = loom.extensions.registry.byTarget(target);
  if (found?.kind !== "plan" || planId === undefined) return found;
  const record = loom.store.byId(planId);
  return record ? loom.extensions.bridgesOf(record).find(({ name }) => name === found.name) : found;
}
