import { retryDelay } from "../../bus/limits.ts";
import { type ErrorCode, messageOf, PrloomError } from "../../kernel/errors.ts";
import { diskError } from "../../kernel/files.ts";
import { Loop } from "../../kernel/loop.ts";
import { deniedError } from "../../kernel/system/denied.ts";
import { passesByItself, usedUpError } from "../../kernel/system/used-up.ts";
import { takeTurns } from "../../kernel/turns.ts";
import type { PlanRecord } from "../../plan/record.ts";
import { blockPlan } from "../records.ts";
import { StepInterrupted } from "../runs/refuse-start.ts";
import { awaitedRun } from "../runs/run-record.ts";
import type { Watched } from "../watchdog/stalls.ts";
import { decide } from "./decide.ts";
import { observe } from "./observe.ts";
import { type Performing, perform } from "./perform.ts";
import { type Place, Places } from "./places.ts";
import type { PlanView, Step } from "./step.ts";

/** A plan as the scheduler keeps it: nothing here needs to survive, it is all looked up again. */
interface ScheduledPlan {
  readonly id: string;
  readonly loop: Loop;
  failures: number;
  retryAt: number | undefined;
  trouble: string;
  /** The last step and the revision it was made at, and how often in a row. */
  last: string;
  repeats: number;
  why: string;
}

type Doing = Exclude<Step, { kind: "wait" }>;

/** The same step this often without any change is a fault, and must not become a hot loop. */
const MAX_REPEATS = 1000;
/** Steps that fail this often in a row block their plan, unless it is for something that passes by itself. */
const MAX_FAILURES = 5;
/** Trying these again changes nothing. */
const FINAL: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "branch-exists",
  "config-invalid",
  "config-missing",
  "filter-refused",
  "no-commits",
  "plan-invalid",
  "plan-state",
  "sandbox-unavailable",
  "state-unreadable",
  "schema-newer",
  "tree-too-large",
]);
/** After these steps a plan no longer counts as open. */
const GIVES_UP_PLACE: ReadonlySet<Step["kind"]> = new Set<Step["kind"]>(["block", "finish", "end-plan"]);

export interface SchedulerHooks {
  /** A plan is to be looked at, perhaps only after a step that takes long. */
  onWake?(id: string): void;
  /** A plan has come to rest. */
  onQuiet(): void;
  /** A plan is being looked at; false when something has to happen first, and the plan will be woken after it. */
  onLook(record: PlanRecord): boolean;
  /** A step of a plan is over. */
  onStep(id: string): void;
  /** Asked before each step; false when the repository belongs to another process now and everything stops. */
  stillOwner(): boolean;
}

