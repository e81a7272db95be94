import { copyFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { existsNoFollow } from "../kernel/files.ts";
import { settleHead } from "./head.ts";
import { splitNul } from "./run.ts";
import { clearHidingFlags, stageInto } from "./stage.ts";
import { makeWritable, removeTree } from "./tree.ts";
import { gitIn, type Worktree } from "./worktrees.ts";

const LOCAL = "prloom/.local";

export interface Partial {
  readonly baseSha: string;
  readonly patchFile: string;
  /** Files that must not get into a patch, such as copied secrets. */
  readonly leaveOut?: readonly string[];
}

/**
 * Keeps what an interrupted run left, untracked files included, as a patch against `baseSha`; says whether there was
 * anything. Call it after `headState`. A patch that is already there is kept: it was made before a reset that did not finish.
 */
export async function savePartial(worktree: Worktree, partial: Partial): Promise<boolean> {
  const { baseSha, patchFile, leaveOut = [] } = partial;
  if (existsNoFollow(patchFile)) return true;
  const indexFile = join(worktree.gitDir, "prloom-partial.index");
  const ownIndex = join(worktree.gitDir, "index");
  const temporary = `${patchFile}.tmp`;
  try {
    rmSync(`${indexFile}.lock`, { force: true });
    rmSync(indexFile, { force: true });
    if (existsNoFollow(ownIndex)) copyFileSync(ownIndex, indexFile);
    await stageInto(worktree, { indexFile, from: baseSha, leaveOut: [LOCAL, ...leaveOut] });
    const diff = ["diff", "--cached", "--no-ext-diff", "--no-textconv", "--no-color", "--binary", "--full-index"];
    await gitIn(worktree, [...diff, `--output=${temporary}`, baseSha], { env: { GIT_INDEX_FILE: indexFile } });
    if (statSync(temporary).size === 0) return false;
    renameSync(temporary, patchFile);
    return true;
  } finally {
    rmSync(temporary, { force: true });
    rmSync(indexFile, { force: true });
  }
}

/** Repositories that an agent made in a folder with tracked files: git looks past them, so `clean` leaves them. */
async function removeStrayRepositories(worktree: Worktree, baseSha: string): Promise<void> {
  const tree = await gitIn(worktree, ["ls-tree", "-r", "-d", "-z", "--full-tree", baseSha]);
  for (const line of splitNul(tree.stdout)) {
    if (!line.startsWith("040000")) continue;
    const stray = join(worktree.path, line.slice(line.indexOf("\t") + 1), ".git");
    if (existsNoFollow(stray)) await removeTree(stray);
  }
}

/**
 * Puts branch, index and tree back to `baseSha`. Untracked files go, nested repositories too; ignored files and
 * `prloom/.local` stay. Links are removed, never followed.
 */
export async function resetTo(worktree: Worktree, baseSha: string, branch: string): Promise<void> {
  await settleHead(worktree, { branch, baseSha });
  await gitIn(worktree, ["update-ref", "--no-deref", "-m", "prloom: reset", `refs/heads/${branch}`, baseSha]);
  await clearHidingFlags(worktree);
  // Before the tree is touched: what the agent committed with force, `prloom/.local` too, is then merely untracked.
  await gitIn(worktree, ["read-tree", "--reset", baseSha]);
  const restore = async () => {
    await gitIn(worktree, ["reset", "--quiet", "--hard", baseSha]);
    await gitIn(worktree, ["clean", "--quiet", "-ffd", "-e", `/${LOCAL}`]);
  };
  try {
    await restore();
  } catch {
    // Most likely a directory that the agent made read-only; anything else fails again, with its own message.
    makeWritable(worktree.path);
    await restore();
  }
  await removeStrayRepositories(worktree, baseSha);
}
