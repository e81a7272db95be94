import { join } from "node:path";
import { existsNoFollow, listDir, readTextNoFollow, writeFileAtomic } from "../../kernel/files.ts";
import { lstatIfThere } from "../../kernel/lstat.ts";
import { removeTree } from "../../kernel/removal/remove-tree.ts";
import { readTip } from "../refs.ts";
import { dissolveRepositories } from "../staging/stage.ts";
import { repairWorktree } from "./repair.ts";
import { gitIn, type Worktree } from "./worktrees.ts";

/** Files of a git folder that mean "in the middle of something". */
const UNFINISHED = [
  "MERGE_HEAD",
  "CHERRY_PICK_HEAD",
  "REVERT_HEAD",
  "REBASE_HEAD",
  "rebase-merge",
  "rebase-apply",
  "sequencer",
];
const LEFTOVERS = [...UNFINISHED, "MERGE_MSG", "MERGE_MODE", "MERGE_RR", "AUTO_MERGE", "SQUASH_MSG"];
const LOCKS = ["index.lock", "HEAD.lock", "ORIG_HEAD.lock", "config.worktree.lock"];

/** What a git folder is in the middle of (a merge, a rebase), or undefined. */
export function unfinishedOperation(gitDir: string): string | undefined {
  return UNFINISHED.find((name) => existsNoFollow(join(gitDir, name)));
}

/** The command of git that a folder is in the middle of, which ends it with `--continue`. */
export function unfinishedKind(gitDir: string): "rebase" | "merge" | "cherry-pick" | "revert" | undefined {
  const has = (...names: readonly string[]): boolean => names.some((name) => existsNoFollow(join(gitDir, name)));
  if (has("rebase-merge", "rebase-apply")) return "rebase";
  if (has("MERGE_HEAD")) return "merge";
  if (has("CHERRY_PICK_HEAD")) return "cherry-pick";
  return has("REVERT_HEAD") ? "revert" : undefined;
}

export interface StepBase {
  readonly branch: string;
  readonly baseSha: string;
}

/** Everything that may be lying around after a killed or careless git: its processes are dead, so its locks are stale. */
export async function clearLeftovers(worktree: Worktree, branch: string): Promise<void> {
  const { gitDir, commonDir } = worktree;
  const bisect = listDir(gitDir).filter((name) => name.startsWith("BISECT_"));
  const inGitDir = [...LEFTOVERS, ...LOCKS, ...bisect].map((name) => join(gitDir, name));
  for (const path of [...inGitDir, join(commonDir, "refs", "heads", `${branch}.lock`)]) {
    if (existsNoFollow(path)) await removeTree(path);
  }
}

async function pointHeadAt(worktree: Worktree, branch: string): Promise<void> {
  const wanted = `ref: refs/heads/${branch}\n`;
  if (existsNoFollow(join(worktree.commonDir, "reftable"))) {
    await gitIn(worktree, ["symbolic-ref", "HEAD", `refs/heads/${branch}`]);
  } else if (readTextNoFollow(worktree.gitDir, "HEAD") !== wanted) {
    // Written by hand: with garbage in HEAD git does not recognise the folder as its own and refuses every command.
    const head = join(worktree.gitDir, "HEAD");
    if (existsNoFollow(head)) await removeTree(head);
    writeFileAtomic(head, wanted);
  }
}

async function restoreBranch(worktree: Worktree, { branch, baseSha }: StepBase): Promise<void> {
  if (readTip(worktree.commonDir, branch) === baseSha) return;
  const ref = `refs/heads/${branch}`;
  // A branch that is a link to another one would make us move that other one.
  const link = await gitIn(worktree, ["symbolic-ref", "--quiet", ref], { allowExit: [1, 128] });
  if (link.code === 0) await gitIn(worktree, ["symbolic-ref", "--delete", ref]);
  const tip = await gitIn(worktree, ["rev-parse", "--verify", "--quiet", `${ref}^{commit}`], { allowExit: [1, 128] });
  if (tip.code === 0) return;
  const file = join(worktree.commonDir, ref);
  // A folder holds other branches; git itself removes one that is empty.
  if (lstatIfThere(file)?.isDirectory() === false) await removeTree(file);
  await gitIn(worktree, ["update-ref", "--no-deref", ref, baseSha]);
}

/**
 * Makes the worktree stand on its branch again, whatever the agent did with git: the binding files, stale locks, a merge
 * or rebase in progress, HEAD and the branch. Files in the tree stay as they are.
 */
export async function settleHead(worktree: Worktree, base: StepBase): Promise<void> {
  await repairWorktree(worktree);
  await clearLeftovers(worktree, base.branch);
  await pointHeadAt(worktree, base.branch);
  await restoreBranch(worktree, base);
}

/** Where the branch stands relative to the TODO's base, after HEAD was put back onto the branch. */
export async function headState(worktree: Worktree, base: StepBase): Promise<"at-base" | "ahead" | "diverged"> {
  await settleHead(worktree, base);
  if (readTip(worktree.commonDir, base.branch) === base.baseSha) return "at-base";
  const head = (await gitIn(worktree, ["rev-parse", "--verify", "HEAD^{commit}"])).stdout.trim();
  if (head === base.baseSha) return "at-base";
  const contains = await gitIn(worktree, ["merge-base", "--is-ancestor", base.baseSha, head], { allowExit: [1] });
  if (contains.code === 0) return "ahead";
  // Such a tree is not staged, but a person is sent to look at it.
  await dissolveRepositories(worktree, base.baseSha);
  return "diverged";
}

/** Takes the agent's own commits back into the tree: their content stays as changes against `baseSha`. */
export async function foldAgentCommits(worktree: Worktree, baseSha: string): Promise<void> {
  // Not `reset --soft`: that refuses when the index has unmerged entries.
  await gitIn(worktree, ["update-ref", "-m", "prloom: fold the agent's commits", "HEAD", baseSha]);
}
