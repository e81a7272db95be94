import { mkdirSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { checkoutFiles, checkoutTree } from "../../git/worktree/checkout-tree.ts";
import type { Worktree } from "../../git/worktree/worktrees.ts";
import { existsNoFollow, readTextIfExists, readTextNoFollow, writeFileAtomic } from "../../kernel/files.ts";
import { removeTree } from "../../kernel/removal/remove-tree.ts";
import type { Reporting } from "../capabilities.ts";
import type { Located } from "../paths.ts";
import type { Configured } from "../settings/pinned.ts";
import { copyFiles } from "./copy-files.ts";

/** In a run's folder: what it sees in the place of the worktree. */
const VIEW = "view";

/**
 * Makes a folder with the files of a commit or tree and of `copyFiles`, for a run that judges the work of others: what those
 * left in the worktree beside it (ignored files, installed packages, build output) would run or mislead there.
 */
export async function makeView(
  loom: Located & Configured & Reporting,
  worktree: Worktree,
  of: { runDir: string; tree: string },
): Promise<string> {
  const view = join(of.runDir, VIEW);
  await removeView(of.runDir);
  mkdirSync(view);
  await checkoutTree(worktree, of.tree, view);
  await copyFiles(loom, view, true);
  return view;
}

/** In a run's folder: what it left in its view. */
const LEFT_IN_VIEW = "left-in-view.json";
const leftSchema = z.object({ text: z.string().optional() });

/**
 * The file that a run left, in its view if it had one; the view is removed. What was read is kept first: looked for again after a
 * kill it would be taken from the worktree, where the worker may have put one.
 */
export async function takeLeft(runDir: string, worktree: string, file: string): Promise<string | undefined> {
  const kept = join(runDir, LEFT_IN_VIEW);
  const view = join(runDir, VIEW);
  if (!existsNoFollow(kept)) {
    if (!existsNoFollow(view)) return readTextNoFollow(worktree, file);
    writeFileAtomic(kept, JSON.stringify({ text: readTextNoFollow(view, file) }));
  }
  await removeView(runDir);
  return leftSchema.parse(JSON.parse(readTextIfExists(kept) ?? "")).text;
}

/** Removes the view of a run, whole or half made, when all that counts was read. */
export async function removeView(runDir: string): Promise<void> {
  const view = join(runDir, VIEW);
  for (const path of [view, ...checkoutFiles(view)]) await removeTree(path);
}
