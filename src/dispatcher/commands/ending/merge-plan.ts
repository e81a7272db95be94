import { type MergeOutcome, mergeIntoBase } from "../../../git/commits/merge.ts";
import { standsOn } from "../../../git/commits/stands-on.ts";
import { unsafeError, unsafeWords } from "../../../git/commits/unsafe-tree.ts";
import { unfinishedKind } from "../../../git/worktree/settle-head.ts";
import type { MergeMethod } from "../../../hooks/contexts/event-types.ts";
import { isoTime } from "../../../kernel/clock.ts";
import { crashPoint } from "../../../kernel/crash-point.ts";
import { PrloomError } from "../../../kernel/errors.ts";
import { counted } from "../../../kernel/text/words.ts";
import { titleOf, todoTitle } from "../../../plan/markdown/markdown.ts";
import type { PlanRecord } from "../../../plan/record.ts";
import { checkMerge } from "../../acceptance/check-merge.ts";
import { signoffOf } from "../../acceptance/commit-hooks.ts";
import type { Buses } from "../../buses/buses.ts";
import type { Publishing, Waking } from "../../capabilities.ts";
import type { CommandRunning } from "../../enclosure/command-run.ts";
import { isAsked } from "../../gates/doors.ts";
import type { Gated } from "../../gates/gate-store.ts";
import { gateOf } from "../../gates/plan-gate.ts";
import type { Undelivered } from "../../messages/messages.ts";
import { agentPlaces, type Located, worktreeOf } from "../../paths.ts";
import { endFound, endPlan } from "../../perform/end-plan.ts";
import { planText, type Records, requireRecord, updateRecord } from "../../records.ts";
import { asideByRebase } from "../../report/read-aside.ts";
import type { AtWork } from "../../runs/occupancy.ts";
import type { Configured } from "../../settings/pinned.ts";
import { wakeAbove } from "../../stacking/plans-above.ts";
import { refuseStacked } from "../../stacking/refuse-stacked.ts";
import { deferredComments, unansweredComments } from "../../steps/observe.ts";
import { ownOf } from "../../steps/watch-merges.ts";
import { hasUncommitted } from "../../worktree/set-aside.ts";
import { refuseWhileOpen } from "../open.ts";
import { removeMerged } from "./finish.ts";
import { mergeAtServer, mergedBefore } from "./merge-at-server.ts";
import { refuseUnapproved } from "./unapproved.ts";

export interface MergeResult {
  readonly sha?: string;
  readonly base: string;
  readonly method: MergeMethod;
  /** The server merges it when its turn comes. */
  readonly queued?: true;
  /** Messages to its agent that it never got. */
  readonly undelivered: readonly Undelivered[];
  /** Why its worktree and branch are still there, though they were to go. */
  readonly left?: readonly string[];
  /** The patch that has what was in no commit. */
  readonly kept?: string;
  /** Its worktree, which has something that is in no commit and so was not merged. */
  readonly uncommitted?: string;
  /** The patch that has what a person left in it before a rebase. */
  readonly aside?: string;
  /** Why nobody was to have what was merged by force. */
  readonly unsafe?: string;
}

type Merging = CommandRunning & Gated & Buses & Publishing & Waking;

interface MergeOptions {
  readonly force: boolean;
  /** With a forge on a server: the commit that was reviewed. */
  readonly sha?: string | undefined;
  readonly method?: MergeMethod | undefined;
  readonly deleteBranch?: boolean;
}

/** Merges the branch into its base and finishes the plan. Repeating it after a kill finds what is done. */
export async function mergePlan(loom: Merging, id: string, options: MergeOptions): Promise<MergeResult> {
  // What speaks against it is told at once, and asked again when the step that is under way has ended.
  refuseMerge(loom, requireRecord(loom, id), options);
  const leave = [await loom.occupancy.enterBetweenSteps(id, "merge")];
  try {
    return await mergeNow(loom, id, { ...options, land: () => leave.push(loom.occupancy.enter(id, "landing")) });
  } finally {
    for (const one of leave) one();
    loom.wake(id);
    // Their bases are what they were if it was not merged.
    const record = loom.store.byId(id);
    if (record) wakeAbove(loom, record);
  }
}

function refuseMerge(loom: Merging, record: PlanRecord, { force }: MergeOptions): void {
  if (record.status !== "done") refuseUnapproved(loom, record);
  refuseUnlessReviewed(loom, record);
  // What a person is about to change must not be merged meanwhile.
  refuseWhileOpen(loom, record.id);
  refuseStacked(loom, record);
  if (force) return;
  refuseUnfinished(loom, record);
  refuseUnsettled(loom, record);
}

