import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { resetTo } from "../../src/git/worktree/reset.ts";
import { removeWorktree } from "../../src/git/worktree/worktrees.ts";
import { BASE_FILES, BRANCH, planSandbox, write } from "./fixture.ts";

const NOBODY = 65_534;

test("directories that the agent made read-only do not stop a reset or a removal", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { worktree, repo, baseSha } = box;
  write(box.dir, { "outside/keep.txt": "keep\n" });
  write(worktree.path, { "src/deep/c.ts": "changed\n", "junk/deep/x": "x", "ignored/y": "y" });
  symlinkSync(join(box.dir, "outside"), join(worktree.path, "junk/deep/link"));
  const lock = () => {
    for (const folder of ["src/deep", "junk/deep", "junk", "ignored"]) {
      if (existsSync(join(worktree.path, folder))) chmodSync(join(worktree.path, folder), 0o555);
    }
  };
  const asRoot = process.getuid?.() === 0;
  // Root may write anywhere, so the test would prove nothing: become somebody else who owns the files.
  if (asRoot) execFileSync("chown", ["-R", String(NOBODY), box.dir]);
  lock();
  if (asRoot) process.seteuid?.(NOBODY);
  try {
    await resetTo(worktree, baseSha, BRANCH);
    assert.equal(readFileSync(join(worktree.path, "src/deep/c.ts"), "utf8"), BASE_FILES["src/deep/c.ts"]);
    assert.equal(existsSync(join(worktree.path, "junk")), false);
    assert.equal(existsSync(join(worktree.path, "ignored/y")), true);
    lock();
    await removeWorktree(repo, worktree.path);
    assert.equal(existsSync(worktree.path), false);
    assert.equal(readFileSync(join(box.dir, "outside/keep.txt"), "utf8"), "keep\n");
  } finally {
    if (asRoot) process.seteuid?.(0);
  }
});
