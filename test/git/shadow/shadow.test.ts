import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { after, test } from "node:test";
import { readSettings } from "../../../src/git/shadow/git-settings.ts";
import { makeShadow, packRefs, removeShadow } from "../../../src/git/shadow/shadow.ts";
import { BRANCH, IDENTITY, plainGit, planSandbox, type Sandbox, write } from "../fixture.ts";

type Planned = Awaited<ReturnType<typeof planSandbox>>;
const boxes: Sandbox[] = [];
after(() => {
  for (const box of boxes) box.close();
});
async function planned(): Promise<Planned> {
  const box = await planSandbox();
  boxes.push(box);
  return box;
}

/** Makes a shadow and returns git as an agent has it that sees the shadow in the place of the repository. */
async function shadowOf(box: Planned): Promise<{ dir: string; git: (...args: string[]) => string }> {
  const dir = join(box.dir, "shadow");
  const { commonDir, path, name } = box.worktree;
  const settings = await readSettings(commonDir);
  await makeShadow({ worktree: box.worktree, dir, objectsAt: join(commonDir, "objects"), settings });
  const env = {
    ...process.env,
    ...IDENTITY,
    GIT_DIR: join(dir, "worktrees", name),
    GIT_COMMON_DIR: dir,
    GIT_WORK_TREE: path,
  };
  const git = (...args: string[]) => execFileSync("git", args, { cwd: path, env, encoding: "utf8", stdio: "pipe" });
  return { dir, git };
}

const refsOf = (root: string): string => plainGit(root, "for-each-ref");

/** All that an agent does with git; afterwards the real repository must be as it was. */
function useAll(git: (...args: string[]) => string, path: string): void {
  write(path, { "new.txt": "new\n", "a.txt": "changed\n" });
  assert.match(git("status", "--porcelain"), /\?\? new\.txt/);
  git("add", "-A");
  git("commit", "-qm", "inside");
  write(path, { "a.txt": "stashed\n" });
  git("stash", "-q");
  git("stash", "pop", "-q");
  git("commit", "-qam", "second");
  git("branch", "side", "HEAD~1");
  git("rebase", "-q", "side");
  git("tag", "inside");
  git("gc", "-q");
  assert.deepEqual(git("log", "--format=%s", "-3").trim().split("\n"), ["second", "inside", "base"]);
  assert.equal(git("fsck", "--no-dangling").trim(), "");
}

const layouts: Record<string, (box: Planned) => void> = {
  "loose refs": () => undefined,
  "packed refs only": (box) => void plainGit(box.repo.root, "pack-refs", "--all", "--prune"),
  "hundreds of refs, some packed, some annotated": (box) => {
    for (let index = 0; index < 40; index += 1) plainGit(box.repo.root, "branch", `topic/${index}`);
    plainGit(box.repo.root, "tag", "-a", "-m", "one", "v1");
    plainGit(box.repo.root, "pack-refs", "--all");
    for (let index = 40; index < 60; index += 1) plainGit(box.repo.root, "branch", `topic/${index}`);
    plainGit(box.repo.root, "tag", "-a", "-m", "two", "v2");
    plainGit(box.repo.root, "symbolic-ref", "refs/heads/alias", "refs/heads/main");
  },
  "names of refs that are not UTF-8, some packed": (box) => {
    const make = 'n=$(printf "caf\\351"); git branch $n/x; git pack-refs --all; git branch $n/y';
    execFileSync("sh", ["-c", make], { cwd: box.repo.root });
  },
  "objects borrowed from a folder beside it": (box) => borrow(box, (objects) => objects),
  "objects borrowed by a relative path": (box) => borrow(box, (objects, from) => relative(from, objects)),
};

/** Moves the objects elsewhere and leaves only the way there, and one to a disk that is away. */
function borrow(box: Planned, name: (objects: string, from: string) => string): void {
  const objects = join(box.repo.commonDir, "objects");
  const elsewhere = join(box.dir, "store", "objects");
  mkdirSync(join(box.dir, "store"));
  execFileSync("mv", [objects, elsewhere]);
  for (const folder of ["info", "pack"]) mkdirSync(join(objects, folder), { recursive: true });
  symlinkSync(join(box.dir, "away", "objects"), join(box.dir, "old"));
  writeFileSync(join(objects, "info/alternates"), `# borrowed\n${box.dir}/old\n${name(elsewhere, objects)}\n`);
}

