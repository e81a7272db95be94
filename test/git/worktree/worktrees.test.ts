import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { branchTip } from "../../../src/git/repository.ts";
import { repairGitFile } from "../../../src/git/worktree/repair.ts";
import { headState } from "../../../src/git/worktree/settle-head.ts";
import {
  addWorktree,
  isForeign,
  listWorktrees,
  removeWorktree,
  type Worktree,
  worktreeHealth,
} from "../../../src/git/worktree/worktrees.ts";
import { thorough } from "../../testing/thorough.ts";
import { BRANCH, plainGit, planSandbox, sandbox, write } from "../fixture.ts";

test("a worktree is made on its branch, is found again by its path, and goes without a trace", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { repo, worktree, baseSha } = box;
  assert.equal(worktree.gitDir, join(repo.commonDir, "worktrees/plan"));
  const entry = (await listWorktrees(repo)).find((one) => one.path === worktree.path);
  assert.deepEqual(entry, { path: worktree.path, bare: false, head: baseSha, branch: BRANCH });
  assert.equal(worktreeHealth(worktree), "ok");
  await removeWorktree(repo, worktree.path);
  assert.equal(worktreeHealth(worktree), "missing");
  assert.equal((await listWorktrees(repo)).length, 1);
  assert.equal(await branchTip(repo, BRANCH), baseSha);
  await removeWorktree(repo, worktree.path);
});

test("two worktrees whose folders have the same name get an admin folder each", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const path = join(box.dir, "elsewhere/plan");
  const added = await addWorktree(box.repo, { path, branch: "other", baseSha: box.baseSha });
  assert.equal(added.kind, "added");
  assert.equal(added.kind === "added" && added.worktree.name, "plan1");
  await removeWorktree(box.repo, path);
  assert.equal(worktreeHealth(box.worktree), "ok");
});

test("a branch that exists is not taken, unless the record says that it is ours and it contains the base", async (t) => {
  const box = await sandbox();
  t.after(box.close);
  const { repo, baseSha } = box;
  const request = { path: join(box.dir, "plan"), branch: BRANCH, baseSha };
  plainGit(repo.root, "branch", BRANCH);
  assert.deepEqual(await addWorktree(repo, request), { kind: "branch-exists", tip: baseSha });
  assert.equal(existsSync(request.path), false);
  assert.equal((await addWorktree(repo, { ...request, reuseBranch: true })).kind, "added");
  write(request.path, { "new.txt": "work\n" });
  plainGit(request.path, "add", "-A");
  plainGit(request.path, "commit", "-q", "-m", "step");
  rmSync(request.path, { recursive: true });
  const again = await addWorktree(repo, { ...request, reuseBranch: true });
  assert.equal(again.kind, "added");
  assert.equal(readFileSync(join(request.path, "new.txt"), "utf8"), "work\n");
  await removeWorktree(repo, request.path);
  const orphan = plainGit(repo.root, "commit-tree", "HEAD^{tree}", "-m", "unrelated").trim();
  plainGit(repo.root, "branch", "-f", BRANCH, orphan);
  assert.deepEqual(await addWorktree(repo, { ...request, reuseBranch: true }), { kind: "branch-exists", tip: orphan });
});

test("a `git worktree add` killed half way is cleared away and made again whole", async (t) => {
  const files = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`f${index}.txt`, `${index}\n`]));
  const box = await sandbox({ ...files, ".gitattributes": "f2*.txt filter=slow\n" });
  t.after(box.close);
  const { repo, baseSha } = box;
  const path = join(box.dir, "plan");
  plainGit(repo.root, "config", "filter.slow.smudge", "echo started >&2; exec sleep 1000");
  const child = spawn("git", ["worktree", "add", "-q", "-b", BRANCH, path, baseSha], {
    cwd: repo.root,
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
  });
  await once(child.stderr, "data");
  process.kill(-(child.pid ?? 0), "SIGKILL");
  await once(child, "close");
  assert.match(plainGit(repo.root, "worktree", "list", "--porcelain"), /^locked/m);
  assert.ok((await listWorktrees(repo)).some((entry) => entry.path === path));
  plainGit(repo.root, "config", "--unset", "filter.slow.smudge");
  assert.equal((await addWorktree(repo, { path, branch: BRANCH, baseSha })).kind, "branch-exists");
  const added = await addWorktree(repo, { path, branch: BRANCH, baseSha, reuseBranch: true });
  assert.equal(added.kind, "added");
  assert.equal(plainGit(path, "status", "--porcelain"), "");
  assert.equal((await listWorktrees(repo)).length, 2);
  assert.equal(readFileSync(join(path, "f39.txt"), "utf8"), "39\n");
});

