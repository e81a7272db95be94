import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { isMergedInto } from "../../../git/commits/merge.ts";
import { branchTip, gitAt } from "../../../git/repository.ts";
import { isoTime } from "../../../kernel/clock.ts";
import { crashPoint } from "../../../kernel/crash-point.ts";
import { messageOf, PrloomError } from "../../../kernel/errors.ts";
import { ensureDir, existsNoFollow, readTextIfExists, writeFileAtomic } from "../../../kernel/files.ts";
import type { PlanRecord } from "../../../plan/record.ts";
import type { Buses } from "../../buses/buses.ts";
import type { Reporting, Waking } from "../../capabilities.ts";
import { removePrivateHomes } from "../../enclosure/private-homes.ts";
import type { Gated } from "../../gates/gate-store.ts";
import { homeOf, inboxOf, isInboxRecord, type Located } from "../../paths.ts";
import { cleanWorktree } from "../../perform/end-plan.ts";
import { tellLast } from "../../perform/gates/gate.ts";
import { type Records, requireRecord, updateRecord } from "../../records.ts";
import { patchesOf } from "../../report/read-aside.ts";
import type { AtWork } from "../../runs/occupancy.ts";
import { endPlanSurvivors, forgetWorktree, leftWorktree, putBranchBack } from "../../runs/survivors.ts";
import type { Configured } from "../../settings/pinned.ts";
import { wakeAbove } from "../../stacking/plans-above.ts";
import { removeOwnWorktree } from "../../worktree/remove-own.ts";
import { keepBeforeRemoval } from "../../worktree/set-aside.ts";
import { allowed } from "../state.ts";

/**
 * Takes a plan away: its run is ended, its worktree removed. The branch stays unless asked for, the home always does. Tells what
 * could not be removed: the plan is gone all the same.
 */
export async function deletePlan(
  loom: Located & Configured & Records & Buses & Gated & AtWork & Reporting & Waking,
  id: string,
  options: { branch: boolean },
): Promise<{ left: string[]; kept?: string; text?: string }> {
  const record = allowed(loom, id, "delete");
  const at = isoTime(loom.clock.now());
  let text: string | undefined;
  // The text goes before the mark: a plan that is marked while its file is still there would be found and made again.
  if (isInboxRecord(record) || record.inInbox) {
    const files = inboxOf(loom.paths, id);
    text = keepText(loom, id, files.text);
    rmSync(files.text, { force: true });
    rmSync(files.meta, { force: true });
    loom.store.forget([files.text, files.meta]);
    crashPoint("delete:inbox");
  }
  tellLast(loom, record);
  // Marked before the rest: no step of the plan starts any more, and the next start removes what a kill left.
  updateRecord(loom, id, () => ({ deleted: { at, reason: "deleted" }, inInbox: false }));
  loom.store.sync();
  crashPoint("delete:marked");
  await loom.occupancy.quiesce(id);
  const { left, kept } = await removeRest(loom, requireDeleted(loom, record));
  if (options.branch && record.branch)
    await gitAt(loom.repo, ["branch", "-D", "--", record.branch], { allowExit: [1] });
  loom.report({ planId: id, level: "info", text: "deleted" });
  wakeAbove(loom, record);
  return { left, ...(kept === undefined ? {} : { kept }), ...(text === undefined ? {} : { text }) };
}

/** What a person wrote outlives its plan. Returns the file that has it. */
function keepText(loom: Located, id: string, file: string): string | undefined {
  const text = readTextIfExists(file);
  if (text === undefined) return undefined;
  const kept = join(homeOf(loom.paths, id).home, "deleted.md");
  ensureDir(dirname(kept));
  writeFileAtomic(kept, text);
  return kept;
}

/** The record as the last step of the plan left it: it may have got its worktree only a moment ago. */
function requireDeleted(loom: Records, record: PlanRecord): PlanRecord {
  return loom.store.get(record.uid) ?? record;
}

/** Whatever of it fails, the rest is done. */
async function removeRest(loom: Located & Configured & Records & Reporting, record: PlanRecord): Promise<Removed> {
  const { id } = record;
  const worktree = leftWorktree(record);
  const left: string[] = [];
  const attempt = async (what: string, act: () => Promise<void>): Promise<void> => {
    try {
      await act();
    } catch (error) {
      const text = `${what}: ${messageOf(error)}`;
      left.push(text);
      loom.report({ planId: id, level: "warn", text: `could not be removed: ${text}` });
    }
  };
  await attempt("processes of its last run", () => endPlanSurvivors(loom, id));
  let kept: string | undefined;
  let foreign: string | undefined;
  const removeOwn = async (): Promise<void> => {
    kept = await keepBeforeRemoval(loom, record);
    foreign = await removeOwnWorktree(loom, record);
  };
  if (worktree) await attempt(`its worktree ${worktree}`, removeOwn);
  await attempt(`its branch ${record.branch}`, () => putBranchBack(loom, record));
  await attempt("the homes of its agents", () => removePrivateHomes(loom, record));
  if (left.length === 0) forgetWorktree(loom, record);
  return { left: foreign === undefined ? left : [...left, foreign], kept };
}

