import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { checkoutTree } from "../../git/checkout-tree.ts";
import type { Worktree } from "../../git/worktrees.ts";
import { existsNoFollow } from "../../kernel/files.ts";
import { removeTree } from "../../kernel/remove-tree.ts";
import type { Loom } from "../loom.ts";
import { copyFiles } from "./copy-files.ts";

/** In a run's folder: what it sees in the place of the worktree. */
const VIEW = "view";

/**
 * Makes a folder with the files of a commit or tree and of `copyFiles`, for a run that judges the work of others: what those
 * left in the worktree beside it (ignored files, installed packages, build output) would run or mislead there.
 */
export async function makeView(loom: Loom, worktree: Worktree, of: { runDir: string; tree: string }): Promise<string> {
  const view = join(of.runDir, VIEW);
  await removeTree(view);
  mkdirSync(view);
  await checkoutTree(worktree, of.tree, view);
  await copyFiles(loom, view, true);
  return view;
}

/** Where a run left its files: in its view, if it had one. */
export function seenBy(runDir: string, worktree: string): string {
  const view = join(runDir, VIEW);
  return existsNoFollow(view) ? view : worktree;
}

/** Removes the view of a run when all that counts was read. */
export function removeView(runDir: string): Promise<void> {
  return removeTree(join(runDir, VIEW));
}
