import type { AgentRun, RunExit } from "../../agents/port.ts";
import { openRunLog } from "../../agents/run-log.ts";
import { spendingOf } from "../../agents/run-summary.ts";
import type { PlanConfig, StageAgent } from "../../config/presets.ts";
import { NOTHING_SPENT, overBudget, type Spent } from "../availability.ts";
import type { Loom } from "../loom.ts";
import { messageReceived } from "../messages.ts";

export interface Followed {
  readonly planId: string;
  readonly run: number;
  readonly runDir: string;
  readonly agent: StageAgent;
  readonly limits: PlanConfig["limits"];
  /** Ends the run; it then counts as interrupted. */
  stop(): void;
}

/** Keeps what a run tells, as it comes, and ends one that spends more than it may. */
export async function follow(loom: Loom, stream: AgentRun, run: Followed): Promise<RunExit | "interrupted"> {
  const log = openRunLog(run.runDir);
  const before = loom.store.byId(run.planId)?.spent ?? NOTHING_SPENT;
  let exit: RunExit | "interrupted" = "interrupted";
  let ending: NodeJS.Timeout | undefined;
  try {
    for await (const event of stream) {
      log.add(event, loom.clock.now());
      if (event.type === "turn") loom.desk.answered(run.agent.name);
      if (event.type === "received") messageReceived(loom, run.planId, event.messageId, run.run);
      if (event.type === "usage" && !ending)
        ending = endIfSpent(loom, run, plus(before, spendingOf(log.summary(), run.agent.price)));
      if (event.type === "done") exit = event.exit;
    }
  } finally {
    clearTimeout(ending);
    log.close();
  }
  return exit;
}

function plus(before: Spent, more: { tokens: number; usd: number }): Spent {
  return { tokens: before.tokens + more.tokens, usd: before.usd + more.usd, ms: before.ms };
}

/** Some programs tell what they spent as their very last word: such a run ends by itself, and is judged by its work. */
const LAST_WORD_MS = 3000;

/** What all plans spent today is counted when runs end; what this one spends is known now. */
function endIfSpent(loom: Loom, run: Followed, spent: Spent): NodeJS.Timeout | undefined {
  const problem = overBudget(spent, run.limits.budget);
  if (problem === undefined) return undefined;
  return setTimeout(() => {
    loom.report({ planId: run.planId, level: "warn", text: `ending its agent: ${problem} (limits.budget)` });
    run.stop();
  }, LAST_WORD_MS);
}