export interface Cleaned {
  readonly removed: string[];
  /** What could not be removed, and why, by plan. */
  readonly left: Record<string, string[]>;
  /** The patch that has what a worktree held beyond its commits, by plan. */
  readonly kept: Record<string, string>;
  /** Patches of work that was put aside while the plans were worked on, by plan. */
  readonly aside: Record<string, readonly string[]>;
  /** Plans that were merged and whose branches are gone now, and those whose branches could go. */
  readonly branches: { readonly deleted: string[]; readonly merged: string[] };
}

/** Removes the worktrees of plans that are done, or of one plan that is; if asked, the branches of merged ones too. */
export async function cleanPlans(
  loom: Located & Configured & Records & Reporting & Waking,
  id: string | undefined,
  withBranches: boolean,
): Promise<Cleaned> {
  if (id !== undefined) {
    const record = requireRecord(loom, id);
    if (record.status !== "done")
      throw new PrloomError(
        "plan-state",
        `${id} is ${record.status}, not done.`,
        `\`prloom merge ${id}\` or \`prloom delete ${id}\` ends it.`,
      );
  }
  const removed: string[] = [];
  const left: Record<string, string[]> = {};
  const kept: Record<string, string> = {};
  const aside: Record<string, readonly string[]> = {};
  const branches: Cleaned["branches"] = { deleted: [], merged: [] };
  for (const record of loom.store.list().records) {
    if (id !== undefined && record.id !== id) continue;
    const isDone = !record.deleted && record.status === "done" && record.worktreeReady;
    if (isDone || (record.deleted && record.worktree && existsNoFollow(record.worktree))) {
      const cleaned = isDone ? await cleanDone(loom, record) : await removeRest(loom, record);
      if (cleaned.kept !== undefined) kept[record.id] = cleaned.kept;
      if (cleaned.left.length > 0) left[record.id] = cleaned.left;
      else removed.push(record.id);
      const earlier = patchesOf(loom, record.id).filter((patch) => patch !== cleaned.kept);
      if (earlier.length > 0) aside[record.id] = earlier;
    }
    if (left[record.id] || !(await hasMergedBranch(loom, record))) continue;
    const failed = withBranches ? (await removeMerged(loom, requireDeleted(loom, record))).left : [];
    if (failed.length > 0) left[record.id] = failed;
    else (withBranches ? branches.deleted : branches.merged).push(record.id);
  }
  // Each is told of at once, named or not.
  for (const planId of removed) loom.wake(planId);
  return { removed, left, kept, aside, branches };
}

/** Whether everything on the branch of a plan was merged, by us or on a server, so that nothing is lost with it. */
async function hasMergedBranch({ repo }: Located, record: PlanRecord): Promise<boolean> {
  const { outcome, branch, baseBranch, merge, published } = record;
  if (outcome !== "merged" || branch === undefined || baseBranch === undefined) return false;
  const tip = await branchTip(repo, branch);
  // The server keeps what was merged there with the change request.
  if (!merge) return tip !== undefined && tip === published?.merged;
  if (tip !== merge.tip) return false;
  // A person may have taken the merge back since: then only the branch has the work.
  return isMergedInto(repo, { branch, base: baseBranch, made: merge });
}

/** What could not be removed, and why; and what was in no commit. */
interface Removed {
  readonly left: string[];
  readonly kept: string | undefined;
}

/** One that cannot be cleaned keeps no other from it. */
async function cleanDone(loom: Located & Configured & Records & Reporting, record: PlanRecord): Promise<Removed> {
  try {
    const { foreign, kept } = await cleanWorktree(loom, record);
    return { left: foreign === undefined ? [] : [foreign], kept };
  } catch (error) {
    return { left: [messageOf(error)], kept: undefined };
  }
}

/** The worktree and the branch of a plan that was merged; what is not committed there is kept as a patch. Returns what stays, and why. */
export async function removeMerged(
  loom: Located & Configured & Records & Reporting,
  record: PlanRecord,
): Promise<Removed> {
  const { left, kept } = record.worktreeReady ? await cleanDone(loom, record) : { left: [], kept: undefined };
  if (left.length > 0) return { left, kept };
  const { branch, merge, published } = record;
  const tip = branch === undefined ? undefined : await branchTip(loom.repo, branch);
  if (branch === undefined || tip === undefined) return { left, kept };
  if (tip !== (merge?.tip ?? published?.merged))
    return { left: [`the branch ${branch} has commits that were not merged`], kept };
  const deleted = await gitAt(loom.repo, ["branch", "-D", "--", branch], { allowExit: [1] });
  return { left: deleted.code === 0 ? [] : [`the branch ${branch}: ${deleted.stderr.trim()}`], kept };
}
