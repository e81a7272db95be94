import { rmSync } from "node:fs";
import { gitIn, type Worktree } from "./worktrees.ts";

const CHECKOUT_TIMEOUT_MS = 900_000;

/** Writes the files of a commit or tree into a new folder; the worktree and its index are not touched. */
export async function checkoutTree(worktree: Worktree, tree: string, dir: string): Promise<void> {
  const indexFile = `${dir}.index`;
  const options = { env: { GIT_INDEX_FILE: indexFile }, timeoutMs: CHECKOUT_TIMEOUT_MS };
  try {
    await gitIn(worktree, ["read-tree", tree], options);
    await gitIn(worktree, ["checkout-index", "--all", "--force", "--quiet", `--prefix=${dir}/`], options);
  } finally {
    for (const file of [indexFile, `${indexFile}.lock`]) rmSync(file, { force: true });
  }
}
