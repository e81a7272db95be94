import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { commitStep, stagedTree } from "../../../src/git/commits/commit.ts";
import { mergeIntoBase } from "../../../src/git/commits/merge.ts";
import { openRepository } from "../../../src/git/repository.ts";
import { repositoryShapes } from "../../../src/git/staging/repository-shape.ts";
import { dissolveRepositories, stageAll } from "../../../src/git/staging/stage.ts";
import type { Worktree } from "../../../src/git/worktree/worktrees.ts";
import { existsNoFollow } from "../../../src/kernel/files.ts";
import { oneOf } from "../../testing/sample.ts";
import { thorough } from "../../testing/thorough.ts";
import { BASE_FILES, BRANCH, IDENTITY, plainGit, planSandbox, sandbox, write } from "../fixture.ts";

const SHAPE = {
  "lib/HEAD": "ref: refs/heads/main\n",
  "lib/objects/info/packs": "\n",
  "lib/refs/heads/main": "0".repeat(40),
  "lib/config": "[core]\n\tbare = false\n\tworktree = ..\n",
};
const without = (...names: string[]) =>
  Object.fromEntries(Object.entries(SHAPE).filter(([path]) => !names.some((name) => path.startsWith(`lib/${name}`))));
const latin1 = (text: string) => Buffer.from(text).toString("latin1");

const commitWith = async (worktree: Worktree, message: string) => {
  const staged = await stageAll(worktree);
  const trailer = { uid: "U", todoId: message, attempt: 1 };
  await commitStep(worktree, { branch: BRANCH, message, trailer, identity: IDENTITY, allowEmpty: true });
  return staged;
};

/** Which repository the git of a person finds in a folder of the worktree. */
const foundIn = (worktree: Worktree, folder: string) =>
  plainGit(join(worktree.path, folder), "rev-parse", "--absolute-git-dir").trim();

const NAMES: [name: string, before: string[], changed: string[], entries: string[][]][] = [
  ["all of it", [], ["x/HEAD", "x/objects/a", "x/refs/b"], [["x/HEAD"]]],
  ["at the top", [], ["HEAD", "objects/a", "refs/b"], [["HEAD"]]],
  ["with a common folder elsewhere", [], ["x/HEAD", "x/commondir"], [["x/HEAD"]]],
  ["links, files and submodules in the place of folders", [], ["x/HEAD", "x/objects", "x/refs"], [["x/HEAD"]]],
  ["the last part alone", ["x/HEAD", "x/refs/b"], ["x/objects/a", "x/objects/b"], [["x/objects"]]],
  ["the name of the common folder alone", ["x/HEAD"], ["x/commondir"], [["x/commondir"]]],
  ["in other letters", ["X/Head"], ["x/OBJECTS/a", "x/refſ/b"].map(latin1), [["x/OBJECTS", latin1("x/refſ")]]],
  [
    "with letters that are passed over",
    [],
    ["x/HE\u200cAD", "x/objects./a", "x/refs /b"].map(latin1),
    [[latin1("x/HE\u200cAD")]],
  ],
  [
    "in folders that are one where letters with accents have one form",
    [],
    ["e\u0301/HEAD", "\u00e9/objects/a", "\u00e9/refs/b"].map(latin1),
    [[latin1("e\u0301/HEAD")]],
  ],
  ["two of them", [], ["x/HEAD", "x/commondir", "y/z/HEAD", "y/z/commondir"], [["x/HEAD"], ["y/z/HEAD"]]],
  ["in the commit already", ["x/HEAD", "x/objects/a", "x/refs/b"], ["x/refs/b", "x/objects/c", "x/HEAD"], []],
  ["its settings", ["x/HEAD", "x/objects/a", "x/refs/b"], ["x/config", "x/hooks/a", "x/y"], [["x/config", "x/hooks"]]],
  ["half of it", [], ["x/HEAD", "x/objects/a", "refs/b", "x/config", "x/hooks/y"], []],
  ["names that only begin like it", [], ["x/HEAD.md", "x/objects/a", "x/refs/b"], []],
];