test("a checkout that fails leaves what can be told to be ours, also on a branch that was there", async (t) => {
  const box = await sandbox({ "a.txt": "a\n", "z.txt": "z\n", ".gitattributes": "z.txt filter=broken\n" });
  t.after(box.close);
  const { repo, baseSha } = box;
  const path = join(box.dir, "plan");
  plainGit(repo.root, "config", "filter.broken.smudge", "false");
  plainGit(repo.root, "config", "filter.broken.clean", "cat");
  plainGit(repo.root, "config", "filter.broken.required", "true");
  plainGit(repo.root, "branch", BRANCH, baseSha);
  const request = { path, branch: BRANCH, baseSha, reuseBranch: true, trustedFilters: ["broken"] };
  await assert.rejects(addWorktree(repo, request), /broken/);
  // Git's own clean-up would be under way here: a kill in the middle of it leaves a.txt and no word of whose it is.
  assert.ok(readdirSync(path).includes(".git"));
  assert.equal(isForeign(repo, path), false);
  plainGit(repo.root, "config", "filter.broken.smudge", "cat");
  assert.equal((await addWorktree(repo, request)).kind, "added");
  assert.equal(plainGit(path, "status", "--porcelain"), "");
});

test("leftovers at the path and in the admin folder are removed, links are not followed", async (t) => {
  const box = await sandbox();
  t.after(box.close);
  const { repo, baseSha } = box;
  const path = join(box.dir, "plan");
  const precious = join(box.dir, "precious");
  write(precious, { "keep.txt": "keep\n" });
  symlinkSync(precious, path);
  write(repo.commonDir, { "worktrees/plan/locked": "initializing\n", "worktrees/planet/locked": "not ours\n" });
  const added = await addWorktree(repo, { path, branch: BRANCH, baseSha });
  assert.equal(added.kind === "added" && added.worktree.name, "plan");
  assert.ok(existsSync(join(repo.commonDir, "worktrees/planet")));
  symlinkSync(precious, join(path, "link"));
  await removeWorktree(repo, path);
  assert.equal(readFileSync(join(precious, "keep.txt"), "utf8"), "keep\n");
  await assert.rejects(removeWorktree(repo, box.dir), /refusing/);
  assert.ok(existsSync(join(repo.root, "a.txt")));
});

test("health tells a missing folder from a broken binding", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  rmSync(box.worktree.gitDir, { recursive: true });
  assert.equal(worktreeHealth(box.worktree), "broken");
  rmSync(box.worktree.path, { recursive: true });
  assert.equal(worktreeHealth(box.worktree), "missing");
  symlinkSync(box.repo.root, box.worktree.path);
  assert.equal(worktreeHealth(box.worktree), "broken");
});

const gitFileTricks: Record<string, (worktree: Worktree, dir: string) => void> = {
  deleted: ({ path }) => unlinkSync(join(path, ".git")),
  "pointed elsewhere": ({ path }, dir) => writeFileSync(join(path, ".git"), `gitdir: ${dir}/evil\n`),
  "a repository of its own": ({ path }) => {
    unlinkSync(join(path, ".git"));
    plainGit(path, "init", "-q");
  },
  "a link to a file that must not be overwritten": ({ path }, dir) => {
    unlinkSync(join(path, ".git"));
    write(dir, { "precious.txt": "keep\n" });
    symlinkSync(join(dir, "precious.txt"), join(path, ".git"));
  },
  empty: ({ path }) => writeFileSync(join(path, ".git"), ""),
};

