import { existsSync } from "node:fs";
import { join } from "node:path";
import { readExit } from "../../agents/runner/run-exit.ts";
import type { Bus } from "../../bus/bus.ts";
import type { BusEvent } from "../../bus/types.ts";
import { readTip } from "../../git/refs.ts";
import { worktreeHealth } from "../../git/worktree/worktrees.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Buses } from "../buses/buses.ts";
import type { Timing } from "../capabilities.ts";
import { doorsAt, isAsked } from "../gates/doors.ts";
import type { Gated } from "../gates/gate-store.ts";
import { gateOf, untoldGate, waitingGate } from "../gates/plan-gate.ts";
import { awaitsChange, postingOf } from "../gates/posting.ts";
import type { PlanText } from "../intake/plan-texts.ts";
import { hasBus, homeOf, type Located, worktreeOf } from "../paths.ts";
import { planText, type Records } from "../records.ts";
import type { Pooled } from "../runs/agent-pool.ts";
import { NOTHING_SPENT, nextDay, overBudget } from "../runs/availability.ts";
import type { AtWork } from "../runs/occupancy.ts";
import { awaitedRun, stageOf } from "../runs/run-record.ts";
import type { Configured } from "../settings/pinned.ts";
import { planConfig } from "../settings/plan-config.ts";
import { standingOf } from "../stacking/lower-plan.ts";
import type { Watched } from "../watchdog/stalls.ts";
import { dependencies } from "./dependencies.ts";
import { isReviewed } from "./is-reviewed.ts";
import type { AgentView, PlanView, RunState } from "./step.ts";

/** What is looked at to decide about a plan. */
export type Observing = Located & Configured & Records & Gated & Buses & Pooled & AtWork & Watched;

/** What the scheduler knows and no file says. */
export interface Surroundings {
  readonly slots: { agent: boolean; open: boolean };
  readonly retryAt?: number;
  /** Given when it is known without opening the bus. */
  readonly bus?: PlanView["bus"];
}

/** Gathers what `decide` needs about one plan; opens only what changed. */
export function observe(loom: Observing, record: PlanRecord, around: Surroundings): PlanView {
  const text = planText(loom, record);
  const config = planConfig(loom, record);
  const within = loom.occupancy.whoIsIn(record.id);
  const head = config.ok && isReviewed(config.config.review, "end", record) ? headOf(loom, record) : undefined;
  return {
    record,
    // Where people approve, what a designer makes up without a word of theirs is not shown to them as their plan.
    doc: text && config.ok && config.config.gated && !/\S/.test(text.text) ? undefined : text?.doc,
    run: runStateOf(loom, record),
    ...(loom.unrecovered.has(record.id) ? { unrecovered: true } : {}),
    config,
    dependencies: record.status === "queued" ? dependencies(loom, record, text) : { kind: "met" },
    worktree: record.worktreeReady ? worktreeHealth(worktreeOf(loom, record)) : "missing",
    hookAgent: within.has("plugin-agent"),
    ...(loom.occupancy.hasWorker(record.id) ? { implementing: true } : {}),
    ...(within.has("merge") ? { merging: true } : {}),
    ...(record.opened ? { opened: loom.occupancy.personIn(record.id) ? "held" : "left" } : {}),
    bus: around.bus ?? busView(loom, record),
    change: record.changeRequest?.state ?? "none",
    ...(isBehind(loom, record) ? { behind: true } : {}),
    ...(head === undefined ? {} : { head }),
    slots: around.slots,
    agent: agentView(loom, record, config),
    ...gateView(loom, record, text, config),
    cleanAfterMs: loom.config.cleanAfterMs,
    ...(around.retryAt === undefined ? {} : { retryAt: around.retryAt }),
  };
}

/** Commits of a person that are on the server come first. */
function isBehind({ config, store }: Configured & Records, record: PlanRecord): boolean {
  const { behind, published, stack } = record;
  if (published?.theirs !== undefined) return false;
  if (stack && standingOf(record, store.get(stack.on)).kind !== "stands") return true;
  if (behind?.why === "stack") return true;
  // A merge queue brings both together itself, and takes no push.
  return behind !== undefined && published?.queued === undefined && config.github?.update !== "off";
}

