import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { rebaseOnto } from "../../../src/git/commits/rebase.ts";
import type { GitSetting } from "../../../src/git/shadow/git-settings.ts";
import { refuseDrivers } from "../../../src/git/staging/refused-drivers.ts";
import { stageAll } from "../../../src/git/staging/stage.ts";
import { stagedChanges } from "../../../src/git/staging/staged-changes.ts";
import { resetTo, savePartial } from "../../../src/git/worktree/reset.ts";
import { headState } from "../../../src/git/worktree/settle-head.ts";
import { addWorktree, removeWorktree } from "../../../src/git/worktree/worktrees.ts";
import { BRANCH, IDENTITY, plainGit, planSandbox, type Sandbox, write } from "../fixture.ts";

const boxes: Sandbox[] = [];
after(() => {
  for (const box of boxes) box.close();
});

async function planned(files?: Record<string, string>) {
  const box = await planSandbox(files);
  boxes.push(box);
  return { ...box, path: box.worktree.path, canary: join(box.dir, "canary") };
}

const settings = (values: Record<string, string>): GitSetting[] =>
  Object.entries(values).map(([key, value]) => ({ scope: "local", key, value }));

const REFUSED: readonly [what: string, values: Record<string, string>, trusted: string[], filters: string[]][] = [
  ["nothing", {}, [], []],
  ["an unknown filter", { "filter.a.clean": "x" }, [], ["a"]],
  ["one that only smudges", { "filter.a.smudge": "x" }, [], ["a"]],
  ["one that stays running", { "filter.a.process": "x" }, [], ["a"]],
  ["one that only passes on", { "filter.a.clean": "cat", "filter.a.smudge": "cat" }, [], []],
  ["a trusted one", { "filter.a.clean": "x", "filter.b.clean": "y" }, ["a"], ["b"]],
  ["names with dots and signs", { "filter.a.b=c d.clean": "x" }, [], ["a.b=c d"]],
  ["git-lfs", { "filter.lfs.clean": "git-lfs clean -- %f", "filter.lfs.process": "git-lfs filter-process" }, [], []],
  ["something called lfs", { "filter.lfs.clean": "git-lfs clean -- %f; evil" }, [], ["lfs"]],
  ["something that stays running, called lfs", { "filter.lfs.process": "./git-lfs filter-process" }, [], ["lfs"]],
  ["merge settings", { "merge.ff": "false", "merge.ours.driver": "true" }, [], []],
];

for (const [what, values, trusted, filters] of REFUSED) {
  test(`filters that are refused: ${what}`, () => {
    const refused = refuseDrivers(settings(values), trusted);
    assert.deepEqual([...refused.filters], filters);
    if (filters.length === 0) assert.deepEqual(refused.env, {});
  });
}

test("a filter of the user does not run on what an agent wrote, until it is trusted, and then without our variables", async (t) => {
  const box = await planned();
  process.env.GITHUB_TOKEN = "SECRET";
  t.after(() => {
    delete process.env.GITHUB_TOKEN;
  });
  plainGit(box.repo.root, "config", "filter.n=b.clean", `env > ${box.canary}; cat`);
  write(box.path, { ".gitattributes": "*.nb filter=n=b\n", "note.nb": "{}\n", "w.txt": "w\n" });
  await assert.rejects(stageAll(box.worktree), {
    code: "filter-refused",
    message: /note\.nb needs git's filter "n=b"/,
    hint: /"trustedFilters": \["n=b"\]/,
  });
  assert.equal(existsSync(box.canary), false);
  await stageAll({ ...box.worktree, trustedFilters: ["n=b"] });
  const { files } = await stagedChanges(box.worktree, box.baseSha);
  assert.deepEqual(files, [".gitattributes", "note.nb", "w.txt"]);
  const seen = readFileSync(box.canary, "utf8");
  assert.match(seen, /^PATH=/m);
  assert.doesNotMatch(seen, /SECRET/);
});

