import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { haveSamePatches, replay } from "../../../src/git/commits/replay.ts";
import { BRANCH, IDENTITY, plainGit, planSandbox, write } from "../fixture.ts";

async function branches(t: TestContext) {
  const { repo, worktree, baseSha, close } = await planSandbox();
  t.after(close);
  const commit = (folder: string, files: Record<string, string>, message: string): string => {
    write(folder, files);
    plainGit(folder, "add", "-A");
    plainGit(folder, "commit", "-q", "--allow-empty", "-m", message);
    return plainGit(folder, "rev-parse", "HEAD").trim();
  };
  const show = (rev: string, format: string) => plainGit(repo.root, "show", "-s", `--format=${format}`, rev).trim();
  const ofBranch = (files: Record<string, string>, message: string) => commit(worktree.path, files, message);
  const ofBase = (files: Record<string, string>) => commit(repo.root, files, "on base");
  return { repo, worktree, baseSha, show, ofBranch, ofBase };
}

test("commits are made again up to the one that conflicts, the same each time, and nothing moves", async (t) => {
  const { repo, worktree, baseSha, show, ofBranch, ofBase } = await branches(t);
  const clean = ofBranch({ "new.txt": "new\n" }, "clean\n\nPrloom-Step: U/one/1");
  const clash = ofBranch({ "a.txt": "mine\n" }, "clash");
  const from = ofBranch({}, "empty");
  const onto = ofBase({ "a.txt": "theirs\n" });
  const request = { upstream: baseSha, from, done: 0, tip: onto, identity: IDENTITY };
  const { done, tip, conflict } = await replay(repo, request);
  assert.equal(done, 1);
  assert.equal(conflict?.commit, clash);
  assert.deepEqual(conflict?.files, ["a.txt"]);
  const marked = plainGit(repo.root, "show", `${conflict?.tree}:a.txt`);
  assert.match(marked, new RegExp(`^<{7} \\w{40}\\ntheirs\\n={7}\\nmine\\n>{7} ${clash}\\n$`));
  assert.equal(show(tip, "%P"), onto);
  assert.equal(show(tip, "%an %ae %ad %B"), show(clean, "%an %ae %ad %B"));
  assert.equal((await replay(repo, request)).tip, tip);
  assert.equal(plainGit(repo.root, "rev-parse", BRANCH).trim(), from);
  assert.equal(plainGit(worktree.path, "status", "--porcelain"), "");
  // One that changes nothing stays, as does one that is on base already.
  const after = await replay(repo, { ...request, done: 2, tip });
  assert.deepEqual([after.done, after.conflict, show(after.tip, "%s")], [3, undefined, "empty"]);
});

test("patches are the same wherever they are, and not with other words, contents, white space or bytes", async (t) => {
  const { repo, ofBase } = await branches(t);
  const lines = Array.from({ length: 30 }, (_, index) => `line ${index}`);
  const text = (...others: [number, string][]) =>
    `${lines.map((line, at) => others.find(([n]) => n === at)?.[1] ?? line).join("\n")}\n`;
  const start = ofBase({ "l.txt": text(), "b.bin": "\0\u0001" });
  const at = (base: string, files: Record<string, string>, message = "change") => {
    plainGit(repo.root, "checkout", "-q", "--detach", base);
    write(repo.root, files);
    plainGit(repo.root, "add", "-A");
    plainGit(repo.root, "commit", "-q", "-m", message);
    return { upstream: base, from: plainGit(repo.root, "rev-parse", "HEAD").trim() };
  };
  const one = at(start, { "l.txt": text([20, "  new"]) });
  const moved = at(start, { "l.txt": `above\n${text()}` }).from;
  assert.equal(await haveSamePatches(repo, one, at(moved, { "l.txt": `above\n${text([20, "  new"])}` })), true);
  const changed = [
    at(start, { "l.txt": text([20, "  new"]) }, "other words"),
    at(start, { "l.txt": text([20, "    new"]) }),
    at(start, { "l.txt": text([20, "  new"]), "b.bin": "\0\u0002" }),
    { upstream: start, from: start },
  ];
  for (const other of changed) assert.equal(await haveSamePatches(repo, one, other), false);
  const binary = at(start, { "b.bin": "\0\u0003" });
  assert.equal(await haveSamePatches(repo, binary, at(start, { "b.bin": "\0\u0004" })), false);
});
