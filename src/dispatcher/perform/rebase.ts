import { interruptedAt, ownBegin, rebaseOnto } from "../../git/commits/rebase.ts";
import { changingMerge, haveSamePatches, messageOfCommit, type Replayed, replay } from "../../git/commits/replay.ts";
import { standsOn } from "../../git/commits/stands-on.ts";
import { unsafeTree, unsafeWords } from "../../git/commits/unsafe-tree.ts";
import { gitAt, isAncestor, STEP_TRAILER } from "../../git/repository.ts";
import { inBytes, isProtected } from "../../git/staging/protected-paths.ts";
import { resetTo } from "../../git/worktree/reset.ts";
import { changedNames, placeTree } from "../../git/worktree/snapshot.ts";
import { matchesAny } from "../../governance/policy/paths.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { counted } from "../../kernel/text/words.ts";
import type { PlanRecord, Rebase } from "../../plan/record.ts";
import type { Publishing, Reporting } from "../capabilities.ts";
import { settleRebased } from "../gates/carry-over.ts";
import type { Gated } from "../gates/gate-store.ts";
import { agentPlaces, type Located, worktreeOf } from "../paths.ts";
import { baseTip } from "../publishing/base.ts";
import { blockPlan, type Records, updateRecord } from "../records.ts";
import { withoutSessions } from "../runs/count-run.ts";
import type { Configured } from "../settings/pinned.ts";
import { planConfig } from "../settings/plan-config.ts";
import { keepNow, leftOut, takeBack } from "../worktree/set-aside.ts";
import { branchHead, firstBase } from "./begin.ts";
import { lossyError, nowAt, type RebaseResult, toldRebase } from "./rebase-result.ts";
import { type RebaseTelling, tellRebased } from "./tell-rebased.ts";

type Rebasing = Located & Configured & Records & Gated & Publishing & Reporting;
type Tidying = Located & Configured & Reporting;
type Ending = Rebasing & RebaseTelling;

/**
 * Brings the branch onto its base, at once unless a commit conflicts. Between steps only. What is under way is in the record first, so the
 * next start goes on after a kill; doing it again finds what is done. `asked`: where people asked for it.
 */
export async function beginRebase(loom: Rebasing, record: PlanRecord, asked?: Rebase["asked"]): Promise<RebaseResult> {
  const { id, uid, branch = "", baseBranch: base = "" } = record;
  const worktree = worktreeOf(loom, record);
  const began = await standsOn(loom.repo, { branch, base, began: record.baseSha, uid });
  const rebase = record.rebase ?? { ...(await plannedRebase(loom, record, began)), ...(asked && { asked }) };
  const { from, upstream, onto } = rebase;
  const merge = record.rebase ? undefined : await lossyMerge(loom, rebase);
  if (merge !== undefined) return { kind: "lossy", merge };
  await putAsideKept(loom, record, from);
  updateRecord(loom, id, () => ({ rebase, kept: undefined }));
  crashPoint("rebase:begun");
  const callOff = () => updateRecord(loom, id, () => ({ rebase: undefined }));
  const { identity } = loom;
  const request = { branch, base: onto, began, identity, places: agentPlaces(loom.paths) };
  const outcome = await rebaseOnto(worktree, request).catch((error) => {
    callOff();
    throw error;
  });
  if (outcome.kind === "conflict") return outcome;
  if (outcome.kind === "repository" || outcome.kind === "link") {
    callOff();
    return outcome;
  }
  const to = await branchHead(loom, record);
  const isSame = to === from || (await haveSamePatches(loom.repo, { upstream, from }, { upstream: onto, from: to }));
  settleRebased(loom, id, { from, to, onto, isSame, reviewAgain: !isSame && readsTodos(loom, record) });
  return to === from ? { kind: "nothing" } : { kind: "rebased", sha: to };
}

function readsTodos(loom: Configured, record: PlanRecord): boolean {
  const outcome = planConfig(loom, record);
  return outcome.ok && outcome.config.review === "todo";
}