async function mergeThere(
  loom: Merging,
  forge: Exclude<Publishing["forge"], { name: "local" }>,
  { record, options: wanted }: { readonly record: PlanRecord; readonly options: LandingMerge },
): Promise<MergeResult> {
  const { id, baseBranch: base = "" } = record;
  const { method = "squash" } = wanted;
  const outcome = await mergeAtServer(loom, forge, { record, wanted, confirm: () => confirmMerge(loom, id, wanted) });
  const sha = wanted.sha ?? record.published?.sha ?? "";
  if (outcome.kind === "queued") {
    const queued = { sha, at: isoTime(loom.clock.now()) };
    updateRecord(loom, id, ({ published }) => ({ published: { ...published, queued } }));
    return { base, method, queued: true, undelivered: [] };
  }
  updateRecord(loom, id, ({ changeRequest: was, published }) =>
    was ? { changeRequest: { ...was, state: "merged" }, published: { ...published, merged: outcome.head } } : {},
  );
  const undelivered = await endFound(loom, requireRecord(loom, id), "merged");
  if (outcome.head !== sha) throw mergedBefore(record, { merged: outcome.head, sha });
  const done = { sha: outcome.sha, base, method: outcome.method ?? method, undelivered, ...asideByRebase(loom, id) };
  if (wanted.deleteBranch) {
    const { left, kept } = await removeMerged(loom, requireRecord(loom, id));
    return { ...done, ...(left.length > 0 ? { left } : {}), ...(kept === undefined ? {} : { kept }) };
  }
  const { worktree, worktreeReady } = requireRecord(loom, id);
  return { ...done, ...(worktreeReady && worktree !== undefined ? { uncommitted: worktree } : {}) };
}

interface LandingMerge extends MergeOptions {
  /** From now on it cannot be called off. */
  land(): void;
}

/** Asked once more in the last moment: what was said meanwhile would not be looked at afterwards. */
function confirmMerge(loom: Merging, id: string, { force, land }: LandingMerge, head?: string): void {
  const record = requireRecord(loom, id);
  refuseUnapproved(loom, record, head);
  if (!force) refuseUnsettled(loom, record);
  land();
}

async function mergeNow(loom: Merging, id: string, options: LandingMerge): Promise<MergeResult> {
  const { force, method = "squash" } = options;
  const record = requireRecord(loom, id);
  const { branch = "", baseBranch = "" } = record;
  refuseMerge(loom, record, options);
  if (loom.forge.name !== "local") return mergeThere(loom, loom.forge, { record, options });
  const message = [mergeMessage(loom, record, method), signoffOf(loom) ?? []].flat().join("\n\n");
  const { baseSha, uid } = record;
  const began = await standsOn(loom.repo, { branch, base: baseBranch, began: baseSha, uid });
  const outcome = await mergeIntoBase(loom.repo, {
    branch,
    base: baseBranch,
    message,
    method,
    identity: loom.identity,
    made: record.merge,
    keep: (merge) => {
      confirmMerge(loom, id, options, merge.tip);
      updateRecord(loom, id, () => ({ merge }));
      loom.store.sync();
    },
    places: agentPlaces(loom.paths),
    allowUnsafe: force,
    ...(force
      ? {}
      : { began, own: ownOf(record), checked: record.checked, check: (sha) => checkMerge(loom, record, sha) }),
  });
  if (outcome.kind !== "merged" && outcome.kind !== "already") throw refusedMerge(record, outcome);
  crashPoint("merge:merged");
  await loom.forge.close(id, "merged");
  updateRecord(loom, id, (now) =>
    now.changeRequest ? { changeRequest: { ...now.changeRequest, state: "merged" } } : {},
  );
  const undelivered = endPlan(loom, requireRecord(loom, id), { outcome: "merged" });
  const after = requireRecord(loom, id);
  const { left, kept } = options.deleteBranch ? await removeMerged(loom, after) : { left: [], kept: undefined };
  // Only told: a worktree that cannot be looked at is not what was merged.
  const uncommitted = !options.deleteBranch && (await hasUncommitted(loom, after).catch(() => false));
  const { kind: _, unsafe, ...made } = { unsafe: undefined, ...outcome };
  return {
    ...{ ...made, base: baseBranch, method, undelivered, ...asideByRebase(loom, id) },
    ...(unsafe ? { unsafe: unsafeWords(unsafe) } : {}),
    ...(left.length > 0 ? { left } : {}),
    ...(kept === undefined ? {} : { kept }),
    ...(uncommitted && after.worktree !== undefined ? { uncommitted: after.worktree } : {}),
  };
}

/** A squash is one commit in place of those of its TODOs, so it says what they were. */
function mergeMessage(loom: Located & Records, record: PlanRecord, method: MergeMethod): string {
  const text = planText(loom, record);
  const title = titleOf(text?.text ?? "", record.id);
  if (method !== "squash") return `Merge ${title}\n\nPlan: ${record.id}`;
  const todos = (text?.doc.todos ?? []).filter(({ state }) => state === "done").map((todo) => `- ${todoTitle(todo)}\n`);
  return `${title}\n\n${todos.length > 1 ? `${todos.join("")}\n` : ""}Plan: ${record.id}`;
}

