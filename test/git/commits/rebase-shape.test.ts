import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { commitStep } from "../../../src/git/commits/commit.ts";
import { mergeIntoBase } from "../../../src/git/commits/merge.ts";
import { rebaseOnto } from "../../../src/git/commits/rebase.ts";
import { stageAll } from "../../../src/git/staging/stage.ts";
import type { Worktree } from "../../../src/git/worktree/worktrees.ts";
import { BRANCH, IDENTITY, plainGit, planSandbox, write } from "../fixture.ts";

const HALF = {
  "lib/HEAD": "ref: refs/heads/main\n",
  "lib/refs/heads/main": "0".repeat(40),
  "lib/config": "[core]\n\tbare = false\n\tworktree = ..\n",
};
const REQUEST = { branch: BRANCH, base: "main", identity: IDENTITY, places: [] };

/** Half of a repository on the branch, the other half on main. */
async function halves(t: TestContext) {
  const box = await planSandbox();
  t.after(box.close);
  const { repo, worktree } = box;
  write(worktree.path, HALF);
  await stageAll(worktree);
  const trailer = { uid: "U", todoId: "half", attempt: 1 };
  await commitStep(worktree, { branch: BRANCH, message: "half", trailer, identity: IDENTITY, allowEmpty: true });
  write(repo.root, { "lib/objects/x": "" });
  plainGit(repo.root, "add", "-A");
  plainGit(repo.root, "commit", "-q", "-m", "the other half");
  const tip = () => plainGit(repo.root, "rev-parse", BRANCH);
  return { repo, worktree, tip, before: tip() };
}

/** Which repository the git of a person finds in a folder of the worktree. */
const foundIn = (worktree: Worktree, folder: string) =>
  plainGit(join(worktree.path, folder), "rev-parse", "--absolute-git-dir").trim();

test("a rebase that would complete a repository is taken back", async (t) => {
  const { worktree, tip, before } = await halves(t);
  assert.deepEqual(await rebaseOnto(worktree, REQUEST), { kind: "repository", files: ["lib/HEAD"] });
  assert.equal(tip(), before);
  assert.equal(foundIn(worktree, "lib"), worktree.gitDir);
});

test("after a kill right behind the rebase it cannot be merged, and the next one takes it back", async (t) => {
  const { repo, worktree, tip, before } = await halves(t);
  const module = new URL("../../../src/git/commits/rebase.ts", import.meta.url).href;
  const script = `const { rebaseOnto } = await import(${JSON.stringify(module)});
    await rebaseOnto(${JSON.stringify(worktree)}, ${JSON.stringify(REQUEST)});`;
  const killed = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    env: { ...process.env, PRLOOM_CRASH_AT: "rebase:rebased" },
  });
  assert.equal(killed.signal, "SIGKILL");
  assert.notEqual(tip(), before, "the rebase itself was done");
  const merge = { ...REQUEST, message: "Merge", method: "merge" as const };
  assert.deepEqual(await mergeIntoBase(repo, merge), { kind: "repository", files: ["lib/HEAD"] });
  assert.deepEqual(await rebaseOnto(worktree, REQUEST), { kind: "repository", files: ["lib/HEAD"] });
  assert.equal(tip(), before);
  assert.equal(foundIn(worktree, "lib"), worktree.gitDir);
  assert.equal(plainGit(repo.root, "for-each-ref", "refs/prloom/rebase"), "");
});

