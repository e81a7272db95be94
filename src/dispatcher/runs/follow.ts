import type { AgentEvent, AgentRun, RunExit, RunLimits } from "../../agents/port.ts";
import { openRunLog } from "../../agents/run-log/run-log.ts";
import { spendingOf } from "../../agents/run-log/run-summary.ts";
import type { PlanConfig, StageAgent } from "../../config/presets.ts";
import type { Reporting } from "../capabilities.ts";
import type { Records } from "../records.ts";
import type { Pooled } from "./agent-pool.ts";
import { NOTHING_SPENT, overBudget, type SpentSum } from "./availability.ts";

export interface Followed {
  readonly planId: string;
  /** Its name in the day's ledger. */
  readonly key: string;
  readonly runDir: string;
  readonly agent: StageAgent;
  readonly limits: PlanConfig["limits"];
  /** Ends the run; it then counts as interrupted. */
  stop(): void;
}

/** Keeps what a run tells, as it comes, and ends one that spends more than it may; `hear` is told every event. */
export async function followAgent(
  loom: Records & Pooled & Reporting,
  stream: AgentRun,
  run: Followed,
  hear: (event: AgentEvent) => void,
): Promise<RunExit | "interrupted"> {
  const log = openRunLog(run.runDir);
  const before = loom.store.byId(run.planId)?.spent ?? NOTHING_SPENT;
  const begun = loom.clock.now();
  let exit: RunExit | "interrupted" = "interrupted";
  let ending: NodeJS.Timeout | undefined;
  try {
    for await (const event of stream) {
      log.add(event, loom.clock.now());
      hear(event);
      if (event.type === "usage") {
        const soFar = { ...spendingOf(log.summary(), run.agent.price), ms: loom.clock.now() - begun };
        loom.pool.spending(run.key, soFar);
        ending ??= endIfSpent(loom, run, plus(before, soFar));
      }
      if (event.type === "done") exit = event.exit;
    }
  } finally {
    clearTimeout(ending);
    log.close();
    if (exit !== "interrupted" && log.summary().trouble === undefined) loom.pool.answered(run.agent.name);
  }
  return exit;
}

function plus(before: SpentSum, more: SpentSum): SpentSum {
  return { tokens: before.tokens + more.tokens, usd: before.usd + more.usd, ms: before.ms + more.ms };
}

/** Some programs tell what they spent as their very last word: such a run ends by itself, and is judged by its work. */
const LAST_WORD_MS = 3000;

function endIfSpent(loom: Pooled & Reporting, run: Followed, spent: SpentSum): NodeJS.Timeout | undefined {
  const ofPlan = overBudget(spent, run.limits.budget);
  const ofDay = overBudget(loom.pool.today(), run.limits.dailyBudget);
  if (ofPlan === undefined && ofDay === undefined) return undefined;
  const problem = ofPlan === undefined ? `${ofDay} today (limits.dailyBudget)` : `${ofPlan} (limits.budget)`;
  return setTimeout(() => {
    loom.report({ planId: run.planId, level: "warn", text: `ending its agent: ${problem}` });
    run.stop();
  }, LAST_WORD_MS);
}

/** What a run may take: its own limits, or what is left of the minutes of the plan and of the day, if that is less. */
export function runLimits(loom: Records & Pooled, planId: string, limits: PlanConfig["limits"]): RunLimits {
  const spent = loom.store.byId(planId)?.spent?.ms ?? 0;
  const left = minutesLeft(limits.budget.minutes, spent);
  const leftToday = minutesLeft(limits.dailyBudget.minutes, loom.pool.today().ms);
  return {
    deadlineMs: Math.max(1000, Math.min(limits.runTimeoutMs, left, leftToday)),
    silenceMs: limits.silenceTimeoutMs,
    maxOutputBytes: limits.maxOutputBytes,
    graceMs: limits.stopGraceMs,
    maxProcesses: limits.maxProcesses,
  };
}

function minutesLeft(minutes: number | undefined, spentMs: number): number {
  return minutes === undefined ? Number.POSITIVE_INFINITY : minutes * 60_000 - spentMs;
}
