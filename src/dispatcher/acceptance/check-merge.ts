import { join } from "node:path";
import { placeTree } from "../../git/worktree/snapshot.ts";
import { worktreeHealth } from "../../git/worktree/worktrees.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { PrloomError } from "../../kernel/errors.ts";
import type { PlanRecord } from "../../plan/record.ts";
import { type CommandRunning, runCommand } from "../enclosure/command-run.ts";
import { homeOf, worktreeOf } from "../paths.ts";
import { branchHead } from "../perform/begin.ts";
import { requirePlanConfig } from "../settings/plan-config.ts";
import { endInterruptedVisits, endVisit, keepNow, leftOut, noteVisit } from "../worktree/set-aside.ts";

/**
 * Runs the checks on what base would be with the plan's branch, the commit `sha`, in the plan's worktree and sandbox: no check
 * has seen exactly that. Throws when one fails. The worktree is as it was afterwards, after a kill too.
 */
export async function checkMerge(loom: CommandRunning, record: PlanRecord, sha: string): Promise<void> {
  const { checks, stages } = requirePlanConfig(loom, record);
  if (checks.length === 0) return;
  refuseUnfree(loom, record);
  // What an earlier one left that was killed.
  await endInterruptedVisits(loom, record);
  const runDir = join(homeOf(loom.paths, record.id).runs, "hooks", `merge-${loom.ids.ulid(loom.clock.now())}`);
  const kept = await keepNow(loom, record, await branchHead(loom, record));
  const visit = { runDir, kept, by: "a check of a merge", placed: sha };
  noteVisit(visit);
  try {
    await placeTree(worktreeOf(loom, record), { tree: sha, leaveOut: leftOut(loom, record) });
    crashPoint("merge:placed");
    for (const [index, command] of checks.entries()) {
      loom.report({ planId: record.id, level: "info", text: `check of the merge: ${command}` });
      const options = { command, runDir: `${runDir}-${index}`, env: stages.worker.env };
      const outcome = await runCommand(loom, record, options);
      if (!outcome.ok) throw failed(record, outcome.summary);
    }
  } finally {
    await endVisit(loom, record, visit);
  }
}

function failed({ id, branch, baseBranch }: PlanRecord, summary: string): PrloomError {
  return new PrloomError(
    "check-failed",
    `On ${baseBranch} merged with ${branch} a check fails. ${summary}`,
    `Ask for what is missing with \`prloom comment ${id} "…"\`, after \`prloom rebase ${id}\` where ${baseBranch} has changed. \`prloom merge ${id} --force\` merges without checks.`,
  );
}

function refuseUnfree(loom: CommandRunning, record: PlanRecord): void {
  const { id, worktreeReady, branch } = record;
  const anyway = `\`prloom merge ${id} --force\` merges without checks.`;
  if (!worktreeReady || worktreeHealth(worktreeOf(loom, record)) !== "ok") {
    const make = `${worktreeReady ? `\`prloom unblock ${id}\`, then ` : ""}\`prloom start --until-idle\``;
    throw new PrloomError(
      "plan-state",
      `${id} has no worktree to run the checks in.`,
      `${make} makes it from branch ${branch}; then run \`prloom merge ${id}\` again. \`--force\` merges without checks.`,
    );
  }
  if (loom.occupancy.whoIsIn(id).has("plugin-agent"))
    throw new PrloomError("plan-state", `An agent of a plugin is at work on ${id}.`, `Let it end first, or ${anyway}`);
}
