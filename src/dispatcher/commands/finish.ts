import { rmSync } from "node:fs";
import { type MergeOutcome, mergeIntoBase } from "../../git/commits/merge.ts";
import { gitAt } from "../../git/repository.ts";
import type { MergeMethod } from "../../hooks/contexts/event-types.ts";
import { isoTime } from "../../kernel/clock.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { messageOf, PrloomError } from "../../kernel/errors.ts";
import { existsNoFollow } from "../../kernel/files.ts";
import { counted } from "../../kernel/words.ts";
import { titleOf } from "../../plan/markdown/markdown.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Buses } from "../buses/buses.ts";
import type { Publishing, Reporting, Waking } from "../capabilities.ts";
import { removePrivateHomes } from "../enclosure/private-homes.ts";
import type { Gated } from "../gates/gate-store.ts";
import { gateOf } from "../gates/plan-gate.ts";
import type { Undelivered } from "../messages/messages.ts";
import { inboxOf, isInboxRecord, type Located } from "../paths.ts";
import { cleanWorktree, endPlan } from "../perform/end-plan.ts";
import { planText, type Records, requireRecord, updateRecord } from "../records.ts";
import type { AtWork } from "../runs/occupancy.ts";
import { endPlanSurvivors, forgetWorktree, leftWorktree } from "../runs/survivors.ts";
import type { Configured } from "../settings/pinned.ts";
import { deferredComments, unansweredComments } from "../steps/observe.ts";
import { removeOwnWorktree } from "../worktree/remove-own.ts";
import { keepBeforeRemoval } from "../worktree/set-aside.ts";
import { allowed } from "./state.ts";
import { refuseUnapproved } from "./unapproved.ts";

export interface MergeResult {
  readonly sha?: string;
  readonly base: string;
  /** Messages to its agent that it never got. */
  readonly undelivered: readonly Undelivered[];
}

type Merging = Located & Configured & Records & Gated & Buses & Publishing & AtWork & Reporting & Waking;

interface MergeOptions {
  readonly force: boolean;
  readonly method?: MergeMethod;
}

/** Merges the branch into its base and finishes the plan. Repeating it after a kill finds what is done. */
export async function mergePlan(loom: Merging, id: string, options: MergeOptions): Promise<MergeResult> {
  // What speaks against it is told at once, and asked again when the step that is under way has ended.
  refuseMerge(loom, requireRecord(loom, id), options);
  const leave = await loom.occupancy.enterBetweenSteps(id, "merge");
  try {
    return await mergeNow(loom, id, options);
  } finally {
    leave();
    loom.wake(id);
  }
}

function refuseMerge(loom: Merging, record: PlanRecord, { force }: MergeOptions): void {
  if (record.status !== "done") refuseUnapproved(loom, record);
  refuseUnlessReviewed(loom, record);
  refuseOpened(loom, record);
  if (!force) refuseUnsettled(loom, record);
}

async function mergeNow(loom: Merging, id: string, options: MergeOptions): Promise<MergeResult> {
  const { force, method = "merge" } = options;
  const record = requireRecord(loom, id);
  const { branch = "", baseBranch = "" } = record;
  refuseMerge(loom, record, options);
  const message = `Merge ${titleOf(planText(loom, record)?.text ?? "", id)}\n\nPlan: ${id}`;
  const outcome = await mergeIntoBase(loom.repo, {
    branch,
    base: baseBranch,
    message,
    method,
    identity: loom.identity,
    made: record.merge,
    keep: (merge) => {
      // Asked once more in the last moment: what was said meanwhile would not be looked at afterwards.
      refuseUnapproved(loom, requireRecord(loom, id), merge.tip);
      if (!force) refuseUnsettled(loom, requireRecord(loom, id));
      updateRecord(loom, id, () => ({ merge }));
      loom.store.sync();
    },
    allowRepositories: force,
  });
  if (outcome.kind !== "merged" && outcome.kind !== "already") throw refusedMerge(record, outcome);
  crashPoint("merge:merged");
  await loom.forge.close(id, "merged");
  updateRecord(loom, id, (now) =>
    now.changeRequest ? { changeRequest: { ...now.changeRequest, state: "merged" } } : {},
  );
  const undelivered = endPlan(loom, requireRecord(loom, id), "merged");
  return { ...(outcome.kind === "merged" ? { sha: outcome.sha } : {}), base: baseBranch, undelivered };
}

