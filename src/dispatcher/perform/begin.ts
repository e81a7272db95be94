import { basename, dirname } from "node:path";
import { readExit, wasUngoverned } from "../../agents/runner/run-exit.ts";
import { endSurvivors, readUnstarted } from "../../agents/runner/runner.ts";
import { branchTip } from "../../git/repository.ts";
import { repairGitFile } from "../../git/worktree/repair.ts";
import { foldAgentCommits, headState, unfinishedOperation } from "../../git/worktree/settle-head.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { removeFrom } from "../../kernel/removal/remove-held.ts";
import { type Todo, todoTitle } from "../../plan/markdown/markdown.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Buses } from "../buses/buses.ts";
import type { Extended } from "../buses/extensions.ts";
import type { Reporting } from "../capabilities.ts";
import { removeView } from "../enclosure/run-view.ts";
import { homeOf, type Located, worktreeOf } from "../paths.ts";
import { planText, type Records, requireRecord, updateRecord } from "../records.ts";
import type { Pooled } from "../runs/agent-pool.ts";
import { NOTHING_SPENT, overBudget } from "../runs/availability.ts";
import { canGoOn, countRun, withoutSessions } from "../runs/count-run.ts";
import type { AtWork } from "../runs/occupancy.ts";
import { awaitedRun } from "../runs/run-record.ts";
import { giveUpOnStranded } from "../runs/stranded.ts";
import type { Configured } from "../settings/pinned.ts";
import { planConfig } from "../settings/plan-config.ts";
import { hasUncommitted, keepNow, takeBack, takeBackRun } from "../worktree/set-aside.ts";
import { followPerson } from "./follow-person.ts";
import { hookDue } from "./hook-due.ts";

/** Records which TODO comes next and from which commit, before anything of it happens. */
export async function beginTodo(
  loom: Located & Configured & Records & Extended & Reporting,
  record: PlanRecord,
  todo: Todo,
): Promise<void> {
  const baseSha = await firstBase(loom, record);
  updateRecord(loom, record.id, (now) => ({
    current: { todoId: todo.id, attempt: 1, baseSha, stage: "running", run: now.runs + 1 },
    runs: now.runs + 1,
    designed: true,
    // The branch is about to move: what the reviewer said of it no longer holds.
    ...(now.reviewedEnd ? { reviewedEnd: { ...now.reviewedEnd, head: "" } } : {}),
    ...(now.kept && now.kept.baseSha !== baseSha ? { kept: undefined } : {}),
    ...hookDue(loom, now, "beforeTodo", todo),
  }));
  loom.report({ planId: record.id, level: "info", text: `TODO ${todo.index + 1}: ${todoTitle(todo)}` });
}

/** Records that the designer or triage is about to run. */
export async function beginSide(
  loom: Located & Configured & Records & Buses,
  record: PlanRecord,
  stage: "designer" | "triage",
): Promise<void> {
  const baseSha = await firstBase(loom, record);
  const events =
    stage === "triage"
      ? {
          events: loom
            .bus(record.id)
            .pendingTriage()
            .map((event) => event.id),
        }
      : {};
  // What a person left without `prloom open` is no work of the run that begins. Under a TODO it may be what an agent left.
  const isLeft = record.current === undefined && (await hasUncommitted(loom, record));
  const kept = isLeft ? { kept: { tree: (await keepNow(loom, record, baseSha)).tree, baseSha } } : {};
  updateRecord(loom, record.id, (now) => ({
    ...kept,
    side: { stage, run: now.runs + 1, attempt: 1, baseSha, ...events },
    runs: now.runs + 1,
    // Triage comes after the design only, so what is there now is the plan's own.
    ...(stage === "triage" ? { designed: true as const } : {}),
  }));
}

/**
 * The commit that new work begins at. Every run begins with a settled HEAD, which would end a person's merge or rebase half way: what it
 * replayed would be on no branch, and what base has would pass for the agent's work.
 */
export async function firstBase(loom: Located & Configured, record: PlanRecord): Promise<string> {
  const { gitDir, path } = worktreeOf(loom, record);
  if (unfinishedOperation(gitDir) === undefined) return branchHead(loom, record);
  throw new PrloomError(
    "plan-state",
    `A merge, rebase or cherry-pick is not finished in the worktree of ${record.id}.`,
    `Finish it or give it up (\`git -C ${path} status\` says how), then run \`prloom unblock ${record.id}\`.`,
  );
}

/** The commit that the plan's branch is at. */
export async function branchHead(loom: Located, record: PlanRecord): Promise<string> {
  const sha = await branchTip(loom.repo, record.branch ?? "");
  if (sha) return sha;
  throw new PrloomError(
    "git-failed",
    `The branch ${record.branch} of ${record.id} is gone.`,
    `Make it again (\`git branch ${record.branch} <commit>\`), then run \`prloom unblock ${record.id}\`.`,
  );
}

/**
 * A run without an exit: the dispatcher or the machine died under it. Its processes are ended first. If its shim wrote
 * an exit after all, the run is complete; else what it changed is kept as a patch, the tree goes back to where the run
 * began, and the same attempt runs again: an interruption is not the agent's failure.
 */
