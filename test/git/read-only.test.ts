import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { writePlainCommit } from "../../src/git/commits/write-commit.ts";
import { createBranch } from "../../src/git/refs.ts";
import { stageAll } from "../../src/git/staging/stage.ts";
import { stagedChanges } from "../../src/git/staging/staged-changes.ts";
import { registerWorktree } from "../../src/git/worktree/register.ts";
import { repairGitFile } from "../../src/git/worktree/repair.ts";
import { resetTo } from "../../src/git/worktree/reset.ts";
import { removeWorktree } from "../../src/git/worktree/worktrees.ts";
import { BASE_FILES, BRANCH, IDENTITY, plainGit, planSandbox, write } from "./fixture.ts";

const NOBODY = 65_534;

/** Root may do anything, so the test would prove nothing: become another user who owns the files. */
async function asOwner(dir: string, act: () => Promise<void>): Promise<void> {
  const asRoot = process.getuid?.() === 0;
  if (asRoot) execFileSync("chown", ["-R", String(NOBODY), dir]);
  if (asRoot) process.seteuid?.(NOBODY);
  try {
    await act();
  } finally {
    if (asRoot) process.seteuid?.(0);
  }
}

test("a worktree that the agent closed as a whole is opened again", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { worktree, baseSha } = box;
  write(worktree.path, { "src/deep/c.ts": "changed\n" });
  await asOwner(box.dir, async () => {
    for (const mode of [0o000, 0o555]) {
      chmodSync(worktree.path, mode);
      await repairGitFile(worktree);
      await stageAll(worktree);
      assert.deepEqual((await stagedChanges(worktree, baseSha)).files, ["src/deep/c.ts"]);
    }
    chmodSync(worktree.path, 0o000);
    await repairGitFile(worktree);
    await resetTo(worktree, baseSha, BRANCH);
    assert.equal(readFileSync(join(worktree.path, "src/deep/c.ts"), "utf8"), BASE_FILES["src/deep/c.ts"]);
  });
});

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
  lock();
  await asOwner(box.dir, async () => {
    await resetTo(worktree, baseSha, BRANCH);
    assert.equal(readFileSync(join(worktree.path, "src/deep/c.ts"), "utf8"), BASE_FILES["src/deep/c.ts"]);
    assert.equal(existsSync(join(worktree.path, "junk")), false);
    assert.equal(existsSync(join(worktree.path, "ignored/y")), true);
    lock();
    await removeWorktree(repo, worktree.path);
    assert.equal(existsSync(worktree.path), false);
    assert.equal(readFileSync(join(box.dir, "outside/keep.txt"), "utf8"), "keep\n");
  });
});

test("what may not be written into the repository is left to git, which says so", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { worktree, baseSha } = box;
  const { commonDir } = worktree;
  const tree = plainGit(worktree.path, "rev-parse", "HEAD^{tree}").trim();
  const commit = { branch: BRANCH, tree, parent: baseSha, message: "m\n", identity: IDENTITY, why: "test" };
  const other = { commonDir, path: join(box.dir, "other"), branch: "prloom/other", baseSha };
  await asOwner(box.dir, async () => {
    const folders = ["objects", "refs", "worktrees"].map((name) => join(commonDir, name));
    execFileSync("chmod", ["-R", "a-w", ...folders]);
    try {
      assert.equal(createBranch(commonDir, "prloom/other", baseSha), false);
      assert.equal(await writePlainCommit(worktree, commit), undefined);
      assert.equal(registerWorktree(other, []), undefined);
    } finally {
      execFileSync("chmod", ["-R", "u+w", ...folders]);
    }
  });
});
