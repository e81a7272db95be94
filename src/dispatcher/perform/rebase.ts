import { repositoriesMade } from "../../git/commits/history.ts";
import { interruptedAt, ownBegin, rebaseOnto } from "../../git/commits/rebase.ts";
import { haveSamePatches, messageOfCommit, type Replayed, replay } from "../../git/commits/replay.ts";
import { gitAt, isAncestor, resolveCommit, STEP_TRAILER } from "../../git/repository.ts";
import { inBytes, isProtected } from "../../git/staging/protected-paths.ts";
import { resetTo } from "../../git/worktree/reset.ts";
import { changedNames, placeTree } from "../../git/worktree/snapshot.ts";
import { matchesAny } from "../../governance/policy/paths.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { counted } from "../../kernel/words.ts";
import type { PlanRecord, Rebase } from "../../plan/record.ts";
import type { Reporting } from "../capabilities.ts";
import { settleRebased } from "../gates/carry-over.ts";
import type { Gated } from "../gates/gate-store.ts";
import { type Located, worktreeOf } from "../paths.ts";
import { blockPlan, type Records, updateRecord } from "../records.ts";
import { withoutSessions } from "../runs/count-run.ts";
import type { Configured } from "../settings/pinned.ts";
import { planConfig } from "../settings/plan-config.ts";
import { leftOut, takeBack } from "../worktree/set-aside.ts";
import { branchHead, firstBase } from "./begin.ts";

type Rebasing = Located & Configured & Records & Gated & Reporting;

export type RebaseResult =
  | { readonly kind: "nothing" }
  | { readonly kind: "rebased"; readonly sha: string }
  | { readonly kind: "repository"; readonly files: readonly string[] }
  /** The branch is as it was; the record says that the plan's agent is to resolve it. */
  | { readonly kind: "conflict"; readonly files: readonly string[] };

/**
 * Brings the branch onto its base, at once unless a commit conflicts. Between steps only. What is under way is in the record first, so the
 * next start goes on after a kill; doing it again finds what is done.
 */
export async function beginRebase(loom: Rebasing, record: PlanRecord): Promise<RebaseResult> {
  const { id, branch = "", baseSha: began } = record;
  const worktree = worktreeOf(loom, record);
  const rebase = record.rebase ?? (await plannedRebase(loom, record));
  const { from, upstream, onto } = rebase;
  await putAsideKept(loom, record, from);
  updateRecord(loom, id, () => ({ rebase, kept: undefined }));
  crashPoint("rebase:begun");
  const callOff = () => updateRecord(loom, id, () => ({ rebase: undefined }));
  const outcome = await rebaseOnto(worktree, { branch, base: onto, began, identity: loom.identity }).catch((error) => {
    callOff();
    throw error;
  });
  if (outcome.kind === "conflict") return outcome;
  if (outcome.kind === "repository") {
    callOff();
    return outcome;
  }
  const to = await branchHead(loom, record);
  const isSame = to === from || (await haveSamePatches(loom.repo, { upstream, from }, { upstream: onto, from: to }));
  const config = planConfig(loom, record);
  const reviewAgain = !isSame && config.ok && config.config.review === "todo";
  settleRebased(loom, id, { from, to, onto, isSame, reviewAgain });
  return to === from ? { kind: "nothing" } : { kind: "rebased", sha: to };
}

/** On top of base the branch would make a folder a repository. */
export function blockRepository(loom: Records & Reporting, record: PlanRecord, files: readonly string[]): void {
  const { id, worktree, baseBranch } = record;
  const reason = `The branch cannot be rebased: ${files.join(", ")} would make a folder a git repository.`;
  const hint = `Rebase it (\`git -C ${worktree} rebase ${baseBranch}\`) with other names, then run \`prloom unblock ${id}\`.`;
  blockPlan(loom, id, { reason, hint, cause: "step" });
}

async function plannedRebase(loom: Rebasing, record: PlanRecord): Promise<Rebase> {
  const worktree = worktreeOf(loom, record);
  const { baseSha: began } = record;
  // One of ours that was interrupted is not a person's, who has still to finish it.
  const isOurs = (await interruptedAt(worktree, record.branch ?? "")) !== undefined;
  const from = await (isOurs ? branchHead : firstBase)(loom, record);
  const onto = await baseTip(loom, record);
  const upstream = began === undefined ? onto : await ownBegin(worktree, began, { onto, now: from });
  return { from, upstream, onto, tip: onto, done: 0, stands: from };
}