/** A link on the branch, whose folder is moved on main: by rename of the file, or of all that lies around it. */
async function movedLink(t: TestContext, moved: { how: string[]; target: string; before?: string }) {
  const box = await planSandbox();
  t.after(box.close);
  const { repo, worktree } = box;
  write(repo.root, { "a/b/f.txt": "f\n", "a/b/c/g.txt": "g\n" });
  if (moved.before !== undefined) symlinkSync(moved.before, join(repo.root, "a/b/c/x"));
  plainGit(repo.root, "add", "-A");
  plainGit(repo.root, "commit", "-q", "-m", "Begin");
  plainGit(repo.root, "config", "merge.directoryRenames", "true");
  plainGit(worktree.path, "reset", "-q", "--hard", "main");
  rmSync(join(worktree.path, "a/b/c/x"), { force: true });
  symlinkSync(moved.target, join(worktree.path, "a/b/c/x"));
  await stageAll(worktree);
  const trailer = { uid: "U", todoId: "link", attempt: 1 };
  await commitStep(worktree, { branch: BRANCH, message: "link", trailer, identity: IDENTITY, allowEmpty: false });
  mkdirSync(join(repo.root, "src"), { recursive: true });
  plainGit(repo.root, "mv", ...moved.how);
  plainGit(repo.root, "commit", "-q", "-m", "Move it");
  const tip = () => plainGit(repo.root, "rev-parse", BRANCH);
  return { repo, worktree, tip, before: tip() };
}

const OUT = "../../lib/.cache/tool";
const MERGE = { ...REQUEST, message: "Merge", method: "squash" as const };

test("a link that git moves, so that it leads out of the project, is neither rebased nor merged", async (t) => {
  const renames = [
    { how: ["a/b/c/x", "src/x"], before: "../f.txt", x: "src/x" },
    { how: ["a/b/c", "c"], x: "c/x" },
  ];
  for (const { x, ...moved } of renames) {
    const { repo, worktree, tip, before } = await movedLink(t, { ...moved, target: OUT });
    assert.deepEqual(await mergeIntoBase(repo, MERGE), { kind: "link", files: [x] });
    assert.deepEqual(await rebaseOnto(worktree, REQUEST), { kind: "link", files: [x] });
    assert.equal(tip(), before);
    const forced = await mergeIntoBase(repo, { ...MERGE, allowUnsafe: true });
    assert.deepEqual("unsafe" in forced && forced.unsafe, { kind: "link", files: [x] });
  }
});

test("a link that git moves to where agents write is not merged, any other one is", async (t) => {
  const how = ["a/b/c", "src/c"];
  const places = ["src/trees"];
  const inside = await movedLink(t, { how, target: "../trees/plan/x" });
  const asked = { ...MERGE, places };
  assert.deepEqual(await mergeIntoBase(inside.repo, asked), { kind: "link", files: ["src/c/x"] });
  const other = await movedLink(t, { how, target: "../deep" });
  assert.equal((await mergeIntoBase(other.repo, asked)).kind, "merged");
});

test("a link that lies where its branch has it was looked at there, and one of base is a person's", async (t) => {
  const own = await movedLink(t, { how: ["a/b/f.txt", "src/f.txt"], target: "/elsewhere" });
  assert.equal((await rebaseOnto(own.worktree, REQUEST)).kind, "rebased");
  assert.equal((await mergeIntoBase(own.repo, MERGE)).kind, "merged");
  const { repo, worktree } = await movedLink(t, { how: ["a/b/f.txt", "src/f.txt"], target: "../f.txt" });
  symlinkSync("/elsewhere", join(repo.root, "mine"));
  plainGit(repo.root, "add", "-A");
  plainGit(repo.root, "commit", "-q", "-m", "A link of a person");
  assert.equal((await rebaseOnto(worktree, REQUEST)).kind, "rebased");
});

test("a branch that stands on more than base has loses that, though it contains all of base", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { repo, worktree } = box;
  const base = plainGit(repo.root, "rev-parse", "main").trim();
  const commit = async (name: string) => {
    write(worktree.path, { [name]: `${name}\n` });
    await stageAll(worktree);
    const trailer = { uid: "U", todoId: name, attempt: 1 };
    await commitStep(worktree, { branch: BRANCH, message: name, trailer, identity: IDENTITY, allowEmpty: true });
    return plainGit(repo.root, "rev-parse", BRANCH).trim();
  };
  const began = await commit("lower");
  await commit("upper");
  assert.equal((await rebaseOnto(worktree, { ...REQUEST, base, began })).kind, "rebased");
  assert.equal(plainGit(repo.root, "log", "--format=%s", `${base}..${BRANCH}`).trim(), "upper");
  assert.deepEqual(await rebaseOnto(worktree, { ...REQUEST, base, began }), { kind: "nothing" });
});