function gateView(
  loom: Located & Gated & Configured & Buses,
  record: PlanRecord,
  text: PlanText | undefined,
  wished: PlanView["config"],
) {
  const config = wished.ok ? wished.config : { gated: false, prGated: false };
  const isWithdrawn = gateOf(loom, record)?.state === "withdrawn" && isAsked(loom, record, "plan");
  const untold = untoldGate(loom, record);
  // Of the one that the plan waits at alone: a change that is shown may be older than an edit of the plan.
  const waiting = waitingGate(loom, record);
  const posting = waiting && postingOf(loom, record, waiting);
  const isUntold = untold !== undefined && !awaitsChange(loom, record, untold);
  return {
    ...doorsAt(loom, record, { text, config }),
    ...(isWithdrawn ? { withdrawn: true as const } : {}),
    ...(isUntold ? { untold: true as const } : {}),
    ...(posting ? { posting } : {}),
    ...(waiting && !isAsked(loom, record, waiting.kind) ? { unasked: true as const } : {}),
    remindAfterMs: loom.config.gates.remindAfterMs,
  };
}

/** Only a plan that waits for a run is asked what it would cost. */
function agentView(loom: Timing & Pooled, record: PlanRecord, config: PlanView["config"]): AgentView {
  if (!config.ok || awaitedRun(record) === undefined) return { kind: "free" };
  const { limits, agents } = config.config;
  const spent = overBudget(record.spent ?? NOTHING_SPENT, limits.budget);
  if (spent !== undefined) return { kind: "budget-spent", reason: spent };
  const today = overBudget(loom.pool.today(), limits.dailyBudget);
  if (today !== undefined)
    return { kind: "away", why: `${today} today (limits.dailyBudget)`, until: nextDay(loom.clock.now()) };
  const choice = loom.pool.choose(agents[stageOf(record)], record.id);
  return choice.kind === "free" ? { kind: "free" } : choice;
}

function headOf(loom: Located, { branch, worktreeReady }: PlanRecord): string | undefined {
  const tip = branch !== undefined && worktreeReady ? readTip(loom.paths.commonDir, branch) : undefined;
  return tip === "absent" ? undefined : tip;
}

/** How the run that the record waits for ended, if it did. */
export function runStateOf(loom: Located & AtWork, record: PlanRecord): RunState {
  const number = awaitedRun(record);
  if (loom.occupancy.agentIn(record.id)) return "live";
  if (number === undefined) return "none";
  const runDir = homeOf(loom.paths, record.id).run(number);
  if (readExit(runDir)) return "ended";
  return existsSync(join(runDir, "request.json")) ? "interrupted" : "none";
}

function busView(loom: Located & Configured & Buses, record: PlanRecord): PlanView["bus"] {
  if (!existsSync(homeOf(loom.paths, record.id).bus)) return { fresh: 0, pending: [] };
  const bus = loom.bus(record.id);
  const pending = bus.pendingTriage();
  return {
    fresh: bus.newEvents(1).length,
    pending: pending.map((event) => event.id),
    ...gathering(loom, bus, pending),
  };
}

const REVIEWING: ReadonlySet<string> = new Set(["review", "review_comment"]);

/** A review comes in many comments: so long after the first of them they are triaged together. */
function gathering(
  { config }: Configured,
  bus: Pick<Bus, "cameInAt">,
  pending: readonly BusEvent[],
): { readonly gatherUntil?: number } {
  const times = pending.filter(({ type }) => REVIEWING.has(type)).flatMap(({ id }) => bus.cameInAt(id) ?? []);
  return times.length === 0 ? {} : { gatherUntil: Math.min(...times) + config.bus.gatherReviewsMs };
}

/** Events that were not looked at yet, and those that wait for triage. */
export function unansweredComments(loom: Located & Buses, id: string): number {
  if (!existsSync(homeOf(loom.paths, id).bus)) return 0;
  const bus = loom.bus(id);
  return bus.newEvents(UNANSWERED_LIMIT).length + bus.pendingTriage().length;
}

/** Words that a plugin put off: they are not answered, and would not be after a merge. */
export function deferredComments(loom: Located & Buses, id: string): number {
  return hasBus(loom, id) ? loom.bus(id).deferredSummary("event").count : 0;
}

const UNANSWERED_LIMIT = 100;
