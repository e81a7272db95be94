import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { copyFileSync, lutimesSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { stageAll } from "../../../src/git/staging/stage.ts";
import { stagedChanges } from "../../../src/git/staging/staged-changes.ts";
import type { Worktree } from "../../../src/git/worktree/worktrees.ts";
import { plainGit, planSandbox, write } from "../fixture.ts";

/** Stages what a run left; tells the files, and how often the tree was read into the index. */
async function staged(worktree: Worktree, baseSha: string): Promise<{ files: string[]; reads: number }> {
  const children: ChildProcess[] = [];
  // What it is started with is not known yet at that moment.
  const count = (message: unknown): void => void children.push((message as { process: ChildProcess }).process);
  subscribe("child_process", count);
  try {
    await stageAll(worktree);
  } finally {
    unsubscribe("child_process", count);
  }
  const reads = children.filter(({ spawnargs }) => spawnargs.includes("read-tree")).length;
  return { files: (await stagedChanges(worktree, baseSha)).files.sort(), reads };
}

test("an index that is as git made it is staged into as it is, once", async (t) => {
  const { worktree, baseSha, close } = await planSandbox();
  t.after(close);
  write(worktree.path, { "a.txt": "changed\n", "new.txt": "new\n" });
  assert.deepEqual(await staged(worktree, baseSha), { files: ["a.txt", "new.txt"], reads: 0 });
  write(worktree.path, { "b.txt": "changed\n" });
  assert.deepEqual(await staged(worktree, baseSha), { files: ["a.txt", "b.txt", "new.txt"], reads: 1 });
});

test("what an agent puts in its place has no say, even if it looks the same", async (t) => {
  const { worktree, baseSha, close } = await planSandbox();
  t.after(close);
  const index = join(worktree.gitDir, "index");
  const { atime, mtime } = statSync(index);
  write(worktree.path, { "a.txt": "changed\n" });
  plainGit(worktree.path, "update-index", "--assume-unchanged", "a.txt");
  lutimesSync(index, atime, mtime);
  assert.deepEqual(await staged(worktree, baseSha), { files: ["a.txt"], reads: 1 });
});

test("nor has one of the same bytes that is another file", async (t) => {
  const { worktree, baseSha, close } = await planSandbox();
  t.after(close);
  const index = join(worktree.gitDir, "index");
  copyFileSync(index, `${index}.new`);
  renameSync(`${index}.new`, index);
  assert.deepEqual(await staged(worktree, baseSha), { files: [], reads: 1 });
});

test("nor has one that was made for another commit than HEAD", async (t) => {
  const { worktree, repo, baseSha, close } = await planSandbox();
  t.after(close);
  const tree = plainGit(repo.root, "rev-parse", "HEAD^{tree}").trim();
  const other = plainGit(repo.root, "commit-tree", tree, "-p", baseSha, "-m", "other").trim();
  writeFileSync(join(repo.commonDir, "refs/heads/prloom/plan"), `${other}\n`);
  assert.equal((await staged(worktree, baseSha)).reads, 1);
});