type RefusedMerge = Exclude<MergeOutcome, { kind: "merged" | "already" }>;

function refusedMerge({ id, branch, baseBranch, worktree }: PlanRecord, outcome: RefusedMerge): PrloomError {
  switch (outcome.kind) {
    case "conflict":
      return new PrloomError(
        "merge-conflict",
        `${branch} conflicts with ${baseBranch} in: ${outcome.files.join(", ")}`,
        `Rebase it (\`git -C ${worktree} rebase ${baseBranch}\`), resolve the conflicts, then run \`prloom merge ${id}\` again.`,
      );
    case "checkout-in-the-way":
      return new PrloomError(
        "checkout-in-the-way",
        `${baseBranch} is checked out in ${outcome.path}, and the merge would touch it: ${outcome.reason}`,
        `Commit or stash there (\`git -C ${outcome.path} stash -u\`), or move away what git ignores, then run \`prloom merge ${id}\` again.`,
      );
    case "repository":
      return new PrloomError(
        "nested-repository",
        `With ${branch}, git would take a folder of ${baseBranch} for a repository and run what its settings say: ${outcome.files.join(", ")}`,
        `Rename them on the branch; if they are meant (data of a test), run \`prloom merge ${id} --force\`.`,
      );
  }
}

function refuseUnlessReviewed(loom: AtWork, record: PlanRecord): void {
  const { id, status } = record;
  if (status === "done")
    throw new PrloomError(
      "plan-state",
      `${id} is done already (${record.outcome}).`,
      "There is nothing to merge; `prloom clean` removes its worktree.",
    );
  if (status !== "review" || loom.occupancy.agentIn(id) || record.current || record.side) {
    const hint = record.blocked
      ? `\`prloom show ${id}\` tells what blocks it; what is committed so far is on branch ${record.branch}, for \`git merge\`.`
      : `\`prloom show ${id}\` tells what is missing; \`prloom start\` works on it.`;
    const at = record.current || record.side ? "being worked on" : status;
    throw new PrloomError("plan-state", `${id} is ${record.blocked ? "blocked" : at}, not in review.`, hint);
  }
}

/** A person who merges should know that something is still open; it would not be looked at afterwards. */
function refuseUnsettled(loom: Located & Records & Gated & Buses, record: PlanRecord): void {
  const { id, blocked } = record;
  const anyway = `or merge it as it is: \`prloom merge ${id} --force\`.`;
  if (gateOf(loom, record)?.state === "withdrawn") {
    const hint = `\`prloom start\` shows the plan again. Approve it, ${anyway}`;
    throw new PrloomError("plan-state", `The approval of ${id} was withdrawn.`, hint);
  }
  if (blocked) {
    throw new PrloomError(
      "plan-state",
      `${id} is blocked: ${blocked.reason}`,
      `Run \`prloom unblock ${id}\` first, ${anyway}`,
    );
  }
  const [unread, putOff] = [unansweredComments(loom, id), deferredComments(loom, id)];
  if (unread + putOff > 0) {
    const wait =
      unread > 0
        ? "Let `prloom start --until-idle` answer,"
        : "A plugin put it off: `prloom status` says which one, why and until when. Wait for it,";
    const what = counted(unread + putOff, "unanswered comment");
    throw new PrloomError("plan-state", `${id} has ${what}.`, `${wait} ${anyway}`);
  }
  const open = planText(loom, record)?.doc.todos.filter((todo) => todo.state !== "done").length ?? 0;
  if (open > 0) {
    throw new PrloomError(
      "plan-state",
      `${id} has ${counted(open, "open TODO")}.`,
      `Let \`prloom start --until-idle\` do them, ${anyway}`,
    );
  }
}