test("a filter that is configured while we run is refused as well", async () => {
  const box = await planned();
  await stageAll(box.worktree);
  plainGit(box.repo.root, "config", "filter.late.clean", `touch ${box.canary}; cat`);
  write(box.path, { ".gitattributes": "*.nb filter=late\n", "note.nb": "{}\n" });
  await assert.rejects(stageAll(box.worktree), { code: "filter-refused" });
  assert.equal(existsSync(box.canary), false);
});

test("a file that includes another: filters of that one count from the moment it is there", async () => {
  const box = await planned();
  const included = join(box.dir, "included");
  plainGit(box.repo.root, "config", "include.path", included);
  await stageAll(box.worktree);
  plainGit(box.repo.root, "config", "--file", included, "filter.late.clean", `touch ${box.canary}; cat`);
  write(box.path, { ".gitattributes": "*.nb filter=late\n", "note.nb": "{}\n" });
  await assert.rejects(stageAll(box.worktree), { code: "filter-refused" });
  assert.equal(existsSync(box.canary), false);
});

test("work that a refused filter keeps from a commit is kept as it is, and taken back", async () => {
  const box = await planned();
  plainGit(box.repo.root, "config", "filter.nb.clean", `touch ${box.canary}; cat`);
  plainGit(box.repo.root, "config", "filter.nb.smudge", `touch ${box.canary}; cat`);
  write(box.path, { ".gitattributes": "* filter=nb\n", "a.txt": "notebook\n" });
  const patchFile = join(box.dir, "partial.patch");
  await headState(box.worktree, { branch: BRANCH, baseSha: box.baseSha });
  assert.equal(await savePartial(box.worktree, { baseSha: box.baseSha, patchFile }), patchFile);
  assert.match(readFileSync(patchFile, "utf8"), /^\+notebook$/m);
  await resetTo(box.worktree, box.baseSha, BRANCH);
  assert.equal(plainGit(box.path, "status", "--porcelain"), "");
  assert.equal(existsSync(box.canary), false);
});

test("a worktree whose files need a refused filter is not made, and is when it is trusted", async () => {
  const box = await planned();
  const { root } = box.repo;
  write(root, { ".gitattributes": "*.nb filter=nb\n", "note.nb": "{}\n" });
  plainGit(root, "add", "-A");
  plainGit(root, "commit", "-q", "-m", "notebook");
  const baseSha = plainGit(root, "rev-parse", "HEAD").trim();
  plainGit(root, "config", "filter.nb.smudge", `touch ${box.canary}; cat`);
  const request = { path: join(box.dir, "second"), branch: "second", baseSha, reuseBranch: true };
  await assert.rejects(addWorktree(box.repo, request), { code: "filter-refused" });
  assert.equal(existsSync(box.canary), false);
  const added = await addWorktree(box.repo, { ...request, trustedFilters: ["nb"] });
  assert.deepEqual(added.kind === "added" && added.worktree.trustedFilters, ["nb"]);
  assert.equal(existsSync(box.canary), true);
  await removeWorktree(box.repo, request.path);
});

test("a merge driver of the user leaves a conflict instead of running", async () => {
  const box = await planned({ ".gitattributes": "*.txt merge=mine\n", "a.txt": "one\n" });
  plainGit(box.repo.root, "config", "merge.mine.driver", `touch ${box.canary}; cp %B %A`);
  write(box.path, { "a.txt": "agent\n" });
  plainGit(box.path, "add", "-A");
  plainGit(box.path, "commit", "-q", "-m", "agent");
  write(box.repo.root, { "a.txt": "main\n" });
  plainGit(box.repo.root, "commit", "-q", "-am", "main");
  const request = { branch: BRANCH, base: "main", identity: IDENTITY, places: [] };
  assert.deepEqual(await rebaseOnto(box.worktree, request), { kind: "conflict", files: ["a.txt"] });
  assert.equal(existsSync(box.canary), false);
  const rebased = await rebaseOnto({ ...box.worktree, trustedFilters: ["mine"] }, request);
  assert.equal(rebased.kind, "rebased");
  assert.equal(existsSync(box.canary), true);
});
