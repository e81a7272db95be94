import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createBranch } from "../../../src/git/refs.ts";
import { branchTip } from "../../../src/git/repository.ts";
import { addWorktree } from "../../../src/git/worktree/worktrees.ts";
import { thorough } from "../../testing/thorough.ts";
import { BRANCH, plainGit, sandbox } from "../fixture.ts";

const RECORD = ["HEAD", "commondir", "gitdir"];

test("the record of a new worktree is what git writes itself", async (t) => {
  const box = await sandbox();
  t.after(box.close);
  const { repo, baseSha } = box;
  const path = join(box.dir, "trees/plan");
  assert.equal((await addWorktree(repo, { path, branch: BRANCH, baseSha })).kind, "added");
  plainGit(repo.root, "worktree", "add", "-q", "-b", "prloom/other", join(box.dir, "trees/other"), baseSha);
  const admin = (name: string) => join(repo.commonDir, "worktrees", name);
  const textsOf = (name: string) => RECORD.map((file) => readFileSync(join(admin(name), file), "utf8"));
  assert.deepEqual(
    textsOf("plan"),
    textsOf("other").map((text) => text.replace("other", "plan")),
  );
  // Later gits make a folder `refs` as well, which is empty.
  const filesOf = (name: string) => readdirSync(admin(name)).filter((file) => file !== "refs");
  assert.deepEqual(filesOf("plan").sort(), filesOf("other").sort());
  assert.equal(readFileSync(join(path, ".git"), "utf8"), `gitdir: ${admin("plan")}\n`);
  assert.equal(plainGit(path, "status", "--porcelain"), "");
  assert.equal(plainGit(path, "symbolic-ref", "HEAD").trim(), `refs/heads/${BRANCH}`);
  assert.equal(plainGit(repo.root, "worktree", "prune", "--dry-run", "--verbose"), "");
});

test("a record that a person's git has half made keeps no plan from getting its worktree", async (t) => {
  const box = await sandbox();
  t.after(box.close);
  const half = join(box.repo.commonDir, "worktrees/half");
  mkdirSync(half, { recursive: true });
  writeFileSync(join(half, "gitdir"), `${join(box.dir, "half/.git")}\n`);
  writeFileSync(join(half, "commondir"), "");
  const path = join(box.dir, "trees/plan");
  const added = await addWorktree(box.repo, { path, branch: BRANCH, baseSha: box.baseSha });
  assert.equal(added.kind, "added");
  assert.ok(existsSync(half));
});

test("records that are none, or that may not be read, keep no plan from getting its worktree", async (t) => {
  const box = await sandbox();
  const at = (name: string) => join(box.repo.commonDir, "worktrees", name);
  t.after(() => chmodSync(at("locked"), 0o700));
  t.after(box.close);
  for (const folder of ["", "locked", "folder/gitdir"]) mkdirSync(at(folder), { recursive: true });
  writeFileSync(at("file"), "x");
  symlinkSync("circle", at("circle"));
  chmodSync(at("locked"), 0);
  const path = join(box.dir, "trees/plan");
  const added = await addWorktree(box.repo, { path, branch: BRANCH, baseSha: box.baseSha });
  assert.equal(added.kind, "added");
  assert.deepEqual(readdirSync(at("")).sort(), ["circle", "file", "folder", "locked", "plan"]);
});

for (const [taken, how] of [
  ["prloom", "packed"],
  ["prloom", "loose"],
  [`${BRANCH}/below`, "packed"],
  [`${BRANCH}/below`, "loose"],
] as const) {
  test(`a branch beside ${taken} (${how}) is refused by git, and nothing is left of it`, async (t) => {
    const box = await sandbox();
    t.after(box.close);
    const { repo, baseSha } = box;
    plainGit(repo.root, "branch", taken);
    if (how === "packed") plainGit(repo.root, "pack-refs", "--all");
    const path = join(box.dir, "trees/plan");
    await assert.rejects(addWorktree(repo, { path, branch: BRANCH, baseSha }), { code: "git-failed" });
    assert.equal(await branchTip(repo, BRANCH), undefined);
    assert.equal(await branchTip(repo, taken), baseSha);
    assert.equal(existsSync(path), false);
    const admin = join(repo.commonDir, "worktrees");
    assert.deepEqual(existsSync(admin) ? readdirSync(admin) : [], []);
  });
}

test("where git keeps settings for each worktree, git makes it", async (t) => {
  const box = await sandbox();
  t.after(box.close);
  const { repo, baseSha } = box;
  plainGit(repo.root, "config", "extensions.worktreeConfig", "true");
  plainGit(repo.root, "config", "--worktree", "core.commentChar", ";");
  const path = join(box.dir, "trees/plan");
  assert.equal((await addWorktree(repo, { path, branch: BRANCH, baseSha })).kind, "added");
  assert.equal(plainGit(path, "config", "core.commentChar").trim(), ";");
});

test("a record is never there without its lock, which keeps `git worktree prune` from removing it", async (t) => {
  const box = await sandbox();
  t.after(box.close);
  const { repo, baseSha } = box;
  const request = { path: join(box.dir, "trees/plan"), branch: BRANCH, baseSha, reuseBranch: true };
  const modules = ["repository", "worktree/worktrees"].map((name) =>
    import.meta.resolve(`../../../src/git/${name}.ts`),
  );
  const script = `const [{ openRepository }, { addWorktree }] = await Promise.all(${JSON.stringify(modules)}.map((name) => import(name)));
    await addWorktree(await openRepository(${JSON.stringify(repo.root)}), ${JSON.stringify(request)});`;
  const killed = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    env: { ...process.env, PRLOOM_CRASH_AT: "worktree:branched" },
    encoding: "utf8",
  });
  assert.equal(killed.signal, "SIGKILL", killed.stderr);
  plainGit(repo.root, "worktree", "prune");
  assert.deepEqual(readdirSync(join(repo.commonDir, "worktrees")), ["plan"]);
  assert.equal((await addWorktree(repo, request)).kind, "added");
  assert.equal(plainGit(request.path, "status", "--porcelain"), "");
});

test("a git that removes empty folders of refs meanwhile keeps no branch from being made", thorough, async (t) => {
  const box = await sandbox();
  t.after(box.close);
  const { commonDir, root } = box.repo;
  const folder = join(commonDir, "refs/heads/prloom");
  const removing = spawn("bash", ["-c", 'echo; while :; do rmdir "$0" 2> /dev/null; done', folder]);
  t.after(() => removing.kill("SIGKILL"));
  await once(removing.stdout, "data");
  for (let count = 0; count < 3000; count += 1) {
    if (createBranch(commonDir, BRANCH, box.baseSha)) rmSync(join(commonDir, "refs/heads", BRANCH));
  }
  assert.equal(plainGit(root, "branch", "--list", BRANCH), "");
});
