import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  branchExists,
  commitIdentity,
  currentBranch,
  defaultBaseBranch,
  ensureIgnored,
  openRepository,
  requireCommits,
  resolveCommit,
} from "../../src/git/repository.ts";
import { git, requireGitVersion } from "../../src/git/run.ts";
import { readTextIfExists } from "../../src/kernel/files.ts";
import { plainGit, sandbox } from "./fixture.ts";

test("the main working tree is found from a subdirectory, a linked worktree and inside .git", async (t) => {
  const box = await sandbox();
  t.after(box.close);
  const linked = join(box.dir, "linked");
  plainGit(box.repo.root, "worktree", "add", "-q", linked, "-b", "side");
  for (const from of ["repo/src/deep", "linked", "linked/src", "repo/.git"]) {
    assert.deepEqual(await openRepository(join(box.dir, from)), box.repo, from);
  }
  assert.equal(box.repo.root, join(box.dir, "repo"));
  assert.equal(box.repo.commonDir, join(box.dir, "repo/.git"));
});

test("a bare repository and its worktree say that they are bare", async (t) => {
  const box = await sandbox();
  t.after(box.close);
  const bare = join(box.dir, "bare.git");
  plainGit(box.dir, "clone", "-q", "--bare", box.repo.root, bare);
  plainGit(bare, "worktree", "add", "-q", join(box.dir, "linked"), "main");
  const expected = { root: bare, commonDir: bare, bare: true };
  assert.deepEqual(await openRepository(bare), expected);
  assert.deepEqual(await openRepository(join(box.dir, "linked")), expected);
});

test("a folder without repository, and a repository without commits, are told with the command to type", async (t) => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "prloom-git-")));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  await assert.rejects(openRepository(dir), { code: "not-a-repository", hint: /git init/ });
  plainGit(dir, "init", "-q", "-b", "trunk");
  const repo = await openRepository(dir);
  await assert.rejects(requireCommits(repo), { code: "no-commits", hint: /git commit/ });
  plainGit(dir, "commit", "-q", "--allow-empty", "-m", "first");
  await requireCommits(repo);
  assert.equal(await currentBranch(repo), "trunk");
});

test("the base branch is origin's, else the checked-out one, else main", async (t) => {
  const box = await sandbox();
  t.after(box.close);
  const { repo } = box;
  plainGit(repo.root, "checkout", "-q", "-b", "feature/x");
  assert.equal(await defaultBaseBranch(repo), "feature/x");
  plainGit(repo.root, "checkout", "-q", "--detach");
  assert.equal(await currentBranch(repo), undefined);
  assert.equal(await defaultBaseBranch(repo), "main");
  plainGit(repo.root, "branch", "develop");
  plainGit(repo.root, "update-ref", "refs/remotes/origin/develop", "HEAD");
  plainGit(repo.root, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/develop");
  assert.equal(await defaultBaseBranch(repo), "develop");
  plainGit(repo.root, "branch", "-D", "develop");
  assert.equal(await defaultBaseBranch(repo), "main");
});

test("revisions resolve to commits, and nonsense to nothing", async (t) => {
  const box = await sandbox();
  t.after(box.close);
  assert.equal(await resolveCommit(box.repo, "main"), box.baseSha);
  for (const rev of ["nowhere", "--all", "", "HEAD:a.txt"])
    assert.equal(await resolveCommit(box.repo, rev), undefined, rev);
  assert.equal(await branchExists(box.repo, "main"), true);
  assert.equal(await branchExists(box.repo, "HEAD"), false);
});

test("the local folder is ignored once, and the user's own lines stay", async (t) => {
  const box = await sandbox();
  t.after(box.close);
  const exclude = join(box.repo.commonDir, "info/exclude");
  writeFileSync(exclude, "*.log");
  assert.equal(ensureIgnored(box.repo), true);
  assert.equal(ensureIgnored(box.repo), false);
  assert.equal(readFileSync(exclude, "utf8"), "*.log\n/prloom/.local/\n");
  rmSync(join(box.repo.commonDir, "info"), { recursive: true });
  assert.equal(ensureIgnored(box.repo), true);
});

test("commits use the user's identity when there is one, else prloom's", async (t) => {
  const box = await sandbox();
  t.after(box.close);
  assert.equal((await commitIdentity(box.repo)).GIT_COMMITTER_EMAIL, "prloom@localhost");
  plainGit(box.repo.root, "config", "user.name", "Ada");
  assert.equal((await commitIdentity(box.repo)).GIT_AUTHOR_NAME, "prloom");
  plainGit(box.repo.root, "config", "user.email", "ada@example.com");
  assert.deepEqual(await commitIdentity(box.repo), {});
});

test("git is started without the caller's GIT_ variables and without hooks", async (t) => {
  const box = await sandbox();
  t.after(box.close);
  process.env.GIT_DIR = "/nowhere";
  process.env.GIT_INDEX_FILE = "/nowhere/index";
  t.after(() => {
    delete process.env.GIT_DIR;
    delete process.env.GIT_INDEX_FILE;
  });
  assert.deepEqual(await openRepository(box.repo.root), box.repo);
});

test("our git takes no folder for a repository by its shape alone, and runs nothing that its settings name", async (t) => {
  const box = await sandbox();
  t.after(box.close);
  const shaped = join(box.repo.root, "vendor");
  plainGit(box.dir, "clone", "-q", "--bare", box.repo.root, shaped);
  const ran = join(box.dir, "ran");
  plainGit(shaped, "config", "alias.planted", `!touch ${ran}`);
  await assert.rejects(git(["planted"], { cwd: shaped }), /'planted' is not a git command/);
  await assert.rejects(git(["log"], { cwd: shaped }), { kind: "bare-repository" });
  assert.equal(existsSync(ran), false);
});

test("a failure carries git's own words, and a missing folder is not taken for a missing git", async (t) => {
  const box = await sandbox();
  t.after(box.close);
  await assert.rejects(git(["checkout", "nowhere"], { cwd: box.repo.root }), {
    code: "git-failed",
    message: /git checkout nowhere.*pathspec 'nowhere' did not match/,
  });
  await assert.rejects(git(["version"], { cwd: join(box.dir, "gone") }), {
    code: "git-failed",
    message: /gone does not exist/,
  });
  // Words that others choose do not decide a kind: a branch may be called like anything.
  await assert.rejects(git(["checkout", "no answer within 1 s"], { cwd: box.repo.root }), { kind: "other" });
  const allowed = await git(["config", "no.such"], { cwd: box.repo.root, allowExit: [1] });
  assert.equal(allowed.code, 1);
  await requireGitVersion(2, 38);
  await assert.rejects(requireGitVersion(99, 0), { code: "git-too-old" });
});

test("a git that hangs is ended with everything it started", { timeout: 60_000 }, async (t) => {
  const box = await sandbox();
  t.after(box.close);
  mkdirSync(join(box.dir, "pid"));
  plainGit(box.repo.root, "config", "alias.hang", `!echo $$ > ${box.dir}/pid/shell; sleep 1000 & wait`);
  await assert.rejects(git(["hang"], { cwd: box.repo.root, timeoutMs: 1000 }), {
    kind: "timeout",
    message: /no answer within 1 s/,
  });
  const pid = Number(readFileSync(join(box.dir, "pid/shell"), "utf8"));
  // Gone, or dead and waiting for an init that does not collect; a killed process takes a moment to get there.
  const isAlive = () => /^[^XZ]/.test(readTextIfExists(`/proc/${pid}/stat`)?.replace(/^.*\) /s, "") ?? "X");
  while (isAlive()) await nextTurn();
});
