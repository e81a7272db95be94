import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { isMergedInto, mergeIntoBase } from "../../../src/git/commits/merge.ts";
import type { MadeMerge } from "../../../src/git/commits/merge-commit.ts";
import { branchTip } from "../../../src/git/repository.ts";
import { oneOf } from "../../testing/sample.ts";
import { thorough } from "../../testing/thorough.ts";
import { BRANCH, IDENTITY, plainGit, planSandbox, type Sandbox, write } from "../fixture.ts";

const REQUEST = {
  branch: BRANCH,
  base: "main",
  message: "Merge the plan\n\nPlan: plan",
  identity: IDENTITY,
  places: [],
};
const METHODS = ["squash", "rebase"] as const;

function commit(path: string, files: Record<string, string>, message = "work"): string {
  write(path, files);
  plainGit(path, "add", "--", ...Object.keys(files));
  plainGit(path, "commit", "-q", "-m", message);
  return plainGit(path, "rev-parse", "HEAD").trim();
}

function show(box: Sandbox, format: string, rev = "main"): string {
  return plainGit(box.repo.root, "log", "-1", `--format=${format}`, rev).trim();
}

const status = (box: Sandbox) => plainGit(box.repo.root, "status", "--porcelain", "--untracked-files=no");
const subjects = (box: Sandbox, range: string) =>
  plainGit(box.repo.root, "log", "--reverse", "--format=%s", range).trim().split("\n");

test("squash: one commit with the merge's tree and one parent", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { repo, worktree } = box;
  commit(worktree.path, { "a.txt": "from the plan\n" }, "one");
  const tip = commit(worktree.path, { "new.txt": "new\n" }, "two");
  const old = commit(repo.root, { "main.txt": "main\n" });
  const outcome = await mergeIntoBase(repo, { ...REQUEST, method: "squash" });
  assert.deepEqual(outcome, { kind: "merged", sha: await branchTip(repo, "main") });
  assert.equal(show(box, "%P"), old);
  assert.equal(show(box, "%B"), `Merge the plan\n\nPlan: plan\n\nPrloom-Merge: ${tip}`);
  const expected = plainGit(repo.root, "merge-tree", "--write-tree", old, tip).trim();
  assert.equal(show(box, "%T"), expected);
  assert.equal(readFileSync(join(repo.root, "a.txt"), "utf8"), "from the plan\n");
  assert.equal(status(box), "");
});

test("squash: work that came after it is merged as what is new", thorough, async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { repo, worktree } = box;
  commit(worktree.path, { "a.txt": "first\n" });
  await mergeIntoBase(repo, { ...REQUEST, method: "squash" });
  const tip = commit(worktree.path, { "later.txt": "later\n" });
  assert.equal(await isMergedInto(repo, { branch: BRANCH, base: "main" }), false);
  assert.equal((await mergeIntoBase(repo, { ...REQUEST, method: "squash" })).kind, "merged");
  assert.equal(show(box, "%(trailers:key=Prloom-Merge,valueonly)"), tip);
  assert.equal(plainGit(repo.root, "diff", "--name-only", "main~1", "main").trim(), "later.txt");
});