for (const [name, before, changed, entries] of NAMES) {
  test(`git's own shape by names: ${name}`, async () => {
    const shapes = await repositoryShapes({ before, after: [...before, ...changed], changed });
    assert.deepEqual(
      shapes.map((shape) => shape.entries),
      entries,
    );
  });
}

test("a bare repository among the files is not staged, and no git finds it in the tree", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { worktree } = box;
  write(worktree.path, { ...SHAPE, "lib/lib.c": "int x;\n" });
  assert.equal(foundIn(worktree, "lib"), join(worktree.path, "lib"));
  assert.deepEqual((await stageAll(worktree)).refused, [{ folder: "lib", entries: ["lib/HEAD"] }]);
  assert.equal(foundIn(worktree, "lib"), worktree.gitDir);
  const staged = plainGit(worktree.path, "ls-files", "lib").trim().split("\n");
  assert.deepEqual(staged, ["lib/config", "lib/lib.c", "lib/objects/info/packs", "lib/refs/heads/main"]);
  assert.deepEqual((await stageAll(worktree)).refused, []);
});

test("git takes links, programs and a common folder elsewhere for the parts, and so do we", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { worktree } = box;
  const at = (path: string) => join(worktree.path, path);
  write(worktree.path, { "one/HEAD": SHAPE["lib/HEAD"], "one/objects": "", "one/refs": "" });
  for (const program of ["one/objects", "one/refs"]) chmodSync(at(program), 0o755);
  mkdirSync(at("two"));
  symlinkSync("refs/heads/main", at("two/HEAD"));
  for (const link of ["two/objects", "two/refs"]) symlinkSync("../src", at(link));
  write(worktree.path, { ...without("HEAD"), "three/HEAD": SHAPE["lib/HEAD"], "three/commondir": "../lib\n" });
  for (const folder of ["one", "two", "three"]) assert.equal(foundIn(worktree, folder), at(folder), folder);
  const { refused } = await stageAll(worktree);
  assert.deepEqual(refused.map(({ folder }) => folder).sort(), ["one", "three", "two"]);
  for (const folder of ["one", "two", "three"]) assert.equal(foundIn(worktree, folder), worktree.gitDir, folder);
});

test("parts that git ignores or does not know count, since they are on disk", async (t) => {
  const box = await planSandbox({ ...BASE_FILES, ".gitignore": "objects/\n" });
  t.after(box.close);
  const { worktree } = box;
  write(worktree.path, without("refs"));
  mkdirSync(join(worktree.path, "lib/refs"));
  assert.equal(foundIn(worktree, "lib"), join(worktree.path, "lib"));
  assert.deepEqual((await stageAll(worktree)).refused, [{ folder: "lib", entries: ["lib/HEAD"] }]);
  assert.equal(foundIn(worktree, "lib"), worktree.gitDir);
});

test("empty folders beside a HEAD of the base commit go, and the work is not refused for that", thorough, async (t) => {
  const box = await planSandbox({ ...BASE_FILES, "lib/HEAD": SHAPE["lib/HEAD"] });
  t.after(box.close);
  const { worktree } = box;
  for (const folder of ["objects", "refs"]) mkdirSync(join(worktree.path, "lib", folder));
  assert.equal(foundIn(worktree, "lib"), join(worktree.path, "lib"));
  const { refused, nested } = await stageAll(worktree);
  assert.deepEqual({ refused, nested }, { refused: [], nested: ["lib"] });
  assert.equal(foundIn(worktree, "lib"), worktree.gitDir);
  assert.equal(plainGit(worktree.path, "status", "--porcelain"), "");
});

test("a repository that is completed by a later TODO is found then", async (t) => {
  const box = await planSandbox({ ...BASE_FILES, "lib/config": SHAPE["lib/config"] });
  t.after(box.close);
  const { worktree } = box;
  write(worktree.path, without("objects"));
  assert.deepEqual((await commitWith(worktree, "one")).refused, []);
  write(worktree.path, SHAPE);
  assert.deepEqual((await commitWith(worktree, "two")).refused, [{ folder: "lib", entries: ["lib/objects"] }]);
  assert.equal(foundIn(worktree, "lib"), worktree.gitDir);
});

