import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { commitStep, stagedTree } from "../../../src/git/commits/commit.ts";
import { stageAll } from "../../../src/git/staging/stage.ts";
import { BRANCH, IDENTITY, plainGit, planSandbox, write } from "../fixture.ts";

type Box = Awaited<ReturnType<typeof planSandbox>>;

async function step({ worktree }: Box, identity: Record<string, string> = IDENTITY): Promise<string> {
  write(worktree.path, { "new.txt": "work\n" });
  await stageAll(worktree);
  const tree = await stagedTree(worktree);
  const trailer = { uid: "01J", todoId: "t-1", attempt: 1 };
  const message = "Grüße an alle\n\nin zwei Zeilen";
  return commitStep(worktree, { branch: BRANCH, message, trailer, identity, allowEmpty: false, tree });
}

/** The same commit by git itself: other bytes would give it another name. */
function madeByGit({ worktree }: Box, sha: string): string {
  const show = (format: string) => plainGit(worktree.path, "show", "-s", `--format=${format}`, sha).trim();
  const [, parent = ""] = plainGit(worktree.path, "rev-list", "--parents", "-1", sha).trim().split(" ");
  const env = {
    PATH: process.env.PATH,
    GIT_AUTHOR_NAME: show("%an"),
    GIT_AUTHOR_EMAIL: show("%ae"),
    GIT_AUTHOR_DATE: show("%ad"),
    GIT_COMMITTER_NAME: show("%cn"),
    GIT_COMMITTER_EMAIL: show("%ce"),
    GIT_COMMITTER_DATE: show("%cd"),
  };
  const text = plainGit(worktree.path, "cat-file", "commit", sha);
  const input = text.slice(text.indexOf("\n\n") + 2);
  const args = ["commit-tree", show("%T"), "-p", parent, "-F", "-"];
  return execFileSync("git", args, { cwd: worktree.path, env, input, encoding: "utf8" }).trim();
}

test("a commit has the bytes that git would have written, and both logs tell of it", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const sha = await step(box);
  assert.equal(madeByGit(box, sha), sha);
  assert.equal(plainGit(box.repo.root, "fsck", "--strict", "--no-dangling").trim(), "");
  for (const ref of [BRANCH, "HEAD"]) {
    assert.equal(plainGit(box.worktree.path, "reflog", "-1", "--format=%H %gs", ref).trim(), `${sha} prloom: step`);
  }
  assert.equal(plainGit(box.worktree.path, "rev-parse", `${BRANCH}@{1}`).trim(), box.baseSha);
  assert.equal(plainGit(box.worktree.path, "status", "--porcelain"), "");
});

test("the user's own name is taken from the settings, and cut as git cuts it", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  plainGit(box.repo.root, "config", "user.name", "Anna, Jr.");
  plainGit(box.repo.root, "config", "user.email", "anna@example.com");
  plainGit(box.repo.root, "config", "committer.name", "Bot");
  const sha = await step(box, {});
  const said = plainGit(box.worktree.path, "show", "-s", "--format=%an <%ae> %cn <%ce>", sha).trim();
  assert.equal(said, "Anna, Jr <anna@example.com> Bot <anna@example.com>");
  assert.equal(madeByGit(box, sha), sha);
});

test("a branch that was packed meanwhile is moved all the same", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  plainGit(box.repo.root, "pack-refs", "--all");
  const sha = await step(box);
  assert.equal(plainGit(box.repo.root, "rev-parse", BRANCH).trim(), sha);
});

test("a branch that a git has locked is not moved, and the lock stays that git's", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const lock = join(box.repo.commonDir, "refs/heads", `${BRANCH}.lock`);
  writeFileSync(lock, "");
  await assert.rejects(step(box), { code: "git-failed" });
  assert.equal(plainGit(box.repo.root, "rev-parse", BRANCH).trim(), box.baseSha);
  assert.ok(existsSync(lock));
});

test("a link in the place of a log is not followed", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const log = join(box.repo.commonDir, "logs/refs/heads", BRANCH);
  const outside = join(box.dir, "outside");
  mkdirSync(dirname(log), { recursive: true });
  symlinkSync(outside, log);
  const sha = await step(box);
  assert.equal(plainGit(box.repo.root, "rev-parse", BRANCH).trim(), sha);
  assert.equal(existsSync(outside), false);
});

test("an empty folder in the place of the branch's log is git's to remove", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  mkdirSync(join(box.repo.commonDir, "logs/refs/heads", BRANCH), { recursive: true });
  const sha = await step(box);
  assert.equal(plainGit(box.repo.root, "rev-parse", BRANCH).trim(), sha);
  for (const ref of ["HEAD", BRANCH]) {
    const log = plainGit(box.worktree.path, "reflog", "--format=%H %gs", ref).split("\n");
    assert.deepEqual(
      log.filter((line) => line.startsWith(sha)),
      [`${sha} prloom: step`],
    );
  }
});
