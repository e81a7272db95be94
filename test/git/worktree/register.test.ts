import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { branchTip } from "../../../src/git/repository.ts";
import { addWorktree } from "../../../src/git/worktree/worktrees.ts";
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