test("rebase: the commits lie on base with their authors, dates and messages", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { repo, worktree } = box;
  write(worktree.path, { "a.txt": "plan\n" });
  const author = ["--author=Ünal Ö <u@example.com>", "--date=2001-02-03T04:05:06+0530"];
  plainGit(worktree.path, "commit", "-q", "-a", ...author, "-m", "one", "-m", "Prloom-Step: U/t1/1");
  plainGit(worktree.path, "commit", "-q", "--allow-empty", "-m", "evidence only");
  commit(worktree.path, { "b.txt": "plan\n" }, "two\n\nbody\n\nPrloom-Step: U/t2/1");
  const tip = await branchTip(repo, BRANCH);
  const old = commit(repo.root, { "main.txt": "main\n" });
  const format = "%an|%ae|%ad|%cd|%T";
  const outcome = await mergeIntoBase(repo, { ...REQUEST, method: "rebase" });
  assert.deepEqual(outcome, { kind: "merged", sha: await branchTip(repo, "main") });
  assert.equal(show(box, "%H", "main~3"), old);
  assert.deepEqual(subjects(box, `${old}..main`), ["one", "evidence only", "two"]);
  assert.equal(show(box, "%an <%ae> %aI", "main~2"), "Ünal Ö <u@example.com> 2001-02-03T04:05:06+05:30");
  assert.equal(show(box, "%B", "main~2"), "one\n\nPrloom-Step: U/t1/1");
  assert.equal(show(box, "%B"), `two\n\nbody\n\nPrloom-Step: U/t2/1\nPrloom-Merge: ${tip}`);
  assert.equal(show(box, "%(trailers:key=Prloom-Step,valueonly)"), "U/t2/1");
  for (const back of [0, 1, 2]) {
    const dates = [show(box, "%an %ad %cd", `main~${back}`), show(box, "%an %ad %cd", `${BRANCH}~${back}`)];
    assert.equal(dates[0], dates[1]);
    assert.equal(show(box, "%cn", `main~${back}`), "prloom");
  }
  assert.equal(show(box, format, "main~1").split("|").at(-1), show(box, format, "main~2").split("|").at(-1));
  assert.equal(readFileSync(join(repo.root, "main.txt"), "utf8"), "main\n");
  assert.equal(readFileSync(join(repo.root, "b.txt"), "utf8"), "plan\n");
  assert.equal(status(box), "");
});

test("rebase: a branch that lies on base already is taken as it is", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const tip = commit(box.worktree.path, { "a.txt": "plan\n" });
  assert.deepEqual(await mergeIntoBase(box.repo, { ...REQUEST, method: "rebase" }), { kind: "merged", sha: tip });
});

test("rebase: a merge of base into the branch goes away, and what was changed in it does not", thorough, async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { repo, worktree } = box;
  commit(worktree.path, { "a.txt": "plan\n" }, "one");
  commit(repo.root, { "main.txt": "main\n" }, "of main");
  plainGit(worktree.path, "merge", "-q", "--no-edit", "main");
  commit(worktree.path, { "c.txt": "plan\n" }, "two");
  commit(repo.root, { "main.txt": "main 2\n" }, "of main again");
  plainGit(worktree.path, "merge", "-q", "--no-commit", "--no-ff", "main");
  write(worktree.path, { "b.txt": "only in the merge\n" });
  plainGit(worktree.path, "commit", "-q", "-a", "-m", "merged with care");
  commit(worktree.path, { "d.txt": "plan\n" }, "three");
  const old = commit(repo.root, { "main.txt": "main 3\n" }, "of main at last");
  assert.equal((await mergeIntoBase(repo, { ...REQUEST, method: "rebase" })).kind, "merged");
  assert.deepEqual(subjects(box, `${old}..main`), ["one", "two", "merged with care", "three"]);
  assert.equal(plainGit(repo.root, "log", "--merges", "--format=%s", "main"), "");
  assert.equal(plainGit(repo.root, "show", "main:b.txt"), "only in the merge\n");
  assert.equal(plainGit(repo.root, "show", "main:main.txt"), "main 3\n");
});

test("rebase: work that came after it is added, and what is there is not added again", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { repo, worktree } = box;
  commit(worktree.path, { "a.txt": "first\n" }, "one");
  commit(worktree.path, { "b.txt": "second\n" }, "two");
  commit(repo.root, { "main.txt": "main\n" });
  await mergeIntoBase(repo, { ...REQUEST, method: "rebase" });
  const old = await branchTip(repo, "main");
  commit(worktree.path, { "later.txt": "later\n" }, "three");
  assert.equal((await mergeIntoBase(repo, { ...REQUEST, method: "rebase" })).kind, "merged");
  assert.deepEqual(subjects(box, `${old}..main`), ["three"]);
});

