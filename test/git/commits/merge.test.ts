import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isMergedInto, mergeIntoBase } from "../../../src/git/commits/merge.ts";
import { rebaseOnto } from "../../../src/git/commits/rebase.ts";
import { branchTip, openRepository } from "../../../src/git/repository.ts";
import { thorough } from "../../testing/thorough.ts";
import { BRANCH, IDENTITY, plainGit, planSandbox, type Sandbox, write } from "../fixture.ts";

const REQUEST = { branch: BRANCH, base: "main", message: "Merge the plan\n\nBody", identity: IDENTITY, places: [] };

function commit(path: string, files: Record<string, string>, message = "work"): string {
  write(path, files);
  plainGit(path, "add", "--", ...Object.keys(files));
  plainGit(path, "commit", "-q", "-m", message);
  return plainGit(path, "rev-parse", "HEAD").trim();
}

function parents(box: Sandbox, sha: string): string[] {
  return plainGit(box.repo.root, "log", "-1", "--format=%P", sha).trim().split(" ");
}

test("a checkout of base moves with it, local changes elsewhere stay, and a second merge is nothing", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { repo, worktree } = box;
  const tip = commit(worktree.path, { "a.txt": "from the plan\n" });
  const old = commit(repo.root, { "main.txt": "main\n" });
  write(repo.root, { "b.txt": "not committed\n", "staged.txt": "staged\n", "untracked.txt": "u\n" });
  plainGit(repo.root, "add", "staged.txt");
  assert.equal(await isMergedInto(repo, { branch: BRANCH, base: "main" }), false);
  const outcome = await mergeIntoBase(repo, REQUEST);
  assert.equal(outcome.kind, "merged");
  const sha = outcome.kind === "merged" ? outcome.sha : "";
  assert.deepEqual(parents(box, sha), [old, tip]);
  assert.equal(await branchTip(repo, "main"), sha);
  assert.equal(readFileSync(join(repo.root, "a.txt"), "utf8"), "from the plan\n");
  assert.equal(
    plainGit(repo.root, "status", "--porcelain", "--", "b.txt", "staged.txt", "a.txt"),
    " M b.txt\nA  staged.txt\n",
  );
  assert.equal(plainGit(repo.root, "log", "-1", "--format=%B").trim(), "Merge the plan\n\nBody");
  assert.equal(await isMergedInto(repo, { branch: BRANCH, base: "main" }), true);
  assert.deepEqual(await mergeIntoBase(repo, REQUEST), { kind: "already" });
});

test("a checkout whose git folder lies elsewhere, as that of a submodule does, moves with its branch", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { root } = box.repo;
  const gitDir = join(root, "..", "modules");
  plainGit(root, "init", "-q", `--separate-git-dir=${gitDir}`);
  for (const name of ["alone", "submodule"]) {
    if (name === "submodule") plainGit(root, "config", "core.worktree", root);
    commit(box.worktree.path, { [name]: "from the plan\n" });
    const outcome = await mergeIntoBase(await openRepository(root), REQUEST);
    assert.equal(outcome.kind, "merged", JSON.stringify(outcome));
    assert.equal(readFileSync(join(root, name), "utf8"), "from the plan\n");
    assert.equal(plainGit(root, "status", "--porcelain", "--untracked-files=no"), "");
  }
  rmSync(gitDir, { recursive: true });
});

test("without a checkout of base only the branch moves", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { repo, worktree } = box;
  plainGit(repo.root, "checkout", "-q", "-b", "elsewhere");
  commit(worktree.path, { "a.txt": "from the plan\n" });
  const outcome = await mergeIntoBase(repo, REQUEST);
  assert.equal(outcome.kind === "merged" && outcome.sha, await branchTip(repo, "main"));
  assert.equal(readFileSync(join(repo.root, "a.txt"), "utf8"), "one\n");
  assert.equal(plainGit(repo.root, "symbolic-ref", "HEAD").trim(), "refs/heads/elsewhere");
});

const broken: Record<string, (path: string) => void> = {
  "was emptied": (path) => {
    rmSync(path, { recursive: true });
    mkdirSync(path);
  },
  "names a repository that is gone": (path) => writeFileSync(join(path, ".git"), "gitdir: /nowhere\n"),
};

for (const [name, spoil] of Object.entries(broken)) {
  test(`a worktree of a person that ${name} stops no merge of another branch`, async (t) => {
    const box = await planSandbox();
    t.after(box.close);
    const { repo, worktree } = box;
    const other = join(box.dir, "other");
    plainGit(repo.root, "worktree", "add", "-q", "-b", "other", other);
    spoil(other);
    commit(worktree.path, { "a.txt": "from the plan\n" });
    assert.equal((await mergeIntoBase(repo, REQUEST)).kind, "merged");
  });
}