type RefusedMerge = Exclude<MergeOutcome, { kind: "merged" | "already" }>;

function refusedMerge({ id, branch, baseBranch, worktree }: PlanRecord, outcome: RefusedMerge): PrloomError {
  switch (outcome.kind) {
    case "conflict":
      return new PrloomError(
        "merge-conflict",
        `${branch} conflicts with ${baseBranch} in: ${outcome.files.join(", ")}`,
        `\`prloom rebase ${id}\` lets an agent resolve it; or do it yourself (\`git -C ${worktree} rebase ${baseBranch}\`). Then run \`prloom merge ${id}\` again.`,
      );
    case "emptied": {
      const newest = outcome.newest.slice(0, 12);
      return new PrloomError(
        "plan-state",
        `${branch} has no commit of ${id} any more (the newest was ${newest}), and ${baseBranch} does not have what that changed.`,
        `Bring it back (\`git -C ${worktree} merge ${newest}\`), or delete the plan (\`prloom delete ${id}\`). If you made it anew yourself, and ${baseBranch} has that, end it as merged: \`prloom merge ${id} --force\`.`,
      );
    }
    case "rewritten":
      return new PrloomError(
        "merge-conflict",
        `${branch} stands on ${counted(outcome.commits, "commit")} that ${baseBranch} had and has no more: merged, what was taken out would come back.`,
        `\`prloom rebase ${id}\` brings only the plan's own commits onto ${baseBranch}; then run \`prloom merge ${id}\` again. To merge all of it: \`prloom merge ${id} --force\`.`,
      );
    case "checkout-in-the-way":
      return new PrloomError(
        "checkout-in-the-way",
        `${baseBranch} is checked out in ${outcome.path}, and the merge would touch it: ${outcome.reason}`,
        outcome.lock === undefined
          ? `Commit or stash there (\`git -C ${outcome.path} stash -u\`), or move away what git ignores, then run \`prloom merge ${id}\` again.`
          : `Run \`prloom merge ${id}\` again when that git is done. If none runs there, remove the file first.`,
      );
    case "repository":
    case "link":
      return unsafeError(
        outcome,
        `With ${branch} in ${baseBranch}`,
        `if they are meant: \`prloom merge ${id} --force\`.`,
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
  // Triage that was given up is not under way: a person may merge without it.
  const isTriaged = record.side !== undefined && !record.blocked;
  const isUnderWay = record.current !== undefined || isTriaged || record.rebase !== undefined;
  if (status !== "review" || loom.occupancy.agentIn(id) || isUnderWay) {
    const hint = record.blocked
      ? `\`prloom show ${id}\` tells what blocks it; what is committed so far is on branch ${record.branch}, for \`git merge\`.`
      : `\`prloom show ${id}\` tells what is missing; \`prloom start\` works on it.`;
    const work = record.rebase ? "being rebased" : "being worked on";
    const at = isUnderWay ? work : status;
    throw new PrloomError("plan-state", `${id} is ${record.blocked ? "blocked" : at}, not in review.`, hint);
  }
}

/** A person who merges should know that something is still open; it would not be looked at afterwards. */
function refuseUnsettled(loom: Located & Configured & Records & Gated & Buses, record: PlanRecord): void {
  const { id, blocked } = record;
  const asItIs = `merge it as it is: \`prloom merge ${id} --force\`.`;
  const anyway = `or ${asItIs}`;
  if (gateOf(loom, record)?.state === "withdrawn" && isAsked(loom, record, "plan")) {
    const hint = `\`prloom start\` shows the plan again. Approve it, ${anyway}`;
    throw new PrloomError("plan-state", `The approval of ${id} was withdrawn.`, hint);
  }
  if (blocked) {
    throw new PrloomError(
      "plan-state",
      `${id} is blocked: ${blocked.reason}`,
      `${blocked.hint ?? `Run \`prloom unblock ${id}\` first.`} Or ${asItIs}`,
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

/** Till a rebase is finished, the branch is what it was before: neither an agent nor a merge is what is missing. */
function refuseUnfinished(loom: Merging, record: PlanRecord): void {
  const { id, worktreeReady } = record;
  const { gitDir, path } = worktreeOf(loom, record);
  const what = worktreeReady ? unfinishedKind(gitDir) : undefined;
  if (what === undefined) return;
  const how = `\`git -C ${path} ${what} --continue\``;
  const hint = `Finish it (${how}) or give it up (\`--abort\`), then run \`prloom merge ${id}\` again.`;
  throw new PrloomError("plan-state", `A ${what} is not finished in the worktree of ${id}.`, hint);
}
