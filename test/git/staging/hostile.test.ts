import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { rebaseOnto } from "../../../src/git/commits/rebase.ts";
import { git } from "../../../src/git/run.ts";
import { restoreProtected, stageAll } from "../../../src/git/staging/stage.ts";
import { stagedChanges } from "../../../src/git/staging/staged-changes.ts";
import { resetTo, savePartial } from "../../../src/git/worktree/reset.ts";
import { headState } from "../../../src/git/worktree/settle-head.ts";
import { keepTree, restoreTree } from "../../../src/git/worktree/snapshot.ts";
import { removeWorktree } from "../../../src/git/worktree/worktrees.ts";
import { oneOf } from "../../testing/sample.ts";
import { thorough } from "../../testing/thorough.ts";
import { BASE_FILES, BRANCH, IDENTITY, plainGit, planSandbox, removedAfter, write } from "../fixture.ts";

const boxes = removedAfter();

async function planned(files?: Record<string, string>) {
  const box = await planSandbox(files);
  boxes.push(box);
  const { path } = box.worktree;
  return { ...box, path, canary: join(box.dir, "canary"), at: { branch: BRANCH, baseSha: box.baseSha } };
}

/** A repository whose own configuration runs something when git looks into it. */
function plantRepository(path: string, folder: string, canary: string): void {
  const inside = join(path, folder);
  mkdirSync(inside, { recursive: true });
  plainGit(inside, "init", "-q");
  write(inside, { x: "x\n" });
  plainGit(inside, "add", "x");
  plainGit(inside, "commit", "-q", "-m", "inner");
  plainGit(inside, "config", "core.fsmonitor", `echo fsmonitor >> ${canary}; false`);
  plainGit(inside, "config", "filter.x.clean", `echo clean >> ${canary}; cat`);
  write(inside, { ".gitattributes": "* filter=x\n", x: "y\n" });
}

/** What a person types after our own advice. */
function personsStatus(path: string): void {
  execFileSync("git", ["-C", path, "status", "--short"], { stdio: "pipe" });
}

const DECLARED = '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n';

test("listing the conflicts of a rebase runs nothing of a repository that an agent committed", async () => {
  const box = await planned();
  plantRepository(box.path, "sub", box.canary);
  write(box.path, { ".gitmodules": DECLARED, "a.txt": "agent\n" });
  plainGit(box.path, "add", "a.txt", ".gitmodules", "sub");
  plainGit(box.path, "commit", "-q", "-m", "agent");
  write(box.repo.root, { "a.txt": "main\n" });
  plainGit(box.repo.root, "commit", "-q", "-am", "main");
  rmSync(box.canary, { force: true });
  const rebased = await rebaseOnto(box.worktree, { branch: BRANCH, base: "main", identity: IDENTITY, places: [] });
  assert.deepEqual(rebased, { kind: "conflict", files: ["a.txt"] });
  assert.equal(existsSync(box.canary), false);
});

for (const folder of oneOf(["sub", "new/deep/sub", "src", "a.txt"])) {
  test(`a repository that an agent made as ${folder} is an ordinary folder after its run`, async () => {
    const box = await planned();
    if (folder === "a.txt") rmSync(join(box.path, folder));
    plantRepository(box.path, folder, box.canary);
    write(box.path, { ".gitmodules": DECLARED.replaceAll("sub", folder) });
    rmSync(box.canary, { force: true });
    await headState(box.worktree, box.at);
    const { nested } = await stageAll(box.worktree);
    assert.deepEqual(nested, [folder]);
    const { files } = await stagedChanges(box.worktree, box.baseSha);
    assert.ok(files.includes(`${folder}/x`), files.join());
    assert.doesNotMatch(plainGit(box.path, "ls-files", "--stage"), /^160000/m);
    assert.equal(existsSync(join(box.path, folder, ".git")), false);
    personsStatus(box.path);
    personsStatus(join(box.path, folder));
    assert.equal(existsSync(box.canary), false);
  });
}

test("a branch that an agent rewrote is not staged, and still no repository of its is left", async () => {
  const box = await planned();
  plantRepository(box.path, "sub", box.canary);
  plainGit(box.path, "add", "sub");
  plainGit(box.path, "commit", "-q", "--amend", "-m", "rewritten");
  assert.equal(await headState(box.worktree, box.at), "diverged");
  rmSync(box.canary, { force: true });
  personsStatus(box.path);
  assert.equal(existsSync(box.canary), false);
});