/** What a person is about to change must not be merged meanwhile. */
function refuseOpened({ occupancy }: AtWork, { id }: PlanRecord): void {
  const opened = occupancy.personIn(id);
  if (!opened) return;
  const hint = `Leave it there (process ${opened.pid}), then run \`prloom merge ${id}\` again.`;
  throw new PrloomError("plan-state", `${id} is open in another terminal (\`prloom open\`).`, hint);
}

/**
 * Takes a plan away: its run is ended, its worktree removed. The branch stays unless asked for, the home always does. Tells what
 * could not be removed: the plan is gone all the same.
 */
export async function deletePlan(
  loom: Located & Configured & Records & AtWork & Reporting,
  id: string,
  options: { branch: boolean },
): Promise<{ left: string[] }> {
  const record = allowed(loom, id, "delete");
  const at = isoTime(loom.clock.now());
  // The text goes before the mark: a plan that is marked while its file is still there would be found and made again.
  if (isInboxRecord(record) || record.inInbox) {
    const files = inboxOf(loom.paths, id);
    rmSync(files.text, { force: true });
    rmSync(files.meta, { force: true });
    loom.store.forget([files.text, files.meta]);
    crashPoint("delete:inbox");
  }
  // Marked before the rest: no step of the plan starts any more, and the next start removes what a kill left.
  updateRecord(loom, id, () => ({ deleted: { at, reason: "deleted" }, inInbox: false }));
  loom.store.sync();
  crashPoint("delete:marked");
  await loom.occupancy.quiesce(id);
  const left = await removeRest(loom, requireDeleted(loom, record));
  if (options.branch && record.branch)
    await gitAt(loom.repo, ["branch", "-D", "--", record.branch], { allowExit: [1] });
  loom.report({ planId: id, level: "info", text: "deleted" });
  return { left };
}

/** The record as the last step of the plan left it: it may have got its worktree only a moment ago. */
function requireDeleted(loom: Records, record: PlanRecord): PlanRecord {
  return loom.store.get(record.uid) ?? record;
}

/** Whatever of it fails, the rest is done; returns what could not be, and why. */
async function removeRest(loom: Located & Configured & Records & Reporting, record: PlanRecord): Promise<string[]> {
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
  await keepBeforeRemoval(loom, record);
  let foreign: string | undefined;
  const removeOwn = async (): Promise<void> => {
    foreign = await removeOwnWorktree(loom, record);
  };
  if (worktree) await attempt(`its worktree ${worktree}`, removeOwn);
  await attempt("the homes of its agents", () => removePrivateHomes(loom, record));
  if (left.length === 0) forgetWorktree(loom, record);
  return foreign === undefined ? left : [...left, foreign];
}

/** Removes the worktrees of plans that are done, or of one plan that is. */
export async function cleanPlans(
  loom: Located & Configured & Records & Reporting & Waking,
  id: string | undefined,
): Promise<{ removed: string[]; left: Record<string, string[]> }> {
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
  for (const record of loom.store.list({}, { limit: Number.MAX_SAFE_INTEGER }).records) {
    if (id !== undefined && record.id !== id) continue;
    const isDone = !record.deleted && record.status === "done" && record.worktreeReady;
    if (!isDone && !(record.deleted && record.worktree && existsNoFollow(record.worktree))) continue;
    const failed = isDone ? await cleanDone(loom, record) : await removeRest(loom, record);
    if (failed.length > 0) left[record.id] = failed;
    else removed.push(record.id);
  }
  // Each is told of at once, named or not.
  for (const planId of removed) loom.wake(planId);
  return { removed, left };
}

/** One that cannot be cleaned keeps no other from it. */
async function cleanDone(loom: Located & Configured & Records & Reporting, record: PlanRecord): Promise<string[]> {
  try {
    const foreign = await cleanWorktree(loom, record);
    return foreign === undefined ? [] : [foreign];
  } catch (error) {
    return [messageOf(error)];
  }
}