/** Blocks a plan whose branch cannot be rebased at all. */
export function blockImpossible(loom: Records & Reporting, record: PlanRecord, outcome: RebaseResult): void {
  const { id, worktree, baseBranch } = record;
  if (outcome.kind === "repository" || outcome.kind === "link") {
    const reason = `The branch cannot be rebased: ${unsafeWords(outcome)}`;
    const hint = `Rebase it (\`git -C ${worktree} rebase ${baseBranch}\`) with other names or without them, then run \`prloom unblock ${id}\`.`;
    blockPlan(loom, id, { reason, hint, cause: "step" });
  } else if (outcome.kind === "lossy") {
    const { message, hint } = lossyError(record, outcome.merge);
    blockPlan(loom, id, { reason: message, hint: `${hint} Then run \`prloom unblock ${id}\`.`, cause: "step" });
  }
}

async function plannedRebase(loom: Rebasing, record: PlanRecord, began: string | undefined): Promise<Rebase> {
  const worktree = worktreeOf(loom, record);
  // One of ours that was interrupted is not a person's, who has still to finish it.
  const isOurs = (await interruptedAt(worktree, record.branch ?? "")) !== undefined;
  const from = await (isOurs ? branchHead : firstBase)(loom, record);
  const onto = await requireBase(loom, record);
  const upstream = began === undefined ? onto : await ownBegin(worktree, began, { onto, now: from });
  return { from, upstream, onto, tip: onto, done: 0, stands: from };
}

/** What a person changed in a merge would be gone, and an approval of it would seem to hold on. */
async function lossyMerge({ repo }: Located, { from, upstream, onto }: Rebase): Promise<string | undefined> {
  const isContained = upstream === onto && (await isAncestor(repo, onto, from));
  return isContained ? undefined : changingMerge(repo, { upstream, from });
}

export async function requireBase(loom: Rebasing, { id, baseBranch = "", behind, stack }: PlanRecord): Promise<string> {
  const lower = stack && loom.store.get(stack.on)?.published?.sha;
  if (lower !== undefined) return lower;
  const tip = await baseTip(loom, baseBranch, behind !== undefined);
  if (tip !== undefined) return tip;
  const hint = `Make it again (\`git branch ${baseBranch} <commit>\`), then run \`prloom rebase ${id}\`.`;
  throw new PrloomError("git-failed", `The base branch ${baseBranch} of ${id} is gone.`, hint);
}

/** What a person left stays under every run, but not under a rebase: that needs a clean tree. */
export async function putAsideKept(loom: Tidying, record: PlanRecord, head: string): Promise<void> {
  if (record.kept?.baseSha !== head) return;
  await putAside(loom, record, head, "before-rebase");
}

const LEFT_BY = { partial: "a rebase that was cut off", "before-rebase": "a person", discarded: "an agent or person" };

async function putAside(loom: Tidying, record: PlanRecord, baseSha: string, name: keyof typeof LEFT_BY): Promise<void> {
  const patch = await takeBack(loom, record, { baseSha, run: record.runs, name });
  if (patch === undefined) return;
  const text = `what ${LEFT_BY[name]} left in the worktree was put aside in ${patch}`;
  loom.report({ planId: record.id, level: "warn", text });
}

/**
 * Goes on with a rebase that has conflicts: makes commits again up to the next one that conflicts, and puts that one into the worktree for
 * an agent. Made again they are the same, so a kill at any point repeats what was under way.
 */
