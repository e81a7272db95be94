import assert from "node:assert/strict";
import { test } from "node:test";
import { whereLeft } from "../../../src/git/commits/history.ts";
import { BRANCH, plainGit, planSandbox } from "../fixture.ts";

test("a branch left its base where it began, unless it was brought up to date by hand", async (t) => {
  const { repo, worktree, baseSha: began, close } = await planSandbox();
  t.after(close);
  const git = (folder: string, ...args: string[]) => plainGit(folder, ...args).trim();
  const base = git(repo.root, "branch", "--show-current");
  const commit = (folder: string, words: string) => git(folder, "commit", "-q", "--allow-empty", "-m", words);
  const left = () => whereLeft(repo, { base, began, head: git(repo.root, "rev-parse", BRANCH) });
  commit(worktree.path, "own");
  commit(repo.root, "of others");
  assert.equal(await left(), began, "base has moved");
  const tip = git(repo.root, "rev-parse", base);
  git(worktree.path, "merge", "-q", "--no-edit", base);
  assert.equal(await left(), tip, "base was merged into it");
  git(worktree.path, "reset", "-q", "--hard", "HEAD~1");
  git(worktree.path, "rebase", "-q", base);
  assert.equal(await left(), tip, "a person rebased it");
  git(repo.root, "reset", "-q", "--hard", began);
  git(repo.root, "commit", "-q", "--allow-empty", "--amend", "-m", "another");
  assert.equal(await left(), began, "what it began at was amended");
  git(repo.root, "reset", "-q", "--hard", BRANCH);
  assert.equal(await left(), began, "base has all of it");
  assert.equal(await whereLeft(repo, { base: "gone", began, head: tip }), began, "base is gone");
});
