import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { branchTip } from "../../git/repository.ts";
import { changedNames, type KeptTree, keepTree, restoreTree } from "../../git/worktree/kept-tree.ts";
import { worktreeHealth } from "../../git/worktree/worktrees.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { messageOf, PrloomError } from "../../kernel/errors.ts";
import { ensureDir, listDir, readTextIfExists, writeRunFile } from "../../kernel/files.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Naming, Reporting, Stopping, Waking } from "../capabilities.ts";
import { removeView } from "../enclosure/run-view.ts";
import { homeOf, type Located, worktreeOf } from "../paths.ts";
import { leftOut } from "../perform/prepared.ts";
import { blockPlan, type Records, refuseUnrecovered, requireRecord } from "../records.ts";
import type { Configured } from "../settings/pinned.ts";
import { planConfig } from "../settings/plan-config.ts";
import type { Pooled } from "./agent-pool.ts";
import { type AgentCall, type Planned, runIn } from "./hook-agent-run.ts";
import type { AtWork } from "./occupancy.ts";

/** Runs an agent for a hook, in the worktree of its plan, like any other run: through the shim, with the same limits. */
export async function runHookAgent(
  loom: Located & Naming & Configured & Records & Pooled & AtWork & Reporting & Stopping & Waking,
  planId: string,
  call: AgentCall,
): Promise<string> {
  const record = requireRecord(loom, planId);
  refuseWithoutWorktree(record);
  refuseUnrecovered(loom, planId);
  const config = planConfig(loom, record);
  if (!config.ok)
    throw new PrloomError(
      "config-invalid",
      config.reason,
      "Fix prloom/config.json and run `prloom reload`; `prloom doctor` checks it.",
    );
  // From then on neither the plan's own agent nor another plugin's starts in this worktree.
  const leave = await loom.occupancy.enterWhenFree(planId, "plugin-agent", call.signal);
  try {
    return await inKeptTree(loom, record, { call, config: config.config });
  } finally {
    leave();
    loom.runEnded(planId);
  }
}

function refuseWithoutWorktree({ id, worktreeReady }: PlanRecord): void {
  if (worktreeReady) return;
  const hint = `\`prloom show ${id}\` tells the plan's state.`;
  throw new PrloomError("plan-state", `${id} has no worktree, so no agent can run for it.`, hint);
}

/** Only a worker may change files. What another stage changed is put aside, as after every designer and triage. */
async function inKeptTree(
  loom: Located & Naming & Configured & Records & Pooled & AtWork & Reporting & Stopping,
  record: PlanRecord,
  planned: Planned,
): Promise<string> {
  const stage = planned.call.options.stage ?? "reviewer";
  const name = loom.ids.ulid(loom.clock.now());
  const runDir = join(homeOf(loom.paths, record.id).runs, "hooks", name);
  const worktree = worktreeOf(loom, record);
  const { branch = "" } = record;
  const head = (await branchTip(loom.repo, branch)) ?? "";
  const kept = await keepTree(worktree, { branch, head, leaveOut: leftOut(loom, record) });
  if (stage === "worker") {
    const answer = await runIn(loom, record, { ...planned, stage, name, runDir });
    await tellLeft(loom, record, kept);
    return answer;
  }
  ensureDir(runDir);
  writeRunFile(join(runDir, KEPT), JSON.stringify(kept));
  crashPoint("hook-agent:kept");
  try {
    const tree = stage === "reviewer" ? { tree: kept.tree } : {};
    return await runIn(loom, record, { ...planned, stage, name, runDir, ...tree });
  } finally {
    await removeView(runDir);
    await putBack(loom, record, { runDir, kept });
  }
}

/** Names that one line tells. */
const MOST_NAMES = 5;

/** A worker's changes stay, and the next commit of the plan takes them: nobody should wonder where they came from. */
async function tellLeft(loom: Located & Configured & Reporting, record: PlanRecord, before: KeptTree): Promise<void> {
  const worktree = worktreeOf(loom, record);
  const after = await keepTree(worktree, before);
  const names = await changedNames(worktree, before.tree, after.tree);
  if (names.length === 0) return;
  const shown = names.slice(0, MOST_NAMES).join(", ");
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : "";
  const text = `a plugin's agent left changes uncommitted: ${shown}${more}; the plan's next commit takes them`;
  loom.report({ planId: record.id, level: "warn", text });
}

/** What the worktree was before an agent of a plugin came; it is there until the worktree is put back. */
const KEPT = "kept.json";
const keptSchema = z.object({
  tree: z.string(),
  branch: z.string(),
  head: z.string(),
  leaveOut: z.array(z.string()),
});

interface Interrupted {
  readonly runDir: string;
  readonly kept: KeptTree;
}

/** What cannot be put back must not be committed with the next TODO: a person has to look first. */
async function putBack(
  loom: Located & Configured & Records & Reporting,
  record: PlanRecord,
  { runDir, kept }: Interrupted,
): Promise<void> {
  const patch = join(runDir, "aside.patch");
  const isChanged = await restoreTree(worktreeOf(loom, record), kept, patch).catch((error: unknown) => {
    blockPlan(loom, record.id, {
      reason: `What a plugin's agent changed in ${record.worktree} could not be put back: ${messageOf(error)}`,
      hint: `Look there (\`git -C ${record.worktree} status\`), then run \`prloom unblock ${record.id}\`.`,
      cause: "step",
    });
    throw error;
  });
  crashPoint("hook-agent:restored");
  rmSync(join(runDir, KEPT), { force: true });
  if (isChanged)
    loom.report({ planId: record.id, level: "warn", text: `a plugin's agent changed files; put aside in ${patch}` });
}

/**
 * A dispatcher was killed under an agent of a plugin: what that left in the worktree is put aside now. Throws when it cannot be:
 * the next TODO would be committed with it.
 */
export async function putBackInterrupted(
  loom: Located & Configured & Records & Reporting,
  record: PlanRecord,
): Promise<void> {
  const dir = join(homeOf(loom.paths, record.id).runs, "hooks");
  for (const name of listDir(dir)) {
    const runDir = join(dir, name);
    if (!existsSync(join(runDir, KEPT))) continue;
    await putBackOne(loom, record, runDir);
  }
}

function readKept(file: string, { id, worktree }: PlanRecord): KeptTree {
  try {
    return keptSchema.parse(JSON.parse(readTextIfExists(file) ?? ""));
  } catch (error) {
    const hint = `Look whether ${worktree} has changes that nobody wants, then remove ${file}.`;
    throw new PrloomError("recovery-failed", `${file} of ${id} cannot be read: ${messageOf(error)}`, hint, error);
  }
}

/** The branch stays where it is: since the kill a person may have committed to it, and nobody can tell whose a commit is. */
async function putBackOne(
  loom: Located & Configured & Records & Reporting,
  record: PlanRecord,
  runDir: string,
): Promise<void> {
  const kept = readKept(join(runDir, KEPT), record);
  const isThere = record.worktreeReady && worktreeHealth(worktreeOf(loom, record)) === "ok";
  if (isThere && (await branchTip(loom.repo, kept.branch)) === kept.head)
    return putBack(loom, record, { runDir, kept });
  rmSync(join(runDir, KEPT), { force: true });
  if (!isThere) return;
  const text = `${kept.branch} moved since a plugin's agent was interrupted; what that left in ${record.worktree} stays there`;
  loom.report({ planId: record.id, level: "warn", text });
}