async function baseTip(loom: Located, { id, baseBranch = "" }: PlanRecord): Promise<string> {
  const tip = await resolveCommit(loom.repo, `refs/heads/${baseBranch}`);
  if (tip !== undefined) return tip;
  const hint = `Make it again (\`git branch ${baseBranch} <commit>\`), then run \`prloom rebase ${id}\`.`;
  throw new PrloomError("git-failed", `The base branch ${baseBranch} of ${id} is gone.`, hint);
}

/** What a person left stays under every run, but not under a rebase: that needs a clean tree. */
async function putAsideKept(loom: Located & Configured & Reporting, record: PlanRecord, head: string): Promise<void> {
  if (record.kept?.baseSha !== head) return;
  const patch = await takeBack(loom, record, { baseSha: head, run: record.runs, name: "before-rebase" });
  if (patch === undefined) return;
  const text = `what a person left in the worktree was put aside in ${patch}`;
  loom.report({ planId: record.id, level: "warn", text });
}

/**
 * Goes on with a rebase that has conflicts: makes commits again up to the next one that conflicts, and puts that one into the worktree for
 * an agent. Made again they are the same, so a kill at any point repeats what was under way.
 */
export async function continueRebase(loom: Rebasing, record: PlanRecord): Promise<void> {
  const { rebase } = record;
  if (!rebase) return;
  if (rebase.ended) return undo(loom, record, rebase);
  const head = await branchHead(loom, record);
  if (await wasInterrupted(loom, record, head)) {
    const outcome = await beginRebase(loom, record);
    if (outcome.kind === "repository") blockRepository(loom, record, outcome.files);
    return;
  }
  const next: Replayed = rebase.conflict
    ? { ...rebase, conflict: rebase.conflict }
    : await replay(loom.repo, { ...rebase, identity: loom.identity });
  if (head !== rebase.stands && head !== next.tip)
    return endRebase(loom, record.id, "The branch was moved while it was being rebased.");
  if (!rebase.conflict) await takeBack(loom, record, { baseSha: head, run: record.runs, name: "before-rebase" });
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
  loom.report({ planId: record.id, level: "info", text: `rebase: ${text}` });
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
  loom: Rebasing,
  record: PlanRecord,
  { rebase, next: { tip, done } }: { rebase: Rebase; next: Replayed },
): Promise<void> {
  const { upstream, from, onto, resolved } = rebase;
  const shapes = await repositoriesMade((args, options) => gitAt(loom.repo, args, options), onto, tip);
  if (shapes.length > 0) {
    const files = shapes.flatMap(({ entries }) => entries).join(", ");
    return endRebase(loom, record.id, `Together with what base has, ${files} would make a folder a git repository.`);
  }
  await resetTo(worktreeOf(loom, record), tip, record.branch ?? "", record.prepared);
  crashPoint("rebase:whole");
  const isSame = !resolved && (await haveSamePatches(loom.repo, { upstream, from }, { upstream: onto, from: tip }));
  settleRebased(loom, record.id, { from, to: tip, onto, isSame });
  await gitAt(loom.repo, ["update-ref", "-d", keptRef(record)]);
  const text = `rebased onto ${record.baseBranch}: ${counted(done, "commit")}`;
  loom.report({ planId: record.id, level: "good", text });
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

async function undo(loom: Rebasing, record: PlanRecord, { from, ended }: Rebase): Promise<void> {
  const { id, branch = "", worktree, baseBranch } = record;
  const head = await branchHead(loom, record);
  // What leaves the branch stays findable: a person may have committed to it.
  if (head !== from) await gitAt(loom.repo, ["update-ref", `refs/prloom/aside/${head}`, head]);
  await takeBack(loom, record, { baseSha: head, run: record.runs, name: "discarded" });
  await resetTo(worktreeOf(loom, record), from, branch, record.prepared);
  crashPoint("rebase:undone");
  const changes = { rebase: undefined, kept: undefined };
  if (ended?.reason === undefined) updateRecord(loom, id, () => changes);
  else {
    const reason = `The branch was not rebased onto ${baseBranch}, and is as it was. ${ended.reason}`;
    const hint = `\`prloom rebase ${id}\` lets an agent try again; or do it yourself (\`git -C ${worktree} rebase ${baseBranch}\`). Then run \`prloom unblock ${id}\`.`;
    blockPlan(loom, id, { reason, hint, cause: "step" }, () => changes);
  }
  await gitAt(loom.repo, ["update-ref", "-d", keptRef(record)]);
}