/** Runs the plans side by side: each has its own loop, and no loop waits for another. */
export class Scheduler {
  readonly #loom: Performing & Watched;
  readonly #hooks: SchedulerHooks;
  readonly #plans = new Map<string, ScheduledPlan>();
  /** Plans between "decided to activate" and the record saying so. */
  readonly #activating = new Set<string>();
  readonly #places = new Places({
    isFree: (place) => this.#isFree(place),
    ask: (id) => this.wake(id),
  });

  constructor(loom: Performing & Watched, hooks: SchedulerHooks) {
    this.#loom = loom;
    this.#hooks = hooks;
    loom.pool.onFreed(() => this.#wakeForAgents());
  }

  /** "Look at this plan again." Carries no data, costs nothing if the plan is being looked at already; false: it is not now. */
  wake(id: string): boolean {
    if (this.#loom.stopping || this.#loom.stalls.isHeld(id)) return false;
    this.#hooks.onWake?.(id);
    this.#planOf(id).loop.hurry();
    return true;
  }

  /** An agent of this plan has ended: its place is free. */
  runEnded(id: string): void {
    this.wake(id);
    this.#places.offer("agent");
  }

  /** A plan may have given up its place (paused, blocked, deleted by a person), or wait for something else by now. */
  placesChanged(): void {
    for (const id of this.#places.queue("open")) this.wake(id);
  }

  /** Plans that wait for the end of a limit, which may be weeks away, and has ended before. */
  #wakeForAgents(): void {
    for (const id of [...this.#plans.keys()]) {
      const record = this.#loom.store.byId(id);
      if (record && awaitedRun(record) !== undefined) this.wake(id);
    }
  }

  /** Resolves when no plan is being worked on at this moment. */
  async settled(): Promise<void> {
    for (;;) {
      const looping = [...this.#plans.values()].filter(({ loop }) => !loop.idle());
      if (looping.length === 0) return;
      await Promise.all(looping.map(({ loop }) => loop.settled()));
    }
  }

  /** Resolves when this plan is not being worked on at this moment. */
  async planSettled(id: string): Promise<void> {
    await this.#plans.get(id)?.loop.settled();
  }

  /** Nothing runs and nothing is due before `horizon` (ms since the epoch). */
  idle(horizon: number): boolean {
    if (this.#loom.occupancy.hasAgents()) return false;
    return [...this.#plans.values()].every(({ loop }) => loop.idle(horizon));
  }

  /** Why each plan that waits is waiting. */
  reasons(): ReadonlyMap<string, string> {
    return new Map([...this.#plans.values()].map((plan) => [plan.id, plan.why]));
  }

  /** The same for what no file tells: a place among the agents, the next try of a step. */
  waits(): Record<string, string> {
    const untold = [...this.#plans.values()].filter(({ id, retryAt }) => retryAt || this.#places.isWaiting(id));
    const making = [...this.#activating].map((id): [string, string] => [
      id,
      "its worktree is being made ready (initCommands)",
    ]);
    return Object.fromEntries([...untold.map(({ id, why }): [string, string] => [id, why]), ...making]);
  }

  /** Ends timers; plans are no longer looked at. */
  stop(): void {
    for (const { loop } of this.#plans.values()) loop.stop();
  }

  #planOf(id: string): ScheduledPlan {
    const known = this.#plans.get(id);
    if (known) return known;
    const loop = new Loop({
      clock: this.#loom.clock,
      pass: () => this.#pass(plan),
      // Only when a failure cannot be dealt with: those of steps and looks have their own count.
      backoffMs: (failures) => this.#retryMs(failures),
      onFailure: (error) => this.#tell(id, `looking at it failed: ${messageOf(error)}`),
      onIdle: () => this.#hooks.onQuiet(),
    });
    const nothing = { retryAt: undefined, last: "", trouble: "", why: "" };
    const plan: ScheduledPlan = { id, loop, failures: 0, repeats: 0, ...nothing };
    this.#plans.set(id, plan);
    return plan;
  }

  #isFree(place: Place): boolean {
    const { limits } = this.#loom.config;
    if (place === "agent") return this.#loom.pool.atWork() < limits.maxRunningAgents;
    return this.#openPlans() < limits.maxOpenPlans;
  }

  #freeSlots(record: PlanRecord): PlanView["slots"] {
    // Counting the open plans costs their number, so only a plan that wants to become one asks.
    return { agent: this.#isFree("agent"), open: record.status !== "queued" || this.#isFree("open") };
  }

  /** Plans that hold a place: activated, and neither in review nor standing still because of a person or a fault. */
  #openPlans(): number {
    const { records } = this.#loom.store.list({ status: "active" });
    const open = records.filter((record) => !record.blocked && !record.paused && !record.hidden && !record.deleted);
    return open.length + this.#activating.size;
  }

  async #pass(plan: ScheduledPlan): Promise<number | undefined> {
    // All plans are looked at when work starts, and a new text is read then: hundreds of long ones are not to be read in one go.
    await takeTurns();
    const passing = this.#lookAt(plan);
    // A step that needs a place has taken it by now.
    this.#places.answered(plan.id);
    return passing;
  }

  async #lookAt(plan: ScheduledPlan): Promise<number | undefined> {
    const record = this.#loom.stopping ? undefined : this.#loom.store.byId(plan.id);
    if (!record) return undefined;
    try {
      return await this.#loom.watch.about(plan.id, "looking at it", () => this.#look(plan, record));
    } catch (error) {
      // Whatever it was, it is this plan's: the others go on.
      this.#failed(plan, error, "looking at it");
      return plan.retryAt;
    }
  }

  /**
   * One pass: observe, decide, perform; returns when the next is due. Nothing is awaited before the slot that a step
   * takes is counted.
   */
  async #look(plan: ScheduledPlan, found: PlanRecord): Promise<number | undefined> {
    const loom = this.#loom;
    if (!this.#hooks.onLook(found)) return undefined;
    const record = loom.store.get(found.uid) ?? found;
    const { retryAt } = plan;
    const view = observe(loom, record, { slots: this.#freeSlots(record), ...(retryAt ? { retryAt } : {}) });
    const now = loom.clock.now();
    const step = decide(view, now);
    if (step.kind === "wait") {
      this.#places.waits(plan.id, step.slot);
      plan.why = retryAt && retryAt > now ? `${step.why}: ${plan.trouble}` : step.why;
      loom.rest(plan.id);
      return step.until;
    }
    this.#places.waits(plan.id, undefined);
    this.#countRepeats(plan, `${step.kind} ${record.revision}`);
    if (!this.#hooks.stillOwner()) return undefined;
    await this.#attempt(plan, view, step);
    this.#hooks.onStep(plan.id);
    plan.loop.hurry();
    return undefined;
  }

  #countRepeats(plan: ScheduledPlan, step: string): void {
    plan.repeats = plan.last === step ? plan.repeats + 1 : 0;
    plan.last = step;
    if (plan.repeats < MAX_REPEATS) return;
    plan.repeats = 0;
    throw new Error(`the step "${step}" was made ${MAX_REPEATS} times and changed nothing`);
  }

  async #attempt(plan: ScheduledPlan, view: PlanView, step: Doing): Promise<void> {
    if (step.kind === "activate") this.#activating.add(plan.id);
    // Plugins may ask for an agent, which then has the worktree to itself.
    const leave = step.kind === "call-plugins" ? undefined : this.#loom.occupancy.enter(plan.id, "step");
    try {
      await this.#loom.watch.about(plan.id, step.kind, () => perform(this.#loom, view, step));
      plan.failures = 0;
      plan.retryAt = undefined;
    } catch (error) {
      this.#failed(plan, error, step.kind);
    } finally {
      this.#activating.delete(plan.id);
      leave?.();
      if (GIVES_UP_PLACE.has(step.kind) || this.#loom.store.byId(plan.id)?.blocked) this.#places.offer("open");
    }
  }

  #failed(plan: ScheduledPlan, thrown: unknown, what: string): void {
    // A plan that was deleted under its step has no record to go on with.
    if (thrown instanceof StepInterrupted || this.#loom.store.byId(plan.id)?.deleted) return;
    const error = usedUpError(diskError(deniedError(thrown), `the files of ${plan.id}`), what);
    const known = error instanceof PrloomError ? error : undefined;
    if (known?.code === "revision-conflict") return;
    plan.failures += 1;
    plan.retryAt = this.#loom.clock.now() + this.#retryMs(plan.failures);
    plan.trouble = messageOf(error);
    const text = `${what} failed: ${plan.trouble}`;
    this.#tell(plan.id, text);
    const isFinal = known !== undefined && FINAL.has(known.code);
    if (passesByItself(known) || (!isFinal && plan.failures < MAX_FAILURES)) return;
    this.#block(plan, known, text);
  }

  #block(plan: ScheduledPlan, known: PrloomError | undefined, text: string): void {
    const again = `\`prloom unblock ${plan.id}\``;
    const advice = known?.hint ?? "This looks like a bug in prloom.";
    const hint = advice.includes(again) ? advice : `${advice.replaceAll("<plan>", plan.id)} Then ${again} tries again.`;
    try {
      blockPlan(this.#loom, plan.id, { reason: known ? known.message : text, hint, cause: "step" });
      plan.failures = 0;
      plan.retryAt = undefined;
    } catch (error) {
      this.#tell(plan.id, `could not be blocked: ${messageOf(error)}`);
    }
  }

  #retryMs(failures: number): number {
    const { retryMinMs: minMs, retryMaxMs: maxMs } = this.#loom.config.bus;
    return retryDelay(failures, { minMs, maxMs });
  }

  #tell(planId: string, text: string): void {
    this.#loom.report({ planId, level: "bad", text });
  }
}