for (const method of oneOf(METHODS)) {
  test(`${method}: done is done, whatever asks and however`, async (t) => {
    const box = await planSandbox();
    t.after(box.close);
    const { repo, worktree } = box;
    commit(worktree.path, { "a.txt": "plan\n" });
    commit(repo.root, { "main.txt": "main\n" });
    assert.equal(await isMergedInto(repo, { branch: BRANCH, base: "main" }), false);
    assert.equal((await mergeIntoBase(repo, { ...REQUEST, method })).kind, "merged");
    commit(repo.root, { "main.txt": "later\n" });
    const tip = await branchTip(repo, "main");
    assert.equal(await isMergedInto(repo, { branch: BRANCH, base: "main" }), true);
    for (const again of ["merge", "squash", "rebase"] as const) {
      assert.deepEqual(await mergeIntoBase(repo, { ...REQUEST, method: again }), { kind: "already" });
    }
    assert.equal(await branchTip(repo, "main"), tip);
  });

  test(`${method}: killed before base moved, it is done once by the next call`, async (t) => {
    const box = await planSandbox();
    t.after(box.close);
    const { repo, worktree } = box;
    commit(worktree.path, { "a.txt": "plan\n", "new.txt": "plan\n" }, "one");
    commit(worktree.path, { "a.txt": "plan 2\n" }, "two");
    const old = commit(repo.root, { "main.txt": "main\n" });
    const source = (file: string) => fileURLToPath(new URL(`../../../src/git/commits/${file}`, import.meta.url));
    const script = `
      import { mergeIntoBase } from ${JSON.stringify(source("merge.ts"))};
      await mergeIntoBase(${JSON.stringify(repo)}, ${JSON.stringify({ ...REQUEST, method })});`;
    const killed = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
      env: { ...process.env, PRLOOM_CRASH_AT: "merge:written" },
      encoding: "utf8",
    });
    assert.equal(killed.signal, "SIGKILL", killed.stderr);
    assert.equal(await branchTip(repo, "main"), old);
    assert.equal(status(box), "");
    assert.equal((await mergeIntoBase(repo, { ...REQUEST, method })).kind, "merged");
    const expected = method === "squash" ? ["Merge the plan"] : ["one", "two"];
    assert.deepEqual(subjects(box, `${old}..main`), expected);
    assert.equal(status(box), "");
  });

  test(`${method}: killed after the files were written, before the branch moved`, async (t) => {
    const box = await planSandbox();
    t.after(box.close);
    const { repo, worktree } = box;
    commit(worktree.path, { "a.txt": "plan\n", "new.txt": "plan\n" });
    const old = commit(repo.root, { "main.txt": "main\n" });
    const tree = plainGit(repo.root, "merge-tree", "--write-tree", old, BRANCH).trim();
    plainGit(repo.root, "read-tree", "-m", "-u", "HEAD", tree);
    assert.equal((await mergeIntoBase(repo, { ...REQUEST, method })).kind, "merged");
    assert.equal(status(box), "");
  });

  test(`${method}: a conflict names the files and changes nothing`, async (t) => {
    const box = await planSandbox();
    t.after(box.close);
    const { repo, worktree } = box;
    commit(worktree.path, { "fine.txt": "fine\n" });
    commit(worktree.path, { "a.txt": "plan\n", "ö.txt": "plan\n" });
    commit(worktree.path, { "more.txt": "more\n" });
    const old = commit(repo.root, { "a.txt": "main\n", "ö.txt": "main\n" });
    const outcome = await mergeIntoBase(repo, { ...REQUEST, method });
    assert.deepEqual(outcome, { kind: "conflict", files: ["a.txt", "ö.txt"] });
    assert.equal(await branchTip(repo, "main"), old);
    assert.equal(status(box), "");
  });

  test(`${method}: changes in the checkout of base are left alone and reported`, async (t) => {
    const box = await planSandbox();
    t.after(box.close);
    const { repo, worktree } = box;
    commit(worktree.path, { "a.txt": "plan\n" });
    const old = commit(repo.root, { "main.txt": "main\n" });
    write(repo.root, { "a.txt": "mine\n" });
    const outcome = await mergeIntoBase(repo, { ...REQUEST, method });
    assert.match(outcome.kind === "checkout-in-the-way" ? outcome.reason : outcome.kind, /overwritten: a\.txt/);
    assert.equal(await branchTip(repo, "main"), old);
    assert.equal(readFileSync(join(repo.root, "a.txt"), "utf8"), "mine\n");
    plainGit(repo.root, "checkout", "-q", "--", "a.txt");
    assert.equal((await mergeIntoBase(repo, { ...REQUEST, method })).kind, "merged");
  });
}

