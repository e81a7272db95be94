import { join } from "node:path";
import { crashPoint } from "../../kernel/crash-point.ts";
import { existsNoFollow } from "../../kernel/files.ts";
import { removeTree } from "../../kernel/removal/remove-tree.ts";
import { gitAt, type Repository } from "../repository.ts";
import { repairWorktree } from "./repair.ts";
import { gitIn, inTurn, isTreeOf, type Worktree } from "./worktrees.ts";

/**
 * Makes git know again of a worktree that it has forgotten (`git worktree prune` while its disk was away), if its folder is
 * there: what lies in it is in no commit, perhaps.
 */
export async function readmitWorktree(repo: Repository, worktree: Worktree, branch: string): Promise<void> {
  const { path, name, gitDir, commonDir } = worktree;
  if (!isTreeOf(path, gitDir)) return;
  // Git makes its folder for a new place, which is exchanged then; a kill leaves that place to be found.
  const place = join(commonDir, "prloom-readmit", name);
  if (!existsNoFollow(gitDir)) {
    await removeTree(place);
    await inTurn(() => gitAt(repo, ["worktree", "add", "--quiet", "--no-checkout", place, branch]));
    crashPoint("worktree:readmitted");
  } else if (!existsNoFollow(place)) return;
  await repairWorktree(worktree);
  await gitIn(worktree, ["read-tree", "HEAD"]);
  await removeTree(place);
}
