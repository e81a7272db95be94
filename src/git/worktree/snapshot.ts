import { stagedTree } from "../commits/commit.ts";
import { clearHidingFlags } from "../staging/hiding-flags.ts";
import { removeRules } from "../staging/rule-files.ts";
import { stageAll } from "../staging/stage.ts";
import { exactly } from "./prepared-files.ts";
import { repairGitFile } from "./repair.ts";
import { contentsOf, insistently, savePartial } from "./reset.ts";
import { foldAgentCommits, headState, settleHead } from "./settle-head.ts";
import { gitIn, type Worktree } from "./worktrees.ts";

const LOCAL = "prloom/.local";

/** A working tree as it was at one moment, with the branch it stood on. */
export interface KeptTree {
  readonly tree: string;
  readonly branch: string;
  readonly head: string;
  /** Files of the user that are copied into worktrees and belong to no tree. */
  readonly leaveOut: readonly string[];
}

/** Remembers what a working tree holds, uncommitted changes included. */
export async function keepTree(worktree: Worktree, kept: Omit<KeptTree, "tree">): Promise<KeptTree> {
  await stageAll(worktree, kept.leaveOut);
  return { ...kept, tree: await stagedTree(worktree) };
}

/**
 * Puts a working tree back to what it was, keeps what was changed as a patch, and returns that, if there was anything. Index
 * and files are put back, the branch is moved only if it was moved meanwhile; ignored files stay. What prloom had `placed`
 * there meanwhile is not a change.
 */
export async function restoreTree(
  worktree: Worktree,
  kept: KeptTree,
  { patchFile, placed }: { readonly patchFile: string; readonly placed?: string | undefined },
): Promise<string | undefined> {
  const { tree, branch, head, leaveOut } = kept;
  await repairGitFile(worktree);
  await keepTip(worktree, branch, head);
  const state = await headState(worktree, { branch, baseSha: head });
  if (state === "ahead") await foldAgentCommits(worktree, head);
  if (state === "diverged") {
    await settleHead(worktree, { branch, baseSha: head });
    await gitIn(worktree, ["update-ref", "--no-deref", "-m", "prloom: put back", `refs/heads/${branch}`, head]);
  }
  const patch = await savePartial(worktree, { baseSha: placed ?? tree, patchFile, leaveOut });
  if (patch !== undefined || placed !== undefined) await placeTree(worktree, { tree, leaveOut });
  return patch;
}

/** Makes index and files those of a tree; the branch stays where it is, ignored files too. */
export async function placeTree(
  worktree: Worktree,
  { tree, leaveOut }: Pick<KeptTree, "tree" | "leaveOut">,
): Promise<void> {
  await clearHidingFlags(worktree);
  const spared = [LOCAL, ...leaveOut].flatMap((path) => ["-e", exactly(path)]);
  const { files } = await contentsOf(worktree, tree);
  // `checkout-index` goes by the attributes on disk, and those may be the ones that are to be taken back.
  await removeRules(worktree, files);
  await insistently(worktree, async () => {
    await gitIn(worktree, ["read-tree", "--reset", tree]);
    await gitIn(worktree, ["checkout-index", "--all", "--force", "--quiet"]);
    await gitIn(worktree, ["clean", "--quiet", "-ffd", ...spared]);
  });
}

/** The files in which two trees differ. */
export async function changedNames(worktree: Worktree, from: string, to: string): Promise<string[]> {
  if (from === to) return [];
  const { stdout } = await gitIn(worktree, ["diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to]);
  return stdout.split("\0").filter((name) => name !== "");
}

/** Commits that are about to leave the branch stay findable, an agent's as well as a person's. */
export async function keepTip(worktree: Worktree, branch: string, head: string): Promise<void> {
  const found = await gitIn(worktree, ["rev-parse", "--verify", "--quiet", `refs/heads/${branch}`], { allowExit: [1] });
  const tip = found.stdout.trim();
  if (tip !== "" && tip !== head) await gitIn(worktree, ["update-ref", `refs/prloom/aside/${tip}`, tip]);
}
