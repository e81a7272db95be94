import { rmSync } from "node:fs";
import { gitIn, type Worktree } from "./worktrees.ts";

const CHECKOUT_TIMEOUT_MS = 900_000;

/** Files beside the folder while it is being written; a kill, or a git that outlives one, leaves them. */
export function checkoutFiles(dir: string): [index: string, lock: string] {
  return [`${dir}.index`, `${dir}.index.lock`];
}

/** Writes the files of a commit or tree into a new folder; the worktree and its index are not touched. */
export async function checkoutTree(worktree: Worktree, tree: string, dir: string): Promise<void> {
  const [indexFile] = checkoutFiles(dir);
  const options = { env: { GIT_INDEX_FILE: indexFile }, timeoutMs: CHECKOUT_TIMEOUT_MS };
  try {
    await gitIn(worktree, ["read-tree", tree], options);
    await gitIn(worktree, ["checkout-index", "--all", "--force", "--quiet", `--prefix=${dir}/`], options);
  } finally {
    for (const file of checkoutFiles(dir)) rmSync(file, { force: true });
  }
}
