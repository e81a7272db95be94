import { isDeepStrictEqual } from "node:util";
import { hasPolicy } from "../../agents/enclosure-level.ts";
import type { LiveRun } from "../../agents/port.ts";
import type { PlanDoc } from "../../plan/markdown/markdown.ts";
import type { Reporting } from "../capabilities.ts";
import type { AtWork } from "../runs/occupancy.ts";
import { readRunRecord } from "../runs/run-record.ts";

/** Ends the plan's agent, whose terms are not those that it was started with: it is interrupted, and starts again with the new ones. */
export async function endForNewTerms(loom: AtWork & Reporting, id: string, what: string): Promise<void> {
  const run = loom.occupancy.agentIn(id);
  if (run) await endRun(loom, { id, run, what });
}

/** The same for every agent that has the rules of the config inside, of a plugin too. */
export async function endGoverned(loom: AtWork & Reporting, what: string): Promise<void> {
  const governed = loom.occupancy.agents().filter(({ run }) => {
    const level = readRunRecord(run.runDir)?.level;
    return level !== undefined && hasPolicy(level);
  });
  await Promise.all(governed.map(({ planId, run }) => endRun(loom, { id: planId, run, what })));
}

interface Ended {
  readonly id: string;
  readonly run: LiveRun;
  readonly what: string;
}

async function endRun(loom: AtWork & Reporting, { id, run, what }: Ended): Promise<void> {
  loom.report({ planId: id, level: "info", text: `ending its agent: ${what} changed` });
  await run.stop();
  // Stopped by us: no sign that something ends the processes around the agent.
  loom.stranded.delete(id);
}

/** What a run may do does not change under it: one whose TODO was withdrawn, or says otherwise now, is not the one that was started. */
export function hasOtherTerms(todoId: string | undefined, before: PlanDoc, after: PlanDoc): boolean {
  const termsOf = ({ todos }: PlanDoc) => {
    const todo = todos.find(({ id }) => id === todoId);
    return todo?.state === "open" && [todo.settings.by, todo.settings.paths, todo.settings.tools];
  };
  return todoId !== undefined && !isDeepStrictEqual(termsOf(before), termsOf(after));
}