/** A plan's worktree of a repository with a real submodule, checked out there as git does it. */
async function withSubmodule() {
  const box = await planned();
  const origin = join(box.dir, "origin");
  mkdirSync(origin);
  plainGit(origin, "init", "-q", "-b", "main");
  write(origin, { inner: "inner\n" });
  plainGit(origin, "add", "-A");
  plainGit(origin, "commit", "-q", "-m", "inner");
  plainGit(box.path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", origin, "lib/sub");
  plainGit(box.path, "commit", "-q", "-m", "submodule");
  const baseSha = plainGit(box.path, "rev-parse", "HEAD").trim();
  return { ...box, baseSha, at: { branch: BRANCH, baseSha }, sub: join(box.path, "lib/sub") };
}

test("a submodule of the base stays what it is, and its .git is what git wrote", async () => {
  const box = await withSubmodule();
  const written = readFileSync(join(box.sub, ".git"), "utf8");
  assert.deepEqual((await stageAll(box.worktree)).nested, []);
  assert.equal(readFileSync(join(box.sub, ".git"), "utf8"), written);
  for (const trick of ["folder", "file", "link"]) {
    rmSync(join(box.sub, ".git"), { recursive: true });
    const elsewhere = join(box.path, `ignored/${trick}`);
    plantRepository(box.path, `ignored/${trick}`, box.canary);
    if (trick === "folder") renameSync(join(elsewhere, ".git"), join(box.sub, ".git"));
    if (trick === "file") writeFileSync(join(box.sub, ".git"), `gitdir: ${elsewhere}/.git\n`);
    if (trick === "link") symlinkSync(join(elsewhere, ".git"), join(box.sub, ".git"));
    await headState(box.worktree, box.at);
    if (trick === "link") await resetTo(box.worktree, box.baseSha, BRANCH);
    else await stageAll(box.worktree);
    assert.equal(readFileSync(join(box.sub, ".git"), "utf8"), written, trick);
    rmSync(box.canary, { force: true });
    personsStatus(box.path);
    assert.equal(existsSync(box.canary), false, trick);
  }
});

test("a submodule whose folder leads elsewhere: nothing there is touched", async () => {
  const box = await withSubmodule();
  const precious = join(box.dir, "precious");
  mkdirSync(join(precious, "sub"), { recursive: true });
  plainGit(join(precious, "sub"), "init", "-q");
  write(join(precious, "sub"), { ".gitattributes": "precious\n" });
  rmSync(join(box.path, "lib"), { recursive: true });
  symlinkSync(precious, join(box.path, "lib"));
  await stageAll(box.worktree);
  await resetTo(box.worktree, box.baseSha, BRANCH);
  assert.ok(statSync(join(precious, "sub/.git/HEAD")).isFile());
  assert.equal(readFileSync(join(precious, "sub/.gitattributes"), "utf8"), "precious\n");
});

test("no git of ours is taken from a relative folder of PATH, nor do filters find programs there", async (t) => {
  const box = await planned();
  const before = process.env.PATH;
  t.after(() => {
    process.env.PATH = before;
  });
  for (const name of ["git", "git-lfs"]) {
    write(box.path, { [`bin/${name}`]: `#!/bin/sh\necho ${name} >> ${box.canary}\nexit 1\n` });
    chmodSync(join(box.path, "bin", name), 0o755);
  }
  write(box.path, { ".gitattributes": "*.bin filter=lfs\n", "a.bin": "x" });
  plainGit(box.repo.root, "config", "filter.lfs.clean", "git-lfs clean -- %f || cat");
  const trusting = { ...box.worktree, trustedFilters: ["lfs"] };
  process.env.PATH = `./bin:bin::${before}`;
  await stageAll(trusting);
  assert.equal(existsSync(box.canary), false);
  process.env.PATH = "./bin";
  await assert.rejects(stageAll(box.worktree), /git is not installed/);
});

test("a git that says too much is ended, and only its caller hears of it", async () => {
  const box = await planned();
  const asked = git(["log", "-p"], { cwd: box.repo.root, maxOutput: 20 });
  await assert.rejects(asked, { code: "tree-too-large", message: /git log -p/ });
  assert.equal((await git(["rev-parse", "HEAD"], { cwd: box.repo.root, maxOutput: 41 })).stdout.length, 41);
});

const ENCODING = "* working-tree-encoding=UTF-16\n";

test("attributes that make git refuse files do not prevent a reset, and the bytes are kept", async () => {
  const box = await planned();
  write(box.path, {
    ".gitattributes": ENCODING,
    "a.txt": "odd",
    "src/deep/.gitattributes": ENCODING,
    w: "work of the agent",
  });
  await assert.rejects(stageAll(box.worktree), { code: "git-failed" });
  const patchFile = join(box.dir, "partial.patch");
  assert.equal(await savePartial(box.worktree, { baseSha: box.baseSha, patchFile }), patchFile);
  assert.match(readFileSync(patchFile, "utf8"), /^\+work of the agent$/m);
  await resetTo(box.worktree, box.baseSha, BRANCH);
  assert.equal(plainGit(box.path, "status", "--porcelain"), "");
  for (const [path, text] of Object.entries(BASE_FILES)) assert.equal(readFileSync(join(box.path, path), "utf8"), text);
});

test("attributes of an agent that only reads do not change what is put back", thorough, async () => {
  const box = await planned();
  write(box.path, { "a.txt": "work under way\n" });
  const kept = await keepTree(box.worktree, { branch: BRANCH, head: box.baseSha, leaveOut: [] });
  write(box.path, { ".gitattributes": ENCODING, "a.txt": "x" });
  const aside = join(box.dir, "aside.patch");
  assert.equal(await restoreTree(box.worktree, kept, { patchFile: aside }), aside);
  assert.equal(readFileSync(join(box.path, "a.txt"), "utf8"), "work under way\n");
  assert.equal(existsSync(join(box.path, ".gitattributes")), false);
});

test("what cannot be kept at all is told in the place of the patch", thorough, async () => {
  const box = await planned();
  write(box.path, { "a.txt": "changed\n" });
  const patchFile = join(box.dir, "partial.patch");
  assert.equal(await savePartial(box.worktree, { baseSha: "f".repeat(40), patchFile }), patchFile);
  assert.match(readFileSync(patchFile, "utf8"), /^# What was changed could not be kept as a patch/);
});

/** Folders deeper than the longest path; only a process that goes down step by step can make them. */
function digDeep(path: string): void {
  const dig = `process.chdir(${JSON.stringify(path)});
    for (let i = 0; i < 60; i += 1) { fs.mkdirSync("d".repeat(200)); process.chdir("d".repeat(200)); }
    fs.writeFileSync("x", "x");`;
  execFileSync(process.execPath, ["-e", dig]);
}

test("folders deeper than any path are taken back and removed", async () => {
  const box = await planned();
  digDeep(box.path);
  write(box.path, { "a.txt": "changed\n" });
  await savePartial(box.worktree, { baseSha: box.baseSha, patchFile: join(box.dir, "partial.patch") });
  await resetTo(box.worktree, box.baseSha, BRANCH);
  assert.equal(existsSync(join(box.path, "d".repeat(200))), false);
  assert.equal(readFileSync(join(box.path, "a.txt"), "utf8"), "one\n");
  digDeep(box.path);
  await removeWorktree(box.repo, box.path);
  assert.equal(existsSync(box.path), false);
});

test("a repository with folders deeper than any path in it is dissolved as well", thorough, async () => {
  const box = await planned();
  plantRepository(box.path, "sub", box.canary);
  digDeep(join(box.path, "sub/.git"));
  assert.deepEqual((await stageAll(box.worktree)).nested, ["sub"]);
  assert.equal(existsSync(join(box.path, "sub/.git")), false);
});

test("protected files are put back in whatever case they are written", async () => {
  const box = await planned();
  write(box.path, { "PRLOOM/config.json": "{}", ".Claude/settings.json": "{}", ".CURSOR/mcp.json": "{}", w: "w" });
  assert.equal((await stageAll(box.worktree)).protectedChanged, true);
  assert.deepEqual((await stagedChanges(box.worktree, box.baseSha)).files, ["w"]);
  await restoreProtected(box.worktree);
  for (const gone of ["PRLOOM", ".Claude", ".CURSOR"]) assert.equal(existsSync(join(box.path, gone)), false, gone);
  assert.equal((await stageAll(box.worktree)).protectedChanged, false);
});

for (const name of ["No space left on device.x", "a\nb: Cannot allocate memory\n.x"]) {
  test(`a file called ${JSON.stringify(name)} makes no plan wait for the system`, async () => {
    const box = await planned();
    write(box.path, { ".gitattributes": "*.x working-tree-encoding=UTF-16\n", [name]: "no byte order mark" });
    await assert.rejects(stageAll(box.worktree), { code: "git-failed", message: /BOM is required/ });
    const patchFile = join(box.dir, "kept.patch");
    assert.equal(await savePartial(box.worktree, { baseSha: box.baseSha, patchFile }), patchFile);
    assert.match(readFileSync(patchFile, "utf8"), /^\+\*\.x working-tree-encoding/m);
  });
}
