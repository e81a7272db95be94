import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import { commitStep, findStepCommit } from "../../../src/git/commits/commit.ts";
import { branchTip, ensureIgnored } from "../../../src/git/repository.ts";
import { stageAll } from "../../../src/git/staging/stage.ts";
import { stagedChanges } from "../../../src/git/staging/staged-changes.ts";
import { resetTo, savePartial } from "../../../src/git/worktree/reset.ts";
import { foldAgentCommits, headState } from "../../../src/git/worktree/settle-head.ts";
import type { Worktree } from "../../../src/git/worktree/worktrees.ts";
import { someOf } from "../../testing/sample.ts";
import { BASE_FILES, BRANCH, IDENTITY, plainGit, planSandbox, write } from "../fixture.ts";
import { tricks } from "./hostile-trees.ts";

const NAME = { uid: "01ABC", todoId: "t1" };

/** The end of a run as the dispatcher performs it: settle, fold, stage, commit. */
async function finish(worktree: Worktree, baseSha: string): Promise<{ sha: string; files: string[] }> {
  const state = await headState(worktree, { branch: BRANCH, baseSha });
  assert.notEqual(state, "diverged");
  if (state === "ahead") await foldAgentCommits(worktree, baseSha);
  await stageAll(worktree);
  const { files } = await stagedChanges(worktree, baseSha);
  const trailer = { ...NAME, attempt: 1 };
  return {
    sha: await commitStep(worktree, {
      branch: BRANCH,
      message: "Do it",
      trailer,
      identity: IDENTITY,
      allowEmpty: false,
    }),
    files,
  };
}

for (const [name, { play, also = [] }] of someOf(Object.entries(tricks), 5)) {
  test(`one commit with the agent's work and nothing else, when the agent ${name}`, async (t) => {
    const box = await planSandbox();
    t.after(box.close);
    const { worktree, repo, baseSha } = box;
    ensureIgnored(repo);
    write(worktree.path, { "a.txt": "changed\n" });
    play(worktree, repo.root);
    const { sha, files } = await finish(worktree, baseSha);
    assert.deepEqual(files.sort(), ["a.txt", ...also].sort());
    assert.equal(plainGit(repo.root, "rev-parse", `${sha}^`).trim(), baseSha);
    assert.equal(await branchTip(repo, BRANCH), sha);
    assert.equal(await branchTip(repo, "main"), baseSha);
    assert.equal(plainGit(repo.root, "symbolic-ref", "HEAD").trim(), "refs/heads/main");
    assert.equal(await findStepCommit(worktree, { ...NAME, baseSha, branch: BRANCH }), sha);
    assert.equal(existsSync(join(worktree.gitDir, "evil")), false);
    const committed = plainGit(repo.root, "ls-tree", "-r", "-z", "--name-only", sha).split("\0").filter(Boolean).sort();
    assert.deepEqual(committed, [...Object.keys(BASE_FILES), ...also].sort());
    assert.equal(plainGit(repo.root, "show", `${sha}:prloom/config.json`), "{}\n");
  });

  test(`reset gives the base back, when the agent ${name}`, async (t) => {
    const box = await planSandbox();
    t.after(box.close);
    const { worktree, repo, baseSha } = box;
    ensureIgnored(repo);
    write(worktree.path, {
      "a.txt": "changed\n",
      "ignored/cache": "keep",
      "prloom/.local/plan.md": "keep",
      "new/x": "go",
    });
    play(worktree, repo.root);
    await headState(worktree, { branch: BRANCH, baseSha });
    const patch = join(box.dir, "partial.patch");
    assert.equal(await savePartial(worktree, { baseSha, patchFile: patch }), patch);
    await resetTo(worktree, baseSha, BRANCH);
    const status = ["--no-replace-objects", "status", "--porcelain", "--untracked-files=all"];
    assert.equal(plainGit(worktree.path, ...status), "");
    for (const [path, text] of Object.entries(BASE_FILES))
      assert.equal(readFileSync(join(worktree.path, path), "utf8"), text);
    assert.deepEqual([await branchTip(repo, BRANCH), await branchTip(repo, "main")], [baseSha, baseSha]);
    assert.equal(readFileSync(join(worktree.path, "ignored/cache"), "utf8"), "keep");
    assert.equal(readFileSync(join(worktree.path, "prloom/.local/plan.md"), "utf8"), "keep");
    for (const gone of ["nested", "new", "src/.git", "src/new.ts", "-f"])
      assert.equal(existsSync(join(worktree.path, gone)), false);
    plainGit(worktree.path, "apply", patch);
    for (const path of [...also, "new/x"]) {
      assert.ok(readdirSync(dirname(join(worktree.path, path))).includes(basename(path)), path);
    }
  });
}