test("a trailer of ours that an agent wrote merges nothing", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { repo, worktree } = box;
  const tip = commit(worktree.path, { "a.txt": "plan\n" });
  commit(repo.root, { "main.txt": "1\n" }, `Prloom-Merge: ${tip}`);
  commit(repo.root, { "main.txt": "2\n" }, `quoted\n\nPrloom-Merge: ${tip}\n\nand more words`);
  commit(repo.root, { "main.txt": "3\n" }, `forged\n\nPrloom-Merge: ${tip}`);
  assert.equal(await isMergedInto(repo, { branch: BRANCH, base: "main" }), false);
  assert.equal((await mergeIntoBase(repo, { ...REQUEST, method: "squash" })).kind, "merged");
});

for (const method of oneOf(["squash", "rebase"] as const)) {
  test(`${method}: what was kept of it tells that it is done, when base has moved on since`, async (t) => {
    const box = await planSandbox();
    t.after(box.close);
    const { repo, worktree } = box;
    const tip = commit(worktree.path, { "a.txt": "plan\n" });
    commit(repo.root, { "main.txt": "main\n" });
    const kept: MadeMerge[] = [];
    const keep = (made: MadeMerge) => void kept.push(made);
    const outcome = await mergeIntoBase(repo, { ...REQUEST, method, keep });
    assert.deepEqual([{ kind: "merged", sha: kept[0]?.sha }, kept.length, kept[0]?.tip], [outcome, 1, tip]);
    commit(repo.root, { "a.txt": "changed again\n" });
    const [made] = kept;
    assert.equal(await isMergedInto(repo, { branch: BRANCH, base: "main", made }), true);
    assert.deepEqual(await mergeIntoBase(repo, { ...REQUEST, method, made }), { kind: "already" });
    // It says nothing of what came later, nor of a commit that base does not have.
    commit(worktree.path, { "b.txt": "plan\n" });
    assert.equal(await isMergedInto(repo, { branch: BRANCH, base: "main", made }), false);
    const never = { tip: plainGit(repo.root, "rev-parse", BRANCH).trim(), sha: tip };
    assert.equal(await isMergedInto(repo, { branch: BRANCH, base: "main", made: never }), false);
  });
}

test("a squash by hand is recognised by what base has, a branch without changes is not", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { repo, worktree } = box;
  const isMerged = () => isMergedInto(repo, { branch: BRANCH, base: "main" });
  plainGit(worktree.path, "commit", "-q", "--allow-empty", "-m", "Only evidence");
  commit(repo.root, { "main.txt": "1\n" });
  assert.equal(await isMerged(), false);
  commit(worktree.path, { "a.txt": "plan\n" });
  commit(worktree.path, { "new.txt": "plan\n" });
  assert.equal(await isMerged(), false);
  plainGit(repo.root, "cherry-pick", `${BRANCH}~1`);
  assert.equal(await isMerged(), false, "half of it");
  plainGit(repo.root, "merge", "-q", "--squash", BRANCH);
  plainGit(repo.root, "commit", "-q", "-m", "By hand");
  assert.equal(await isMerged(), true);
  commit(repo.root, { "main.txt": "2\n" });
  assert.equal(await isMerged(), true);
});

test("a rebase keeps messages and names, whatever encoding a person has for logs", thorough, async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { repo, worktree } = box;
  plainGit(repo.root, "config", "i18n.logOutputEncoding", "ISO-8859-1");
  plainGit(repo.root, "config", "author.name", "Jörg");
  commit(worktree.path, { "a.txt": "plan\n" }, "für");
  commit(repo.root, { "main.txt": "main\n" });
  assert.equal((await mergeIntoBase(repo, { ...REQUEST, method: "rebase" })).kind, "merged");
  plainGit(repo.root, "config", "--unset", "i18n.logOutputEncoding");
  assert.equal(show(box, "%an: %s"), "Jörg: für");
});
