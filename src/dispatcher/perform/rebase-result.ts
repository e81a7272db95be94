import { type UnsafeTree, unsafeWords } from "../../git/commits/unsafe-tree.ts";
import { PrloomError } from "../../kernel/errors.ts";
import type { PlanRecord } from "../../plan/record.ts";

export type RebaseResult =
  | { readonly kind: "nothing" }
  | { readonly kind: "rebased"; readonly sha: string }
  | UnsafeTree
  /** A merge on the branch has changes of its own: a rebase leaves merges out. */
  | { readonly kind: "lossy"; readonly merge: string }
  /** The branch is as it was; the record says that the plan's agent is to resolve it. */
  | { readonly kind: "conflict"; readonly files: readonly string[] };

/** What is said of a rebase that is done. */
export const nowAt = (sha: string): string => `The branch is rebased: it stands at ${sha.slice(0, 8)} now.`;

/** What the rebase came to, for the people who asked. */
export function toldRebase(record: PlanRecord, outcome: RebaseResult | undefined): string {
  if (outcome?.kind === "conflict")
    return `The rebase conflicts in: ${outcome.files.join(", ")}. An agent resolves it.`;
  if (outcome?.kind === "repository" || outcome?.kind === "link")
    return `The rebase is not possible: ${unsafeWords(outcome)}`;
  if (outcome?.kind === "rebased") return nowAt(outcome.sha);
  if (outcome?.kind === "nothing") return "There is nothing to rebase: the branch has all of its base.";
  if (outcome?.kind === "lossy") return lossyError(record, outcome.merge).message;
  return "";
}

export function lossyError({ branch, worktree, baseBranch }: PlanRecord, merge: string): PrloomError {
  const message = `The merge ${merge.slice(0, 8)} on ${branch} has changes of its own, which a rebase would lose.`;
  const hint = `Bring it up to date with another merge (\`git -C ${worktree} merge ${baseBranch}\`).`;
  return new PrloomError("plan-state", message, hint);
}