for (const [layout, make] of Object.entries(layouts)) {
  test(`git works in a shadow and reaches nothing real: ${layout}`, async () => {
    const box = await planned();
    make(box);
    const { root, commonDir } = box.repo;
    const before = { refs: refsOf(root), files: readdirSync(commonDir).sort(), index: indexOf(box) };
    const { git } = await shadowOf(box);
    assert.equal(git("for-each-ref"), before.refs);
    useAll(git, box.worktree.path);
    const after = { refs: refsOf(root), files: readdirSync(commonDir).sort(), index: indexOf(box) };
    assert.deepEqual(after, before);
  });
}

function indexOf(box: Planned): string {
  return readFileSync(join(box.worktree.gitDir, "index"), "latin1");
}

test("a shadow has the branch of the plan, and neither other worktrees nor our own folder", async () => {
  const box = await planned();
  write(box.repo.commonDir, { "prloom/plans/x/state.json": "{}", "worktrees/other/HEAD": "x\n" });
  const { dir, git } = await shadowOf(box);
  assert.equal(git("branch", "--show-current").trim(), BRANCH);
  assert.deepEqual(readdirSync(join(dir, "worktrees")), [box.worktree.name]);
  assert.equal(existsSync(join(dir, "prloom")), false);
  // Whatever is made is removed again after the run: branches are in one file, and a folder without hooks is none.
  assert.deepEqual([readdirSync(join(dir, "refs")), existsSync(join(dir, "hooks"))], [[], false]);
});

test("the next shadow has the refs as they are by then: moved, written in place, removed and made", async () => {
  const box = await planned();
  const { root } = box.repo;
  const first = plainGit(root, "rev-parse", "main").trim();
  for (const name of ["moved", "written", "removed"]) plainGit(root, "branch", name, first);
  await shadowOf(box);
  const second = plainGit(root, "commit-tree", "-m", "Second", `${first}^{tree}`).trim();
  plainGit(root, "update-ref", "refs/heads/moved", second);
  write(box.repo.commonDir, { "refs/heads/written": `${second}\n` });
  plainGit(root, "branch", "-D", "removed");
  plainGit(root, "branch", "made", second);
  const { git } = await shadowOf(box);
  assert.equal(git("for-each-ref"), refsOf(root));
  assert.equal(git("rev-parse", "moved", "written", "made"), `${second}\n`.repeat(3));
});

test("hooks are copied with their rights, links stay links, samples stay away", async () => {
  const box = await planned();
  const hooks = join(box.repo.commonDir, "hooks");
  write(hooks, { "pre-commit": "#!/bin/sh\nexit 1\n", "x.sample": "", "lib/part.sh": "" });
  chmodSync(join(hooks, "pre-commit"), 0o755);
  symlinkSync("../../tools/hook.sh", join(hooks, "commit-msg"));
  const { dir, git } = await shadowOf(box);
  assert.deepEqual(readdirSync(join(dir, "hooks")).sort(), ["commit-msg", "lib", "pre-commit"]);
  assert.ok(lstatSync(join(dir, "hooks/commit-msg")).isSymbolicLink());
  write(box.worktree.path, { "a.txt": "x\n" });
  assert.throws(() => git("commit", "-qam", "refused"));
});

test("a shadow that an agent made read-only is removed, and what its links lead to stays", async () => {
  const box = await planned();
  const { dir } = await shadowOf(box);
  const kept = join(box.dir, "kept");
  mkdirSync(kept);
  writeFileSync(join(kept, "file"), "x");
  symlinkSync(kept, join(dir, "link"));
  mkdirSync(join(dir, "closed/inner"), { recursive: true });
  chmodSync(join(dir, "closed"), 0o500);
  await removeShadow(dir);
  assert.equal(existsSync(dir), false);
  assert.equal(existsSync(join(kept, "file")), true);
});

test("packRefs lays loose refs over packed ones, sorted by bytes, and keeps what is peeled", () => {
  const [a, b, c] = ["a".repeat(40), "b".repeat(40), "c".repeat(40)];
  const packed = `# pack-refs with: peeled fully-peeled sorted \n${a} refs/heads/x\n${b} refs/tags/v1\n^${c}\n`;
  const merged = packRefs(packed, [
    ["refs/heads/x", `${c}\n`],
    ["refs/heads/Z", `${b}\n`],
    ["refs/heads/é", `${a}\n`],
  ]);
  assert.deepEqual(merged.split("\n").slice(1), [
    `${b} refs/heads/Z`,
    `${c} refs/heads/x`,
    `${a} refs/heads/é`,
    `${b} refs/tags/v1`,
    `^${c}`,
    "",
  ]);
});