test("base does not move under a checkout that git cannot use, or whose name is not UTF-8", thorough, async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { repo, worktree } = box;
  commit(worktree.path, { "a.txt": "from the plan\n" });
  plainGit(repo.root, "checkout", "-q", "-b", "elsewhere");
  const own = join(box.dir, "own");
  plainGit(repo.root, "worktree", "add", "-q", own, "main");
  writeFileSync(join(own, ".git"), "gitdir: /nowhere\n");
  assert.equal((await mergeIntoBase(repo, REQUEST)).kind, "checkout-in-the-way");
  rmSync(own, { recursive: true });
  plainGit(repo.root, "worktree", "prune");
  execFileSync("bash", ["-c", "git worktree add -q ../$'b\\xe4um' main"], { cwd: repo.root });
  assert.equal((await mergeIntoBase(repo, REQUEST)).kind, "checkout-in-the-way");
  assert.equal(await branchTip(repo, "main"), box.baseSha);
});

test("a conflict names the files and changes nothing", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { repo, worktree } = box;
  commit(worktree.path, { "a.txt": "plan\n", "ö.txt": "plan\n", "fine.txt": "fine\n" });
  const old = commit(repo.root, { "a.txt": "main\n", "ö.txt": "main\n" });
  assert.deepEqual(await mergeIntoBase(repo, REQUEST), { kind: "conflict", files: ["a.txt", "ö.txt"] });
  assert.equal(await branchTip(repo, "main"), old);
  assert.equal(plainGit(repo.root, "status", "--porcelain", "--untracked-files=no"), "");
});

const obstacles: Record<string, { make: (root: string) => void; reason: RegExp }> = {
  "a changed file": { make: (root) => write(root, { "a.txt": "mine\n" }), reason: /overwritten: a\.txt/ },
  "an untracked file": { make: (root) => write(root, { "new.txt": "mine\n" }), reason: /overwritten: new\.txt/ },
  "a merge that is not finished": {
    make: (root) => {
      plainGit(root, "checkout", "-q", "-b", "other");
      commit(root, { "b.txt": "other\n" });
      plainGit(root, "checkout", "-q", "main");
      plainGit(root, "merge", "--no-ff", "--no-commit", "-q", "other");
    },
    reason: /not finished/,
  },
  "a rebase of base that is not finished": {
    make: (root) => {
      plainGit(root, "checkout", "-q", "-b", "other");
      commit(root, { "b.txt": "other\n" });
      plainGit(root, "checkout", "-q", "main");
      commit(root, { "b.txt": "main\n" });
      assert.throws(() => plainGit(root, "rebase", "other"));
    },
    reason: /not finished/,
  },
  "another git at work": { make: (root) => writeFileSync(join(root, ".git/index.lock"), ""), reason: /index\.lock/ },
};

for (const [name, { make, reason }] of Object.entries(obstacles)) {
  test(`${name} in the checkout of base is left alone and reported`, async (t) => {
    const box = await planSandbox();
    t.after(box.close);
    const { repo, worktree } = box;
    commit(worktree.path, { "a.txt": "plan\n", "new.txt": "plan\n" });
    make(repo.root);
    plainGit(repo.root, "config", "merge.autoStash", "true");
    plainGit(repo.root, "config", "branch.main.mergeOptions", "--squash");
    const before = [await branchTip(repo, "main"), plainGit(repo.root, "status", "--porcelain")];
    const outcome = await mergeIntoBase(repo, REQUEST);
    assert.equal(outcome.kind, "checkout-in-the-way");
    assert.match(outcome.kind === "checkout-in-the-way" ? outcome.reason : "", reason);
    assert.deepEqual([await branchTip(repo, "main"), plainGit(repo.root, "status", "--porcelain")], before);
  });
}

for (const file of ["new.txt", "new.txt/keys"]) {
  test(`${file}, which git ignores in the checkout of base, is not overwritten by what the branch has there`, async (t) => {
    const box = await planSandbox();
    t.after(box.close);
    const { repo, worktree } = box;
    commit(worktree.path, { "new.txt": "plan\n" });
    const before = await branchTip(repo, "main");
    writeFileSync(join(repo.commonDir, "info/exclude"), "new.txt\n");
    write(repo.root, { [file]: "mine\n" });
    const outcome = await mergeIntoBase(repo, REQUEST);
    assert.match(outcome.kind === "checkout-in-the-way" ? outcome.reason : outcome.kind, /overwritten: .*new\.txt/);
    assert.equal(readFileSync(join(repo.root, file), "utf8"), "mine\n");
    assert.equal(await branchTip(repo, "main"), before);
  });
}

test("a branch that is not there is named", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  await assert.rejects(mergeIntoBase(box.repo, { ...REQUEST, branch: "gone" }), {
    code: "git-failed",
    message: /gone/,
  });
  assert.equal(await isMergedInto(box.repo, { branch: "gone", base: "main" }), false);
});

test("a merge interrupted after the files were written, before the branch moved, is completed", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { repo, worktree } = box;
  commit(worktree.path, { "a.txt": "plan\n", "new.txt": "plan\n" });
  plainGit(repo.root, "read-tree", "-m", "-u", "HEAD", BRANCH);
  assert.equal((await mergeIntoBase(repo, REQUEST)).kind, "merged");
  assert.equal(plainGit(repo.root, "status", "--porcelain", "--untracked-files=no"), "");
});