for (const [name, trick] of Object.entries(gitFileTricks)) {
  test(`the worktree's .git file is restored: ${name}`, async (t) => {
    const box = await planSandbox();
    t.after(box.close);
    write(box.dir, { "precious.txt": "keep\n" });
    trick(box.worktree, box.dir);
    assert.equal(await repairGitFile(box.worktree), true);
    assert.equal(await repairGitFile(box.worktree), false);
    assert.equal(plainGit(box.worktree.path, "rev-parse", "--abbrev-ref", "HEAD").trim(), BRANCH);
    assert.equal(readFileSync(join(box.dir, "precious.txt"), "utf8"), "keep\n");
  });
}

test("a rewritten admin folder cannot lead git to another repository", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { worktree } = box;
  const evil = join(box.dir, "evil");
  mkdirSync(evil);
  plainGit(evil, "init", "-q");
  writeFileSync(join(worktree.gitDir, "commondir"), `${evil}/.git\n`);
  writeFileSync(join(worktree.gitDir, "gitdir"), `${evil}/.git\n`);
  writeFileSync(join(worktree.gitDir, "config.worktree"), `[core]\n\tworktree = ${evil}\n`);
  plainGit(box.repo.root, "config", "extensions.worktreeConfig", "true");
  assert.equal(await headState(worktree, { branch: BRANCH, baseSha: box.baseSha }), "at-base");
  assert.equal(plainGit(worktree.path, "status", "--porcelain"), "");
  assert.equal(readFileSync(join(worktree.gitDir, "gitdir"), "utf8"), `${worktree.path}/.git\n`);
  assert.ok((await listWorktrees(box.repo)).some(({ path }) => path === worktree.path));
});

test("a worktree of a person whose disk is away keeps no plan from getting its own", async (t) => {
  const box = await sandbox();
  t.after(box.close);
  const { repo, dir, baseSha } = box;
  plainGit(repo.root, "worktree", "add", "-q", "-b", "theirs", join(dir, "work/theirs"));
  rmSync(join(dir, "work"), { recursive: true });
  symlinkSync("/away/work", join(dir, "work"));
  const added = await addWorktree(repo, { path: join(dir, "plan"), branch: BRANCH, baseSha });
  assert.equal(added.kind, "added");
  assert.match(plainGit(repo.root, "worktree", "list"), /theirs/);
});

test("a branch that is put back takes no branches of a person away that have its place", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { repo, worktree, baseSha } = box;
  plainGit(repo.root, "branch", "-m", BRANCH, "mine");
  plainGit(repo.root, "branch", `${BRANCH}/second`);
  await assert.rejects(headState(worktree, { branch: BRANCH, baseSha }), /prloom\/plan\/second/);
  assert.equal(plainGit(repo.root, "rev-parse", `${BRANCH}/second`).trim(), baseSha);
  plainGit(repo.root, "branch", "-D", `${BRANCH}/second`);
  assert.equal(await headState(worktree, { branch: BRANCH, baseSha }), "at-base");
});

test("no plan waits for the removal of another's worktree, however much lies in it", thorough, async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { repo, worktree, baseSha } = box;
  const folder = join(worktree.path, "many");
  mkdirSync(folder);
  for (let at = 0; at < 60_000; at += 1) writeFileSync(join(folder, String(at)), "");
  const order: string[] = [];
  const request = { path: join(box.dir, "other"), branch: "prloom/other", baseSha };
  await Promise.all([
    removeWorktree(repo, worktree.path).then(() => order.push("removed")),
    addWorktree(repo, request).then(({ kind }) => order.push(kind)),
  ]);
  assert.deepEqual(order, ["added", "removed"]);
});
