import { existsSync } from "node:fs";
import { join } from "node:path";
import { readExit } from "../../agents/runner/run-exit.ts";
import { endSurvivors } from "../../agents/runner/runner.ts";
import { isInhabited } from "../../agents/runner/survivors.ts";
import { gitAt } from "../../git/repository.ts";
import { removeWorktree } from "../../git/worktree/worktrees.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { messageOf, PrloomError } from "../../kernel/errors.ts";
import { existsNoFollow, listDir, removeTemporaryFiles } from "../../kernel/files.ts";
import { shortHash } from "../../kernel/ids.ts";
import { endProcesses, processesWithVariable } from "../../kernel/system/process-tree.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Reporting } from "../capabilities.ts";
import { clearEnclosure } from "../enclosure/enclose.ts";
import { removeView } from "../enclosure/run-view.ts";
import { homeOf, type Located, type Paths } from "../paths.ts";
import { blockPlan, type Records, updateRecord } from "../records.ts";
import { patchesOf } from "../report/read-aside.ts";
import type { Configured } from "../settings/pinned.ts";
import { isReplaced, keepUnready, removeOwnWorktree } from "../worktree/remove-own.ts";
import { endInterruptedVisits, keepBeforeRemoval } from "../worktree/set-aside.ts";
import type { AtWork } from "./occupancy.ts";

/**
 * Before anything else after a start: ends every process that an earlier dispatcher left alive, and clears up after it. Each
 * plan by itself: one whose left-overs cannot be dealt with is blocked, and the others go on.
 */
export async function recoverPlans(loom: Located & Configured & Records & AtWork & Reporting): Promise<number> {
  await endStrayGit(loom);
  const { records } = loom.store.list({ status: ["queued", "active", "review"] });
  let ended = 0;
  for (const record of records) {
    try {
      ended += await recoverPlan(loom, record);
    } catch (error) {
      holdPlan(loom, record, error);
    }
  }
  const { authority, bus, pluginState } = loom.paths;
  for (const dir of [authority, bus, join(bus, "state"), join(bus, "blobs"), pluginState])
    await orTell(loom, {}, () => removeTemporaryFiles(dir));
  return ended;
}

/** The same for one plan. When it throws, processes of the plan may be alive, or its worktree may not be what it was. */
async function recoverPlan(
  loom: Located & Configured & Records & AtWork & Reporting,
  record: PlanRecord,
): Promise<number> {
  // Never activated, so nothing was ever started for it.
  const ended = record.worktree === undefined ? 0 : await recoverRuns(loom, record, record.worktree);
  await removeUnfinishedWrites(loom, record);
  loom.unrecovered.delete(record.id);
  if (record.blocked?.cause === "recovery" && !record.deleted) {
    updateRecord(loom, record.id, () => ({ blocked: undefined }));
    loom.report({ planId: record.id, level: "info", text: "what was left of it is cleared up; it goes on" });
  }
  return ended;
}

async function recoverRuns(
  loom: Located & Configured & Records & Reporting,
  record: PlanRecord,
  worktree: string,
): Promise<number> {
  const ended = await endRunsOf(loom, record);
  crashPoint("recover:survivors-ended");
  await endInterruptedVisits(loom, record);
  // Half made, it would make git refuse to add any other worktree.
  if (!record.worktreeReady && !isReplaced(loom, record)) {
    await keepUnready(loom, record);
    await removeWorktree(loom.repo, worktree);
  }
  // From here on only disk space is at stake.
  const planId = record.id;
  const home = homeOf(loom.paths, planId);
  const dirs = runDirs(loom, record);
  for (const dir of dirs) await orTell(loom, { planId }, () => clearEnclosure(dir));
  // Not that of the newest run: its result may still be in there.
  for (const dir of below(join(home.runs, "hooks"))) await orTell(loom, { planId }, () => removeView(dir));
  for (const dir of dirs) await orTell(loom, { planId }, () => removeTemporaryFiles(dir));
  return ended;
}

/** Also of a plan that was never activated: its record and its bus are written before that. */
async function removeUnfinishedWrites(loom: Located & Reporting, { id: planId }: PlanRecord): Promise<void> {
  const { home, bus, pluginState } = homeOf(loom.paths, planId);
  for (const dir of [home, bus, join(bus, "state"), join(bus, "blobs"), pluginState])
    await orTell(loom, { planId }, () => removeTemporaryFiles(dir));
}

/** Nothing is started for it before a later try succeeds: at `prloom unblock`, or at the next start. */
function holdPlan(loom: Records & AtWork & Reporting, record: PlanRecord, error: unknown): void {
  const { id, blocked, deleted } = record;
  loom.unrecovered.add(id);
  const { message: reason, hint } = recoveryFailed(id, error);
  loom.report({ planId: id, level: "bad", text: reason });
  // What blocked it before stays the reason; `unblock` tries again all the same.
  if (deleted || (blocked && blocked.cause !== "recovery")) return;
  try {
    blockPlan(loom, id, { reason, hint, cause: "recovery" });
  } catch (unwritable) {
    loom.report({ planId: id, level: "bad", text: `could not be blocked: ${messageOf(unwritable)}` });
  }
}

