import { mergedTree, writeCommit } from "../../git/commits/pick.ts";
import { haveSamePatches } from "../../git/commits/replay.ts";
import { unsafeTree } from "../../git/commits/unsafe-tree.ts";
import { gitAt, isAncestor } from "../../git/repository.ts";
import { resetTo } from "../../git/worktree/reset.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { messageOf, PrloomError } from "../../kernel/errors.ts";
import type { PlanRecord } from "../../plan/record.ts";
import { signoffOf } from "../acceptance/commit-hooks.ts";
import type { Publishing, Reporting } from "../capabilities.ts";
import { settleRebased } from "../gates/carry-over.ts";
import type { Gated } from "../gates/gate-store.ts";
import { agentPlaces, type Located, worktreeOf } from "../paths.ts";
import { firstBase } from "../perform/begin.ts";
import { beginRebase, blockImpossible, putAsideKept, requireBase } from "../perform/rebase.ts";
import type { RebaseResult } from "../perform/rebase-result.ts";
import { type Records, requireRecord, updateRecord } from "../records.ts";
import type { Configured } from "../settings/pinned.ts";
import { leaveStack } from "../stacking/leave-stack.ts";
import { hasUncommitted } from "../worktree/set-aside.ts";
import { unreachable } from "./base.ts";

type CatchingUp = Located & Configured & Records & Gated & Publishing & Reporting;
type Merge = NonNullable<NonNullable<PlanRecord["behind"]>["merge"]>;

/**
 * The branch gets what its base has, because its change request needs that: between two runs, and in one of two ways. What was to be done is
 * forgotten last, so that a kill has it looked at again; then there is nothing to do.
 */
export async function catchUp(loom: CatchingUp, planned: PlanRecord): Promise<void> {
  const record = leaveStack(loom, planned);
  if (!record) return;
  const { id, baseBranch, behind, stack } = record;
  // A merge would bring back what the lower plan had before it was squashed or dropped.
  const policy = stack || behind?.why === "stack" ? "rebase" : (loom.config.github?.update ?? "auto");
  const isMerged =
    behind?.merge !== undefined || policy === "merge" || (policy === "auto" && (await isReviewed(loom, record)));
  let outcome = isMerged ? await mergeBase(loom, record) : await beginRebase(loom, record);
  // Resolved commit by commit, each TODO keeps its own.
  if (isMerged && outcome.kind === "conflict" && policy === "auto") outcome = await beginRebase(loom, record);
  // A rebase would lose what a person changed in a merge.
  if (outcome.kind === "lossy" && policy === "auto") outcome = await mergeBase(loom, requireRecord(loom, id));
  crashPoint("server:caught-up");
  const isRebased = requireRecord(loom, id).rebase !== undefined;
  if (outcome.kind === "conflict" && !isRebased) await beginMerge(loom, record);
  blockImpossible(loom, record, outcome);
  const isDone = outcome.kind === "rebased" || outcome.kind === "nothing";
  // A server asks again. That commits of another plan are under its own is known here alone, till they are not.
  if (isDone || behind?.why !== "stack") updateRecord(loom, id, () => ({ behind: undefined }));
  if (outcome.kind !== "rebased") return;
  const text = `has what ${baseBranch} got since, ${isMerged ? "merged into it" : "by a rebase"}: ${outcome.sha.slice(0, 8)}`;
  loom.report({ planId: id, level: "good", text });
}

async function isReviewed({ forge }: Publishing, { changeRequest }: PlanRecord): Promise<boolean> {
  if (forge.name === "local" || !changeRequest) return false;
  try {
    return await (await forge.server()).isReviewed(changeRequest.ref);
  } catch (error) {
    throw unreachable(messageOf(error));
  }
}

/** Base merged into the branch. The merge is on record before the branch moves: found there after a kill, it is ours. */
async function mergeBase(loom: CatchingUp, record: PlanRecord): Promise<RebaseResult> {
  const { id, branch = "", baseSha: began = "" } = record;
  const head = await firstBase(loom, record);
  const begun = record.behind?.merge;
  const isBegun = begun && (head === begun.from || head === begun.to);
  const merge = isBegun ? begun : await plannedMerge(loom, record, head);
  if ("kind" in merge) return merge;
  const { from, to, onto } = merge;
  if (head !== to) {
    await putAsideKept(loom, record, head);
    if (await hasUncommitted(loom, record)) throw uncommitted(record);
    updateRecord(loom, id, ({ behind }) => ({ behind: { why: behind?.why ?? "behind", merge }, kept: undefined }));
    loom.store.sync();
    crashPoint("server:merge-noted");
    await resetTo(worktreeOf(loom, record), to, branch, record.prepared);
    crashPoint("server:base-merged");
  }
  if (began !== onto) {
    const isSame = await haveSamePatches(loom.repo, { upstream: began, from }, { upstream: onto, from: to });
    settleRebased(loom, id, { from, to, onto, isSame });
  }
  return { kind: "rebased", sha: to };
}

/** Has an agent resolve what conflicts, as in a rebase: on top of base, so that what base has of protected files stays. */
async function beginMerge(loom: CatchingUp, record: PlanRecord): Promise<void> {
  const { id, baseSha: upstream = "" } = record;
  const from = await firstBase(loom, record);
  const onto = await requireBase(loom, record);
  await putAsideKept(loom, record, from);
  if (await hasUncommitted(loom, record)) throw uncommitted(record);
  const merged = await mergedTree(loom.repo, onto, from);
  // Resolved meanwhile, by a person: the server says so at the next look.
  if (merged.kind !== "conflict") return;
  const merge = { message: mergeMessage(loom, record), date: `@${Math.floor(loom.clock.now() / 1000)} +0000` };
  const conflict = { commit: from, tree: merged.tree, files: merged.files };
  updateRecord(loom, id, () => ({
    ...{ rebase: { from, upstream, onto, tip: onto, done: 0, stands: from, conflict, merge }, kept: undefined },
  }));
}

const mergeMessage = (loom: CatchingUp, { branch, baseBranch }: PlanRecord): string =>
  `${[`Merge ${baseBranch} into ${branch}`, signoffOf(loom) ?? []].flat().join("\n\n")}\n`;

async function plannedMerge(loom: CatchingUp, record: PlanRecord, from: string): Promise<Merge | RebaseResult> {
  const onto = await requireBase(loom, record);
  if (await isAncestor(loom.repo, onto, from)) return { kind: "nothing" };
  const merged = await mergedTree(loom.repo, from, onto);
  if (merged.kind === "conflict") return merged;
  const message = mergeMessage(loom, record);
  const commit = { tree: merged.tree, parents: [from, onto], message, env: loom.identity };
  const to = await writeCommit(loom.repo, commit);
  const made = { base: onto, tip: from, head: to, places: agentPlaces(loom.paths) };
  const unsafe = await unsafeTree((args, options) => gitAt(loom.repo, args, options), made);
  return unsafe ?? { from, to, onto };
}

function uncommitted({ baseBranch, worktree }: PlanRecord): PrloomError {
  const message = `${baseBranch} is to be merged into its branch, and its worktree has changes that are in no commit.`;
  return new PrloomError("plan-state", message, `Commit or remove them in ${worktree}.`);
}
