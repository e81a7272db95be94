import { scopeOf } from "../../bus/types.ts";
import { messageOf } from "../../kernel/errors.ts";
import type { PlanRecord } from "../../plan/record.ts";
import { refuseUnknown } from "../commands/bus.ts";
import { hasBus } from "../paths.ts";
import type { PollReport } from "./bridging.ts";
import { type BusesAtWork, BusLoop } from "./bus-loop.ts";

/** A global plugin that takes longer must not keep the plans from their events. */
const HEAD_START_MS = 2000;

export interface BusLoopsHooks {
  /** Look at this plan again: something on its bus was settled. */
  onPlan(planId: string): void;
  onQuiet(): void;
}

/** The buses at work: the global one first, then those of the plans, each in its own loop. */
export class BusLoops {
  readonly #loom: BusesAtWork;
  readonly #hooks: BusLoopsHooks;
  readonly #global: BusLoop;
  readonly #plans = new Map<string, BusLoop>();

  constructor(loom: BusesAtWork, hooks: BusLoopsHooks) {
    this.#loom = loom;
    this.#hooks = hooks;
    this.#global = new BusLoop({ loom, first: async () => undefined, onPass: hooks.onQuiet, onIdle: hooks.onQuiet });
    this.#global.pollWith(loom.extensions.globalBridges);
  }

  /** There may be something new on the global bus, or on a plan's. */
  wake(planId?: string): void {
    if (planId !== undefined && this.#loom.stalls.isHeld(planId)) return;
    try {
      if (planId === undefined) this.#global.wake();
      else if (this.#plans.has(planId) || hasBus(this.#loom, planId)) this.#loopOf(planId).wake();
    } catch (error) {
      // A bus that cannot be opened is its plan's trouble; the plan itself stops at it, and says so.
      this.#loom.report({ ...scopeOf(planId), level: "bad", text: `its bus cannot be opened: ${messageOf(error)}` });
    }
  }

  /** Brings the polls of a plan in line with its state: bridges of plans are asked while it has a worktree. */
  follow(record: PlanRecord): void {
    const isOpen = record.worktreeReady && !record.deleted && record.status !== "done";
    const bridges = isOpen ? this.#loom.extensions.bridgesOf(record) : [];
    if (!isOpen) this.#loom.stores.release(record.id);
    if (bridges.length > 0 || this.#plans.has(record.id)) this.#loopOf(record.id).pollWith(bridges);
  }

  /** An upsert that waited for its plan to be free is tried now; false when it is not written down as waiting yet. */
  hurry(actionId: string): boolean {
    const answers = [this.#global, ...this.#plans.values()].map((loop) => loop.hurry(actionId));
    return answers.includes(true) || !answers.includes(false);
  }

  /** Polls now; an unknown bridge is an error that lists those there are. */
  async poll(bridge: string | undefined): Promise<PollReport[]> {
    refuseUnknown(this.#loom, bridge);
    const loops = [this.#global, ...this.#plans.values()];
    return (await Promise.all(loops.map((loop) => loop.poll(bridge)))).flat();
  }

  idle(horizon: number): boolean {
    return [this.#global, ...this.#plans.values()].every((loop) => loop.idle(horizon));
  }

  async settled(): Promise<void> {
    await Promise.all([this.#global, ...this.#plans.values()].map((loop) => loop.settled()));
  }

  async planSettled(planId: string): Promise<void> {
    await this.#plans.get(planId)?.settled();
  }

  stop(): void {
    for (const loop of [this.#global, ...this.#plans.values()]) loop.stop();
  }

  #loopOf(planId: string): BusLoop {
    const known = this.#plans.get(planId);
    if (known) return known;
    const loop = new BusLoop({
      loom: this.#loom,
      planId,
      first: () => this.globalFirst(),
      onPass: () => {
        this.#hooks.onPlan(planId);
        this.#hooks.onQuiet();
      },
      onIdle: () => this.#hooks.onQuiet(),
    });
    this.#plans.set(planId, loop);
    return loop;
  }

  /** Resolves when the global events of this moment are through, or have had their head start. */
  async globalFirst(): Promise<void> {
    const headStart = Promise.withResolvers<void>();
    const timer = setTimeout(headStart.resolve, HEAD_START_MS);
    await Promise.race([this.#global.passed(), headStart.promise]);
    clearTimeout(timer);
  }
}