export async function continueRebase(loom: Ending, record: PlanRecord): Promise<void> {
  const { rebase } = record;
  if (!rebase) return;
  if (rebase.ended) return undo(loom, record, rebase);
  const head = await branchHead(loom, record);
  if (await wasInterrupted(loom, record, head)) return beginAgain(loom, record, rebase.asked);
  // A person has committed since it was asked for, and nothing is under way yet: that is to be rebased too.
  if (!rebase.conflict && head !== rebase.from && rebase.stands === rebase.from)
    return beginAgain(
      loom,
      updateRecord(loom, record.id, () => ({ rebase: undefined })),
      rebase.asked,
    );
  const next = await nextOf(loom, rebase);
  if (head !== rebase.stands && head !== next.tip) return endRebase(loom, record.id, movedAway(head));
  // After a kill the conflict may be in the worktree already, and a person may have begun to resolve it.
  const isPlaced = rebase.conflict && (await keepNow(loom, record, head)).tree === rebase.conflict.tree;
  // Between the two commits it is no person's, but what the kill left of moving it.
  const isMoving = rebase.conflict !== undefined && head !== rebase.stands;
  if (!isPlaced) await putAside(loom, record, head, isMoving ? "partial" : "before-rebase");
  await gitAt(loom.repo, ["update-ref", keptRef(record), rebase.from]);
  const { conflict } = next;
  if (!conflict) return finish(loom, record, { rebase, next });
  const forbidden = await protectedIn(loom, record, next.tip, conflict.tree);
  if (forbidden.length > 0) {
    const what = `${conflict.commit.slice(0, 8)} conflicts, and it changes what agents may not change`;
    return endRebase(loom, record.id, `${what}: ${forbidden.slice(0, MAX_NAMED).join(", ")}`);
  }
  updateRecord(loom, record.id, () => ({ rebase: { ...rebase, ...next, conflict } }));
  crashPoint("rebase:conflict");
  await resetTo(worktreeOf(loom, record), next.tip, record.branch ?? "", record.prepared);
  crashPoint("rebase:moved");
  await placeTree(worktreeOf(loom, record), { tree: conflict.tree, leaveOut: leftOut(loom, record) });
  crashPoint("rebase:placed");
  const todoId = todoOfCommit(record, await messageOfCommit(loom.repo, conflict.commit)) ?? NO_TODO;
  updateRecord(loom, record.id, (now) => ({
    rebase: { ...rebase, ...next, conflict, stands: next.tip },
    current: { todoId, attempt: 1, baseSha: next.tip, stage: "running", run: now.runs + 1 },
    runs: now.runs + 1,
    // What an attempt left is taken back to this.
    kept: { tree: conflict.tree, baseSha: next.tip },
  }));
  const text = `${conflict.commit.slice(0, 8)} conflicts with ${record.baseBranch} in ${conflict.files.join(", ")}`;
  loom.report({ planId: record.id, level: "info", text: `${rebase.merge ? "merge" : "rebase"}: ${text}` });
}

async function nextOf(loom: Rebasing, rebase: Rebase): Promise<Replayed> {
  const { conflict, merge, done, tip } = rebase;
  if (conflict) return { done, tip, conflict };
  // A merge is one commit, and is whole once it is resolved.
  return merge ? { done, tip } : replay(loom.repo, { ...rebase, identity: loom.identity });
}

async function beginAgain(loom: Ending, record: PlanRecord, asked: Rebase["asked"]): Promise<void> {
  const outcome = await beginRebase(loom, record, asked);
  if (outcome.kind !== "conflict") tellRebased(loom, record, { asked, message: toldRebase(record, outcome) });
  blockImpossible(loom, record, outcome);
}

/** The beginning was: git was at work, or had rebased it when the kill came. */
async function wasInterrupted(loom: Rebasing, record: PlanRecord, head: string): Promise<boolean> {
  const { rebase, branch = "" } = record;
  if (!rebase || rebase.conflict || rebase.done > 0) return false;
  if ((await interruptedAt(worktreeOf(loom, record), branch)) !== undefined) return true;
  return head !== rebase.from && isAncestor(loom.repo, rebase.onto, head);
}

const MAX_NAMED = 5;

/** Of a person's commit. With an agent's work it would be put back as base has it, and be lost. */
async function protectedIn(loom: Rebasing, record: PlanRecord, tip: string, tree: string): Promise<string[]> {
  const own = loom.config.governance.protected;
  const names = await changedNames(worktreeOf(loom, record), tip, tree);
  return names.filter((name) => isProtected(inBytes(name)) || matchesAny(name, own, "any-case"));
}

/** A commit that is not of a TODO: a person's. */
const NO_TODO = "rebase";

/** The branch as it was, for as long as it is not whole. */
const keptRef = ({ branch }: PlanRecord) => `refs/prloom/before-rebase/${branch}`;

function todoOfCommit({ uid }: PlanRecord, message: string): string | undefined {
  const start = `${STEP_TRAILER}: ${uid}/`;
  const trailer = message.split("\n").findLast((line) => line.startsWith(start));
  return trailer?.slice(start.length, trailer.lastIndexOf("/"));
}

