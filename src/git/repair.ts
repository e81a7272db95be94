import { lstatSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { existsNoFollow, readTextNoFollow, writeFileAtomic } from "../kernel/files.ts";
import { removeTree } from "./tree.ts";
import type { Worktree } from "./worktrees.ts";

async function replace(path: string, text: string): Promise<void> {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) await removeTree(path);
  writeFileAtomic(path, text);
}

/** Makes `<path>/.git` again the plain file that names our admin folder; says whether it was something else. */
export async function repairGitFile(worktree: Worktree): Promise<boolean> {
  const target = /^gitdir: (.+)\n$/.exec(readTextNoFollow(worktree.path, ".git") ?? "")?.[1];
  if (target !== undefined && resolve(worktree.path, target) === worktree.gitDir) return false;
  await replace(join(worktree.path, ".git"), `gitdir: ${worktree.gitDir}\n`);
  return true;
}

/** Puts right what binds folder, admin folder and repository together, and drops configuration of this worktree alone. */
export async function repairWorktree(worktree: Worktree): Promise<void> {
  await repairGitFile(worktree);
  const { gitDir, commonDir, path } = worktree;
  const common = readTextNoFollow(gitDir, "commondir")?.trimEnd();
  if (!common || resolve(gitDir, common) !== commonDir) await replace(join(gitDir, "commondir"), `${commonDir}\n`);
  const back = readTextNoFollow(gitDir, "gitdir")?.trimEnd();
  if (!back || dirname(resolve(gitDir, back)) !== path)
    await replace(join(gitDir, "gitdir"), `${join(path, ".git")}\n`);
  // We never write it, and what the user may have had there (a sparse checkout) does not apply to plan worktrees.
  const ownConfig = join(gitDir, "config.worktree");
  if (existsNoFollow(ownConfig)) await removeTree(ownConfig);
}