export async function recoverRun(
  loom: Located & Configured & Records & Pooled & AtWork & Reporting,
  record: PlanRecord,
): Promise<void> {
  const number = awaitedRun(record);
  if (number === undefined) return;
  const runDir = homeOf(loom.paths, record.id).run(number);
  await endSurvivors(runDir, { graceMs: loom.config.limits.stopGraceMs });
  if (readExit(runDir)) return;
  countRun(loom, record.id, number);
  crashPoint("recover:ended");
  await removeView(runDir);
  const patch = await takeBackInterrupted(loom, record, number);
  crashPoint("recover:reset");
  updateRecord(loom, record.id, (now) => nextRun(now, {}));
  const unstarted = readUnstarted(runDir);
  if (unstarted !== undefined) {
    loom.stranded.delete(record.id);
    throw unstarted;
  }
  giveUpOnStranded(loom, record.id, runDir);
  const config = planConfig(loom, record);
  const spent =
    config.ok && overBudget(requireRecord(loom, record.id).spent ?? NOTHING_SPENT, config.config.limits.budget);
  const isHeld = record.paused || record.hidden;
  const next = isLeft(loom, record) ? "its TODO was changed" : "it starts again as soon as it may";
  const then = spent ? "nothing is left to spend" : isHeld ? "it waits" : next;
  const kept = patch === undefined ? "" : `; what it left is kept in ${patch}`;
  loom.report({ planId: record.id, level: "warn", text: `run ${number} was interrupted; ${then}${kept}` });
}

/** Whether a person has reworded, removed or ticked the TODO that the record waits for. */
function isLeft(loom: Located & Records, record: PlanRecord): boolean {
  const { current, rebase } = record;
  if (!current || rebase) return false;
  return planText(loom, record)?.doc.todos.find(({ id }) => id === current.todoId)?.state !== "open";
}

/** An agent that can continue its conversation finds the tree as it left it. Else returns the patch that has what it left. */
async function takeBackInterrupted(
  loom: Located & Configured & Records & Pooled,
  record: PlanRecord,
  run: number,
): Promise<string | undefined> {
  const now = requireRecord(loom, record.id);
  const config = planConfig(loom, now);
  // A person who comes in now must not find what a read-only stage left: it would pass for the person's own.
  const isVisited = now.side && now.opened;
  // What nothing judged must not pass for the work of the run that goes on.
  const isJudged = !wasUngoverned(homeOf(loom.paths, now.id).run(run));
  const mayStay = !isVisited && !isLeft(loom, now) && isJudged;
  if (mayStay && config.ok && canGoOn(loom, now, config.config)) {
    await foldCommits(loom, now);
    return undefined;
  }
  return takeBackRun(loom, record, { run, name: "partial" });
}

/** What the agent committed is a part of its TODO. On the branch it would pass for a person's from now on. */
async function foldCommits(loom: Located & Configured, record: PlanRecord): Promise<void> {
  const { current, rebase, branch = "" } = record;
  if (!current || rebase) return;
  const worktree = worktreeOf(loom, record);
  const { baseSha } = current;
  await repairGitFile(worktree);
  if ((await headState(worktree, { branch, baseSha })) === "ahead") await foldAgentCommits(worktree, baseSha);
}

/** The record with a new run number for the same work; `changes` go to the current TODO or the side run. */
export function nextRun(record: PlanRecord, changes: { attempt?: number; missing?: string }): Partial<PlanRecord> {
  const run = record.runs + 1;
  // First: the reviewer runs while the TODO that it looks at waits for its commit.
  if (record.side) return { runs: run, side: { ...record.side, ...changes, run } };
  if (!record.current) return {};
  const { findings } = changes.missing === undefined ? record.current : {};
  return { runs: run, current: { ...record.current, ...changes, findings, seen: undefined, stage: "running", run } };
}

/** Drops what an unfinished TODO left, and starts it over at the next look if it is still open. Returns the patch that has it. */
export async function discardWork(
  loom: Located & Configured & Records,
  planned: PlanRecord,
): Promise<string | undefined> {
  const record = await followPerson(loom, planned);
  const base = record.current?.baseSha ?? record.side?.baseSha;
  // What is committed stays: its tick is written, or will be.
  const isCommitted = record.current?.stage === "committed" || record.current?.stage === "ticked";
  // A rebase that no agent is at yet has left nothing, and is called off as well.
  if ((base === undefined && !record.rebase) || isCommitted) return undefined;
  const patch =
    base === undefined
      ? undefined
      : await takeBack(loom, record, { baseSha: base, run: record.runs, name: "discarded" });
  updateRecord(loom, record.id, (now) => ({
    ...withoutSessions(now, ["worker", "reviewer", ...(now.side ? [now.side.stage] : [])]),
    current: undefined,
    side: undefined,
    ...(now.rebase ? { rebase: { ...now.rebase, ended: {} } } : {}),
    // A worktree that its plugins have still to prepare is not ready for another beginning.
    hook: now.hook?.point === "afterActivate" ? { ...now.hook, next: undefined } : undefined,
    kept: undefined,
  }));
  return patch;
}

/** Run folders are never reused; a folder without a request is left from a kill before the start. */
export function clearUnstarted(runDir: string): void {
  removeFrom(dirname(runDir), basename(runDir));
}