function recoveryFailed(id: string, error: unknown): PrloomError {
  const why = messageOf(error);
  const first = error instanceof PrloomError ? error.hint : "Look at what it names.";
  const hint = `${first} Then \`prloom unblock ${id}\` or the next \`prloom start\` tries again; \`prloom delete ${id}\` gives it up.`;
  return new PrloomError(
    "recovery-failed",
    `What an interrupted run left could not be dealt with: ${why}`,
    hint,
    error,
  );
}

/** Does what may fail without harm; where it fails, that is told. */
async function orTell(loom: Reporting, whose: { planId?: string }, act: () => Promise<void> | void): Promise<void> {
  try {
    await act();
  } catch (error) {
    loom.report({
      ...whose,
      level: "warn",
      text: `what an earlier run left could not be cleared away: ${messageOf(error)}`,
    });
  }
}

/** Before a command touches a plan without a dispatcher: ends its processes. */
export async function endPlanSurvivors(loom: Located & Configured & Records, id: string): Promise<void> {
  const record = loom.store.byId(id);
  if (record?.worktree === undefined) return;
  try {
    await endStrayGit(loom);
    await endRunsOf(loom, record);
  } catch (error) {
    throw recoveryFailed(id, error);
  }
}

/** `prloom unblock` of a plan that is held: as at a start, but the person who typed it is told what fails. */
export async function recoverAgain(
  loom: Located & Configured & Records & AtWork & Reporting,
  record: PlanRecord,
): Promise<void> {
  if (!loom.unrecovered.has(record.id) && record.blocked?.cause !== "recovery") return;
  try {
    await recoverPlan(loom, record);
  } catch (error) {
    throw recoveryFailed(record.id, error);
  }
}

function runDirs(loom: Located, record: PlanRecord): string[] {
  const home = homeOf(loom.paths, record.id);
  const newest = home.run(record.runs);
  return [
    newest,
    ...below(join(newest, "checks")),
    ...below(join(home.runs, "init")),
    ...below(join(home.runs, "hooks")),
  ];
}

async function endRunsOf(loom: Located & Configured, record: PlanRecord): Promise<number> {
  let ended = 0;
  for (const dir of runDirs(loom, record)) {
    if (!existsSync(join(dir, "request.json")) || (readExit(dir) && !isInhabited(dir))) continue;
    ended += await endSurvivors(dir, { graceMs: loom.config.limits.stopGraceMs });
  }
  return ended;
}

/** A kill in the middle of `prloom delete` leaves the worktree. How large that is was an agent's choice: no start waits for it. */
export async function removeDeleted(loom: Located & Configured & Records & AtWork & Reporting): Promise<void> {
  for (const record of loom.store.list().records) {
    if (!record.deleted || record.worktree === undefined || loom.unrecovered.has(record.id)) continue;
    await orTell(loom, { planId: record.id }, async () => {
      const worktree = leftWorktree(record);
      if (worktree !== undefined && existsNoFollow(worktree)) {
        // The kill may have come before the command could keep it, or before it could tell of it.
        const kept = await keepBeforeRemoval(loom, record);
        await removeOwnWorktree(loom, record);
        const earlier = patchesOf(loom, record.id).filter((patch) => patch !== kept);
        if (earlier.length > 0) {
          const text = `deleted; what it put aside earlier is in ${earlier.join(", ")}`;
          loom.report({ planId: record.id, level: "warn", text });
        }
      }
      await putBranchBack(loom, record);
      forgetWorktree(loom, record);
    });
  }
}

/** Where something of a plan may lie that is deleted; that of one that was done is gone since it was cleaned. */
export function leftWorktree({ status, worktree, worktreeReady }: PlanRecord): string | undefined {
  return status === "done" && !worktreeReady ? undefined : worktree;
}

/** In the middle of a rebase the branch of a deleted plan is not whole. Before that it is as a person left it. */
export async function putBranchBack({ repo }: Located, { branch, rebase }: PlanRecord): Promise<void> {
  if (rebase && (rebase.conflict || rebase.stands !== rebase.from))
    await gitAt(repo, ["update-ref", `refs/heads/${branch}`, rebase.from]);
}

/** Nothing of a deleted plan is left at its place: what lies there from now on is a person's. */
export function forgetWorktree(loom: Records, { uid }: PlanRecord): void {
  const now = loom.store.get(uid);
  if (now?.deleted && now.worktree !== undefined)
    loom.store.put(uid, { ...now, worktree: undefined, worktreeReady: false, rebase: undefined }, now.revision);
}

/** A git process of a killed dispatcher goes on by itself; it must not write at the same time as the one we start. */
async function endStrayGit(loom: Located): Promise<void> {
  const find = (): number[] =>
    processesWithVariable(`${OWNER_VARIABLE}=${ownerTag(loom.paths)}`).map((found) => found.pid);
  await endProcesses(find, { graceMs: 0 });
}

/** What the processes that the owner of this repository starts carry in their environment. */
export const OWNER_VARIABLE = "PRLOOM_OWNER";

export function ownerTag(paths: Paths): string {
  return shortHash(paths.commonDir, 16);
}

function below(dir: string): string[] {
  return listDir(dir).map((name) => join(dir, name));
}
