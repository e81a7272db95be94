import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ensureIgnored } from "../../../src/git/repository.ts";
import { restoreProtected, stageAll } from "../../../src/git/staging/stage.ts";
import { stagedChanges } from "../../../src/git/staging/staged-changes.ts";
import { resetTo, savePartial } from "../../../src/git/worktree/reset.ts";
import { headState } from "../../../src/git/worktree/settle-head.ts";
import { BRANCH, plainGit, planSandbox, write } from "../fixture.ts";

test("HEAD that does not descend from the base is diverged", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { worktree, baseSha } = box;
  plainGit(worktree.path, "commit", "-q", "--amend", "-m", "rewritten");
  assert.equal(await headState(worktree, { branch: BRANCH, baseSha }), "diverged");
});

test("deletions are counted, renames are not deletions, protected changes alone are told apart", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { worktree, baseSha } = box;
  ensureIgnored(box.repo);
  write(worktree.path, { "prloom/.local/plan.md": "x" });
  assert.deepEqual(await stageAll(worktree), { nested: [], refused: [], protectedChanged: false });
  const none = await stagedChanges(worktree, baseSha);
  assert.deepEqual(none, { files: [], links: [], deleted: 0, trackedBefore: 0 });
  write(worktree.path, { "prloom/config.json": "changed", "prloom/more/new.json": "{}" });
  assert.equal((await stageAll(worktree)).protectedChanged, true);
  assert.deepEqual((await stagedChanges(worktree, baseSha)).files, []);
  await restoreProtected(worktree);
  assert.equal((await stageAll(worktree)).protectedChanged, false);
  assert.ok(existsSync(join(worktree.path, "prloom/.local/plan.md")));
  renameSync(join(worktree.path, "src/deep/c.ts"), join(worktree.path, "d.ts"));
  rmSync(join(worktree.path, "b.txt"));
  await stageAll(worktree);
  const changes = await stagedChanges(worktree, baseSha);
  assert.deepEqual([changes.files.sort(), changes.deleted, changes.trackedBefore], [["b.txt", "d.ts"], 1, 5]);
});

test("an edit that keeps size and times is seen", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { worktree, baseSha } = box;
  const file = join(worktree.path, "a.txt");
  const { atime, mtime } = lstatSync(file);
  plainGit(box.repo.root, "config", "core.trustctime", "false");
  writeFileSync(file, "eno\n");
  utimesSync(file, atime, mtime);
  await stageAll(worktree);
  assert.deepEqual((await stagedChanges(worktree, baseSha)).files, ["a.txt"]);
});

test("a folder that was replaced by a link: the link is committed or removed, what it points to is safe", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { worktree, baseSha } = box;
  const outside = join(box.dir, "outside");
  write(outside, { "deep/c.ts": "precious\n", "other.txt": "precious\n" });
  rmSync(join(worktree.path, "src"), { recursive: true });
  symlinkSync(outside, join(worktree.path, "src"));
  symlinkSync(outside, join(worktree.path, "another"));
  await stageAll(worktree);
  assert.deepEqual((await stagedChanges(worktree, baseSha)).files.sort(), ["another", "src", "src/deep/c.ts"]);
  await resetTo(worktree, baseSha, BRANCH);
  assert.equal(readFileSync(join(outside, "deep/c.ts"), "utf8"), "precious\n");
  assert.equal(readFileSync(join(outside, "other.txt"), "utf8"), "precious\n");
  assert.equal(lstatSync(join(worktree.path, "src")).isDirectory(), true);
  assert.equal(existsSync(join(worktree.path, "another")), false);
});