async function finish(
  loom: Ending,
  record: PlanRecord,
  { rebase, next: { tip, done } }: { rebase: Rebase; next: Replayed },
): Promise<void> {
  const { upstream, from, onto, resolved } = rebase;
  const made = { base: onto, tip: from, head: tip, places: agentPlaces(loom.paths) };
  const unsafe = await unsafeTree((args, options) => gitAt(loom.repo, args, options), made);
  const first = "Rename them on the branch first, or take them out";
  if (unsafe) return endRebase(loom, record.id, `Together with what base has, ${unsafeWords(unsafe)}. ${first}.`);
  await resetTo(worktreeOf(loom, record), tip, record.branch ?? "", record.prepared);
  crashPoint("rebase:whole");
  const isSame = !resolved && (await haveSamePatches(loom.repo, { upstream, from }, { upstream: onto, from: tip }));
  // A resolved conflict was reviewed as such, its neighbours were not: they may change something else now.
  const isRead = isSame || (resolved && done === 1);
  tellRebased(loom, record, { asked: rebase.asked, message: nowAt(tip) });
  settleRebased(loom, record.id, { from, to: tip, onto, isSame, reviewAgain: !isRead && readsTodos(loom, record) });
  await gitAt(loom.repo, ["update-ref", "-d", keptRef(record)]);
  const { baseBranch } = record;
  const text = rebase.merge
    ? `has what ${baseBranch} got since, merged into it: ${tip.slice(0, 8)}`
    : `rebased onto ${baseBranch}: ${counted(done, "commit")}`;
  loom.report({ planId: record.id, level: "good", text });
}

/** Why a rebase ends of a branch that another moved; what it was moved to is a person's, perhaps. */
export function movedAway(head: string): string {
  return `The branch was moved while it was being rebased; refs/prloom/aside/${head} has what it was moved to.`;
}

/** Calls a rebase off; the next step puts the branch back. */
export function endRebase(loom: Records, id: string, reason: string): void {
  updateRecord(loom, id, (now) => ({
    ...withoutSessions(now, ["worker", "reviewer"]),
    current: undefined,
    side: undefined,
    ...(now.rebase ? { rebase: { ...now.rebase, ended: { reason } } } : {}),
  }));
}

/** The branch and its worktree as they were. What leaves the branch stays findable: a person may have committed to it. */
async function putBack(loom: Rebasing, record: PlanRecord, from: string): Promise<void> {
  const head = await branchHead(loom, record);
  if (head !== from) await gitAt(loom.repo, ["update-ref", `refs/prloom/aside/${head}`, head]);
  await putAside(loom, record, head, "discarded");
  await resetTo(worktreeOf(loom, record), from, record.branch ?? "", record.prepared);
}

const CALLED_OFF = "The rebase was called off, and the branch is as it was.";

/** Before anything was done to it, the branch is as the person left it, who may have committed to it or rebased it since. */
async function undo(
  loom: Ending,
  record: PlanRecord,
  { from, ended, stands, conflict, merge, asked }: Rebase,
): Promise<void> {
  const { id, branch = "", worktree, baseBranch } = record;
  const isOurs = stands !== from || conflict || (await interruptedAt(worktreeOf(loom, record), branch)) !== undefined;
  if (isOurs) await putBack(loom, record, from);
  crashPoint("rebase:undone");
  // The server has told what it needs, and tells it once: unblocked it is tried again.
  const again = merge && ended?.reason !== undefined ? { behind: { why: "conflict" as const } } : {};
  const changes = { rebase: undefined, kept: undefined, ...again };
  if (ended?.reason === undefined) {
    tellRebased(loom, record, { asked, message: CALLED_OFF });
    updateRecord(loom, id, () => changes);
  } else {
    const what = merge
      ? `${baseBranch} was not merged into the branch, which`
      : `The branch was not rebased onto ${baseBranch}, and`;
    const reason = `${what} is as it was. ${ended.reason}`;
    const byHand = `\`git -C ${worktree} ${merge ? "merge" : "rebase"} ${baseBranch}\``;
    const hint = merge
      ? `\`prloom unblock ${id}\` lets an agent try again; or merge it yourself first (${byHand}).`
      : `\`prloom rebase ${id}\` lets an agent try again, and \`prloom send ${id} "…"\` tells it what it asks for; or do it yourself (${byHand}). Then run \`prloom unblock ${id}\`.`;
    tellRebased(loom, record, { asked, message: reason });
    blockPlan(loom, id, { reason, hint, cause: "step" }, () => changes);
  }
  await gitAt(loom.repo, ["update-ref", "-d", keptRef(record)]);
}