test("a repository of the base commit stays and can be worked on, but for its settings", async (t) => {
  const box = await planSandbox({ ...BASE_FILES, ...SHAPE });
  t.after(box.close);
  const { worktree } = box;
  // The config is touched, and not changed.
  write(worktree.path, { ...SHAPE, "lib/refs/heads/other": "1\n", "lib/HEAD": "ref: refs/heads/other\n" });
  assert.deepEqual((await stageAll(worktree)).refused, []);
  const files = ["lib/HEAD", "lib/refs/heads/other"];
  assert.deepEqual(plainGit(worktree.path, "diff", "--cached", "--name-only").trim().split("\n"), files);
  write(worktree.path, { "lib/config": "[core]\n\tfsmonitor = evil\n", "lib/hooks/post-index-change": "evil\n" });
  const { refused } = await stageAll(worktree);
  assert.deepEqual(refused, [{ folder: "lib", entries: ["lib/config", "lib/hooks"] }]);
  assert.deepEqual(plainGit(worktree.path, "diff", "--cached", "--name-only").trim().split("\n"), files);
  assert.equal(readFileSync(join(worktree.path, "lib/config"), "utf8"), SHAPE["lib/config"]);
  assert.equal(existsNoFollow(join(worktree.path, "lib/hooks")), false);
});

test("a tree that is not staged is made harmless too, whatever the agent has put into the index", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { worktree, baseSha } = box;
  write(worktree.path, SHAPE);
  plainGit(worktree.path, "add", "-A");
  await dissolveRepositories(worktree, baseSha);
  assert.equal(foundIn(worktree, "lib"), worktree.gitDir);
});

test("names of `.git` that only other disks know are left out", thorough, async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { worktree, baseSha } = box;
  write(worktree.path, { "x/.g\u200cit/config": "evil\n", "x/.GIT./config": "evil\n", "x/good": "good\n" });
  await stageAll(worktree);
  const tree = await stagedTree(worktree);
  assert.equal(plainGit(worktree.path, "diff", "--name-only", baseSha, tree).trim(), "x/good");
});

for (const method of oneOf(["merge", "squash", "rebase"] as const)) {
  test(`${method}: a repository that only the merge completes is refused, unless it is allowed`, async (t) => {
    const box = await planSandbox();
    t.after(box.close);
    const { repo, worktree } = box;
    write(worktree.path, without("objects", "config"));
    await commitWith(worktree, "half");
    write(repo.root, { ...without("HEAD", "refs") });
    plainGit(repo.root, "add", "-A");
    plainGit(repo.root, "commit", "-q", "-m", "the other half");
    const before = plainGit(repo.root, "rev-parse", "main");
    const request = { branch: BRANCH, base: "main", message: "Merge", identity: IDENTITY, places: [], method };
    assert.deepEqual(await mergeIntoBase(repo, request), { kind: "repository", files: ["lib/HEAD"] });
    assert.equal(plainGit(repo.root, "rev-parse", "main"), before);
    const allowed = await mergeIntoBase(repo, { ...request, allowUnsafe: true });
    const sha = plainGit(repo.root, "rev-parse", "main").trim();
    assert.deepEqual(allowed, { kind: "merged", sha, unsafe: { kind: "repository", files: ["lib/HEAD"] } });
  });
}

test("a repository among the files of another one is refused from wherever it is found", async (t) => {
  const box = await sandbox({ ...BASE_FILES, ...SHAPE, "prloom.json": "{}", "sub/a": "" });
  t.after(box.close);
  const { root } = box.repo;
  mkdirSync(join(root, "lib/refs/tags"), { recursive: true });
  for (const folder of ["lib", "lib/refs", "lib/refs/tags"]) {
    const error = { code: "nested-repository", message: /lib/, hint: new RegExp(`cd ${root}\``) };
    await assert.rejects(openRepository(join(root, folder)), error, folder);
  }
  // A working tree elsewhere, and a file that leads to it.
  plainGit(root, "config", "-f", "lib/config", "core.worktree", box.dir);
  await assert.rejects(openRepository(join(root, "lib")), { code: "nested-repository" });
  writeFileSync(join(root, "sub/.git"), "gitdir: ../lib\n");
  await assert.rejects(openRepository(join(root, "sub")), { code: "nested-repository" });
  plainGit(root, "rm", "-q", "-r", "--cached", "--ignore-unmatch", "lib");
  writeFileSync(join(root, "sub/.git"), "");
  plainGit(box.dir, "init", "-q", join(root, "src"));
  await assert.rejects(openRepository(join(root, "src/deep")), { code: "nested-repository" });
});

