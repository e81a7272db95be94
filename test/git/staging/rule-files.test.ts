import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { stageInto } from "../../../src/git/staging/stage.ts";
import { stagedChanges } from "../../../src/git/staging/staged-changes.ts";
import { thorough } from "../../testing/thorough.ts";
import { BASE_FILES, planSandbox, removedAfter, write } from "../fixture.ts";

const boxes = removedAfter();

async function planned(files?: Record<string, string>) {
  const box = await planSandbox(files);
  boxes.push(box);
  return { ...box, path: box.worktree.path };
}

test(
  "a pipe called .gitignore in a folder that git does not know is found when git does not answer",
  thorough,
  async () => {
    const box = await planned();
    mkdirSync(join(box.path, "new/deep"), { recursive: true });
    execFileSync("mkfifo", [join(box.path, "new/deep/.gitignore")]);
    write(box.path, { "new/deep/x": "x" });
    const indexFile = join(box.worktree.gitDir, "index");
    await stageInto(box.worktree, { indexFile, from: "HEAD", leaveOut: [], timeoutMs: 2000 });
    assert.deepEqual((await stagedChanges(box.worktree, box.baseSha)).files, ["new/deep/x"]);
  },
);

test("a .gitignore that git is never done with makes room for that of the base", thorough, async () => {
  const box = await planned();
  const deep = `q/${"a/".repeat(100)}`;
  write(box.path, { ".gitignore": `/**${"/[a]/**".repeat(14)}/b\n`, [`${deep}x`]: "x", "ignored/key": "secret" });
  const indexFile = join(box.worktree.gitDir, "index");
  await stageInto(box.worktree, { indexFile, from: "HEAD", leaveOut: [], timeoutMs: 5000 });
  assert.deepEqual((await stagedChanges(box.worktree, box.baseSha)).files, [`${deep}x`]);
  assert.equal(readFileSync(join(box.path, ".gitignore"), "utf8"), BASE_FILES[".gitignore"]);
});

test(
  "what else git does not answer for leaves people's rules as they are, and what they ignore",
  thorough,
  async () => {
    const honest = "a/**/b/**/c/**/d/**\nignored/\n";
    const box = await planned({ ...BASE_FILES, ".gitignore": honest, "sub/.gitignore": "x\n" });
    mkdirSync(join(box.path, "new/deep"), { recursive: true });
    execFileSync("mkfifo", [join(box.path, "new/deep/.gitignore")]);
    rmSync(join(box.path, "sub/.gitignore"));
    const banner = `#${"*".repeat(60)}\nbuild/\n`;
    write(box.path, { "new/.gitignore": banner, "new/build/y": "y", "new/deep/x": "x", "ignored/key": "secret" });
    const indexFile = join(box.worktree.gitDir, "index");
    await stageInto(box.worktree, { indexFile, from: "HEAD", leaveOut: [], timeoutMs: 2000 });
    const { files } = await stagedChanges(box.worktree, box.baseSha);
    assert.deepEqual(files, ["new/.gitignore", "new/deep/x", "sub/.gitignore"]);
    assert.equal(readFileSync(join(box.path, ".gitignore"), "utf8"), honest);
  },
);

test(
  "rules that are too many for git make room for those of the base, and honest ones of the base stay",
  thorough,
  async () => {
    const box = await planned({ ...BASE_FILES, "sub/.gitignore": "kept/\n" });
    const deep = `q/${"a/".repeat(200)}`;
    const many = Array.from({ length: 3000 }, (_, index) => `/**/[a]/**/[a]/**/b${index}\n`).join("");
    write(box.path, { ".gitignore": `ignored/\n${many}`, "new/.gitignore": "x\n", [`${deep}x`]: "x" });
    write(box.path, { "ignored/key": "secret", "sub/kept/key": "secret" });
    const indexFile = join(box.worktree.gitDir, "index");
    await stageInto(box.worktree, { indexFile, from: "HEAD", leaveOut: [], timeoutMs: 3000 });
    assert.deepEqual((await stagedChanges(box.worktree, box.baseSha)).files, [`${deep}x`]);
    assert.equal(readFileSync(join(box.path, ".gitignore"), "utf8"), BASE_FILES[".gitignore"]);
  },
);

test("rules of the base that git is never done with stay, and are told as what they are", async () => {
  const slow = `ignored/\n/**${"/[a]/**".repeat(14)}/b\n`;
  const box = await planned({ ...BASE_FILES, ".gitignore": slow, "sub/.gitignore": "**/x\n" });
  write(box.path, { [`q/${"a/".repeat(100)}x`]: "x" });
  const indexFile = join(box.worktree.gitDir, "index");
  await assert.rejects(stageInto(box.worktree, { indexFile, from: "HEAD", leaveOut: [], timeoutMs: 2000 }), {
    code: "git-failed",
    message: /the repository's own: the slowest is probably line 2 of \.gitignore\.$/,
    hint: /^Shorten the rules in .*`prloom unblock <plan>`\.$/,
  });
  assert.equal(readFileSync(join(box.path, ".gitignore"), "utf8"), slow);
});
