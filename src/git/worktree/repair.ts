import { realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { PrloomError } from "../../kernel/errors.ts";
import { existsNoFollow, readTextNoFollow } from "../../kernel/files.ts";
import { placeFile } from "../../kernel/held/files.ts";
import { unlockRoot } from "../../kernel/held/folder.ts";
import { removeTree } from "../../kernel/removal/remove-tree.ts";
import { isAnothers, type Worktree } from "./worktrees.ts";

/** Makes `<path>/.git` again the plain file that names our admin folder; returns whether it was something else. Another repository's stays. */
export async function repairGitFile(worktree: Worktree): Promise<boolean> {
  unlockRoot(worktree.path);
  const target = /^gitdir: (.+)\n$/.exec(readTextNoFollow(worktree.path, ".git") ?? "")?.[1];
  if (target !== undefined && resolve(worktree.path, target) === worktree.gitDir) return false;
  if (isAnothers(worktree.path, worktree.commonDir))
    throw new PrloomError(
      "plan-state",
      `${worktree.path} is a worktree of another repository.`,
      `Finish or move that one (\`git -C ${worktree.path} worktree move . <folder>\`), then try again. Give each repository a \`worktreesDir\` of its own.`,
    );
  placeFile(worktree.path, ".git", `gitdir: ${worktree.gitDir}\n`, 0o644);
  return true;
}

/** Puts right what binds folder, admin folder and repository together, and drops configuration of this worktree alone. */
export async function repairWorktree(worktree: Worktree): Promise<void> {
  await repairGitFile(worktree);
  const { gitDir, commonDir, path } = worktree;
  const common = readTextNoFollow(gitDir, "commondir")?.trimEnd();
  if (!common || resolve(gitDir, common) !== commonDir) placeFile(gitDir, "commondir", `${commonDir}\n`, 0o644);
  const back = readTextNoFollow(gitDir, "gitdir")?.trimEnd();
  // It names the real folder where a person made a link to the folder of worktrees.
  const isBack = back && [path, realpathSync.native(path)].includes(dirname(resolve(gitDir, back)));
  if (!isBack) placeFile(gitDir, "gitdir", `${join(path, ".git")}\n`, 0o644);
  // We never write it, and what the user may have had there (a sparse checkout) does not apply to plan worktrees.
  const ownConfig = join(gitDir, "config.worktree");
  if (existsNoFollow(ownConfig)) await removeTree(ownConfig);
}