test("clones that the outer repository ignores, bare ones too, and submodules are used", async (t) => {
  const box = await sandbox();
  t.after(box.close);
  const { root } = box.repo;
  const allow = ["-c", "protocol.file.allow=always"];
  plainGit(root, "clone", "-q", root, "ignored/clone");
  plainGit(root, "clone", "-q", "--bare", root, "ignored/bare.git");
  plainGit(root, ...allow, "submodule", "--quiet", "add", root, "module");
  assert.equal((await openRepository(join(root, "ignored/clone/src"))).root, join(root, "ignored/clone"));
  assert.equal((await openRepository(join(root, "ignored/bare.git"))).root, join(root, "ignored/bare.git"));
  assert.equal((await openRepository(join(root, "module/src"))).root, join(root, "module"));
});

test("whatever an agent made a repository in its worktree is not ours", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { worktree, repo } = box;
  assert.deepEqual(await openRepository(join(worktree.path, "src")), repo);
  plainGit(worktree.path, "clone", "-q", repo.root, "ignored/one");
  plainGit(worktree.path, "clone", "-q", repo.root, "ignored/one/ignored/two");
  plainGit(worktree.path, "clone", "-q", "--bare", repo.root, "ignored/bare.git");
  for (const folder of ["ignored/one", "ignored/one/ignored/two/src", "ignored/bare.git"]) {
    await assert.rejects(openRepository(join(worktree.path, folder)), { code: "nested-repository" }, folder);
  }
});

test("nor what it made in a worktree that lies elsewhere, as worktreesDir says", thorough, async (t) => {
  const box = await sandbox();
  t.after(box.close);
  const { root, commonDir } = box.repo;
  const [tree, own] = ["one", "own"].map((name) => join(box.dir, "trees", name)) as [string, string];
  for (const path of [tree, own]) {
    plainGit(root, "worktree", "add", "-q", "--detach", path);
    plainGit(path, "clone", "-q", root, "ignored/clone");
  }
  mkdirSync(join(commonDir, "prloom/plans/one"), { recursive: true });
  await assert.rejects(openRepository(join(tree, "ignored/clone")), { code: "nested-repository" });
  // A person's own worktree is none of a plan.
  assert.equal((await openRepository(join(own, "ignored/clone"))).root, join(own, "ignored/clone"));
});

/** As deep as a path may be, and a file on each level. */
const chain = (top: string, name: string) =>
  Array.from(
    { length: Math.floor((4096 - 20) / (name.length + 1)) },
    (_, depth) => `${top}/${`${name}/`.repeat(depth)}f`,
  );

// Each took minutes when all folders of a path were looked at again for every path in them.
const HUGE: [name: string, changed: string[], shapes: number][] = [
  ["folders called refs, one in another", ["a", "b", "c"].flatMap((top) => chain(top, "refs")), 0],
  ["deep folders beside a repository", [...chain("a", "x"), "y/HEAD", "y/commondir"], 1],
  [
    "repositories one in another",
    chain("a", "refs").flatMap((path) => [path.replace(/f$/, "HEAD"), path.replace(/f$/, "objects")]),
    chain("a", "refs").length - 1,
  ],
  ["names of dots", Array.from({ length: 300 }, (_, at) => `${`${".".repeat(250)}x/`.repeat(15)}${at}/refs.`), 0],
];

for (const [name, changed, count] of HUGE) {
  test(`git's own shape is found in time, whatever an agent makes: ${name}`, { timeout: 60_000 }, async () => {
    assert.equal((await repositoryShapes({ before: [], after: changed, changed })).length, count);
  });
}