test("a partial patch is binary-safe, leaves the index alone, and the first one is kept", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { worktree, baseSha } = box;
  const patch = join(box.dir, "partial.patch");
  assert.equal(await savePartial(worktree, { baseSha, patchFile: patch }), undefined);
  assert.equal(existsSync(patch), false);
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, value) => value));
  writeFileSync(join(worktree.path, "image.bin"), bytes);
  write(worktree.path, { "prloom/.local/secret": "no" });
  plainGit(worktree.path, "rm", "-q", "b.txt");
  const status = plainGit(worktree.path, "status", "--porcelain");
  assert.equal(await savePartial(worktree, { baseSha, patchFile: patch }), patch);
  assert.equal(plainGit(worktree.path, "status", "--porcelain"), status);
  await resetTo(worktree, baseSha, BRANCH);
  assert.equal(await savePartial(worktree, { baseSha, patchFile: patch }), patch);
  plainGit(worktree.path, "apply", patch);
  assert.deepEqual(readFileSync(join(worktree.path, "image.bin")), bytes);
  assert.equal(existsSync(join(worktree.path, "b.txt")), false);
  assert.doesNotMatch(readFileSync(patch, "latin1"), /secret/);
});

test("what came after an earlier patch gets one of its own, and what that has does not", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { worktree, baseSha } = box;
  const patch = join(box.dir, "partial.patch");
  write(worktree.path, { "one.txt": "one\n" });
  for (const time of ["first", "second"])
    assert.equal(await savePartial(worktree, { baseSha, patchFile: patch }), patch, time);
  await resetTo(worktree, baseSha, BRANCH);
  write(worktree.path, { "two.txt": "two\n" });
  const second = join(box.dir, "partial-2.patch");
  assert.equal(await savePartial(worktree, { baseSha, patchFile: patch }), second);
  assert.match(readFileSync(patch, "utf8"), /^\+one$/m);
  assert.match(readFileSync(second, "utf8"), /^\+two$/m);
});

test("a partial patch applies as every patch does, whatever prefixes a person has set", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { worktree, baseSha } = box;
  const patch = join(box.dir, "partial.patch");
  plainGit(box.repo.root, "config", "diff.noprefix", "true");
  write(worktree.path, { "src/new/n.txt": "n\n" });
  assert.equal(await savePartial(worktree, { baseSha, patchFile: patch }), patch);
  await resetTo(worktree, baseSha, BRANCH);
  plainGit(worktree.path, "apply", patch);
  assert.equal(readFileSync(join(worktree.path, "src/new/n.txt"), "utf8"), "n\n");
});

test("a file that git would be ended over is refused at once, and the rest is kept without it", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { worktree, baseSha } = box;
  write(worktree.path, { "huge.bin": "", "fine.txt": "fine\n" });
  truncateSync(join(worktree.path, "huge.bin"), 2 * 1024 ** 4);
  await assert.rejects(stageAll(worktree), { code: "tree-too-large", message: /^huge\.bin is larger/ });
  const patch = join(box.dir, "partial.patch");
  assert.equal(await savePartial(worktree, { baseSha, patchFile: patch }), patch);
  assert.match(readFileSync(patch, "utf8"), /^\+fine$/m);
  await resetTo(worktree, baseSha, BRANCH);
  assert.equal(plainGit(worktree.path, "status", "--porcelain"), "");
});

test("a tracked file that became a named pipe counts as deleted and comes back", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { worktree, baseSha } = box;
  rmSync(join(worktree.path, "b.txt"));
  execFileSync("mkfifo", [join(worktree.path, "b.txt")]);
  await stageAll(worktree);
  const { files, deleted } = await stagedChanges(worktree, baseSha);
  assert.deepEqual([files, deleted], [["b.txt"], 1]);
  await resetTo(worktree, baseSha, BRANCH);
  assert.equal(readFileSync(join(worktree.path, "b.txt"), "utf8"), "two\n");
});

test("staging works when the repository ignores the whole prloom folder", async (t) => {
  const box = await planSandbox({ ".gitignore": "prloom/\n", "a.txt": "one\n" });
  t.after(box.close);
  write(box.worktree.path, { "a.txt": "changed", "prloom/x": "x" });
  await stageAll(box.worktree);
  assert.deepEqual((await stagedChanges(box.worktree, box.baseSha)).files, ["a.txt"]);
});

test("files that were copied in are left out of a commit, however their path is written", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  write(box.worktree.path, { ".env": "secret", "conf/schlüssel": "secret", "conf/other": "x", "dir/y": "y" });
  await stageAll(box.worktree, ["./.env", "conf/schlüssel", "dir/"]);
  assert.deepEqual((await stagedChanges(box.worktree, box.baseSha)).files, ["conf/other"]);
});