const REBASE = { branch: BRANCH, base: "main", identity: IDENTITY, places: [] };

test("a rebase carries step commits over with their messages, and is nothing the second time", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { repo, worktree } = box;
  const message = "# Step one\n\nPrloom-Step: U/t/1\n";
  write(worktree.path, { "a.txt": "plan\n" });
  plainGit(worktree.path, "commit", "-q", "-a", "--cleanup=verbatim", "-m", message);
  plainGit(worktree.path, "commit", "-q", "--allow-empty", "-m", "evidence only");
  const main = commit(repo.root, { "b.txt": "main\n" });
  const outcome = await rebaseOnto(worktree, REBASE);
  assert.equal(outcome.kind === "rebased" && outcome.sha, await branchTip(repo, BRANCH));
  assert.equal(plainGit(repo.root, "rev-parse", `${BRANCH}~2`).trim(), main);
  assert.equal(plainGit(repo.root, "log", "-1", "--format=%B", `${BRANCH}~1`).trim(), message.trim());
  assert.equal(readFileSync(join(worktree.path, "b.txt"), "utf8"), "main\n");
  assert.deepEqual(await rebaseOnto(worktree, REBASE), { kind: "nothing" });
});

test("a commit that a person amended on base does not come back by a rebase", thorough, async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { repo, worktree } = box;
  const began = commit(repo.root, { "secret.txt": "secret\n" });
  plainGit(worktree.path, "reset", "-q", "--hard", began);
  commit(worktree.path, { "a.txt": "plan\n" });
  plainGit(repo.root, "rm", "-q", "secret.txt");
  commit(repo.root, { "b.txt": "main\n" });
  plainGit(repo.root, "reset", "-q", "--soft", "HEAD~2");
  plainGit(repo.root, "commit", "-q", "-m", "without the secret");
  assert.equal((await rebaseOnto(worktree, { ...REBASE, began })).kind, "rebased");
  assert.equal(plainGit(repo.root, "rev-list", "--count", `main..${BRANCH}`).trim(), "1");
  assert.equal(existsSync(join(worktree.path, "secret.txt")), false);
});

test(
  "a branch that a person has brought up to date by hand is rebased with its own commits only",
  thorough,
  async (t) => {
    const box = await planSandbox();
    t.after(box.close);
    const { repo, worktree, baseSha: began } = box;
    commit(worktree.path, { "a.txt": "plan\n" });
    commit(repo.root, { "b.txt": "main\n" });
    plainGit(worktree.path, "rebase", "-q", "main");
    commit(repo.root, { "b.txt": "main again\n" });
    assert.equal((await rebaseOnto(worktree, { ...REBASE, began })).kind, "rebased");
    assert.equal(plainGit(repo.root, "rev-list", "--count", `main..${BRANCH}`).trim(), "1");
  },
);

test("a rebase that conflicts leaves branch and tree as they were", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { repo, worktree } = box;
  const tip = commit(worktree.path, { "a.txt": "plan\n" });
  commit(repo.root, { "a.txt": "main\n" });
  assert.deepEqual(await rebaseOnto(worktree, REBASE), { kind: "conflict", files: ["a.txt"] });
  assert.equal(plainGit(worktree.path, "rev-parse", "--abbrev-ref", "HEAD").trim(), BRANCH);
  assert.equal(await branchTip(repo, BRANCH), tip);
  assert.equal(plainGit(worktree.path, "status", "--porcelain"), "");
  assert.equal(existsSync(join(worktree.gitDir, "rebase-merge")), false);
});

test("a rebase that a crash interrupted is begun again", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { repo, worktree } = box;
  commit(worktree.path, { "a.txt": "plan\n" });
  commit(repo.root, { "a.txt": "main\n" });
  assert.throws(() => plainGit(worktree.path, "rebase", "main"));
  writeFileSync(join(worktree.gitDir, "index.lock"), "");
  plainGit(repo.root, "commit", "-q", "--amend", "-m", "main without the conflict", "--only", "--allow-empty");
  plainGit(repo.root, "reset", "-q", "--hard", "HEAD~1");
  commit(repo.root, { "b.txt": "main\n" });
  assert.equal((await rebaseOnto(worktree, REBASE)).kind, "rebased");
  assert.equal(plainGit(worktree.path, "status", "--porcelain"), "");
});

test("uncommitted changes stop a rebase and are not lost", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { repo, worktree } = box;
  commit(worktree.path, { "a.txt": "plan\n" });
  commit(repo.root, { "b.txt": "main\n" });
  write(worktree.path, { "src/deep/c.ts": "unsaved\n" });
  await assert.rejects(rebaseOnto(worktree, REBASE), { code: "git-failed", message: /unstaged changes/ });
  assert.equal(readFileSync(join(worktree.path, "src/deep/c.ts"), "utf8"), "unsaved\n");
});
