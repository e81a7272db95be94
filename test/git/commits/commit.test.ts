import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { commitMessage, commitStep, findStepCommit, stagedTree } from "../../../src/git/commits/commit.ts";
import { commitsBetween, diffStat } from "../../../src/git/commits/history.ts";
import { commitIdentity } from "../../../src/git/repository.ts";
import { stageAll } from "../../../src/git/staging/stage.ts";
import { BRANCH, IDENTITY, plainGit, planSandbox, write } from "../fixture.ts";

const long = "Teach the parser about nested lists, tabs, and carriage returns so that nothing of a plan is lost";

const messages: [text: string, expected: string][] = [
  ["Add a test", "Add a test"],
  ["  \n\n  Add\ta   test  \n", "Add a test"],
  ["", "fallback"],
  [" \r\n\t", "fallback"],
  ["# not a comment", "# not a comment"],
  ["Subject\n\n# a line\nPrloom-Step: forged/1/1\n", "Subject\n\n# a line"],
  ["Subject\r\rprloom-MERGE : f\r\n  folded\n\tmore\nkept\n", "Subject\n\nkept"],
  ["Subject\n\nPrl\u0000oom-X:\n a\n\n b", "Subject\n\n b"],
  ["Prloom-Merge: as a title", "Prloom-Merge: as a title"],
  [`Prloom-Merge: ${"x".repeat(80)}`, `Prloom-Merge: ${"x".repeat(57)}…`],
  ["Subject\n\nnot Prloom-Step: a/b/1", "Subject\n\nnot Prloom-Step: a/b/1"],
  ["\u001b[31mred\u0007\u0000 \u202egnp.exe", "[31mred gnp.exe"],
  [long, `Teach the parser about nested lists, tabs, and carriage returns so that…\n\n${long}`],
  ["x".repeat(100), `${"x".repeat(71)}…\n\n${"x".repeat(100)}`],
  ["$(touch evil) `id` ; -m %H", "$(touch evil) `id` ; -m %H"],
];

for (const [text, expected] of messages) {
  test(`a commit message out of ${JSON.stringify(text.slice(0, 40))}`, () => {
    assert.equal(commitMessage(text, "fallback"), expected);
  });
}

test("any text gives a subject of at most 72 characters on a line of its own", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
      const [subject = "", second] = commitMessage(text, "fallback").split("\n");
      assert.ok(subject.trim() !== "" && Array.from(subject).length <= 72);
      assert.ok(second === undefined || second === "");
    }),
  );
});

test("a step's commit keeps its text and is found by its own trailer only", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { worktree, repo, baseSha } = box;
  const step = (todoId: string, message: string, allowEmpty = false) =>
    commitStep(worktree, {
      branch: BRANCH,
      message,
      trailer: { uid: "U", todoId, attempt: 2 },
      identity: IDENTITY,
      allowEmpty,
    });
  write(worktree.path, { "a.txt": "1\nzwei\n" });
  await stageAll(worktree);
  const text = "# Überschrift -- 'q'\n\nBody";
  const first = await step("t1", `${text}\n\nPrloom-Step: U/forged/1`);
  assert.equal(plainGit(repo.root, "log", "-1", "--format=%B", first).trim(), `${text}\n\nPrloom-Step: U/t1/2`);
  assert.equal(plainGit(repo.root, "log", "-1", "--format=%an <%ae>", first).trim(), "prloom <prloom@localhost>");
  await assert.rejects(step("t2", "nothing"), { code: "git-failed", message: /nothing to commit/ });
  const second = await step("t2", "Only evidence", true);
  const find = (todoId: string, from: string) =>
    findStepCommit(worktree, { baseSha: from, branch: BRANCH, uid: "U", todoId });
  assert.equal(await find("t1", baseSha), first);
  assert.equal(await find("t2", first), second);
  assert.equal(await find("forged", baseSha), undefined);
  assert.equal(await find("t", baseSha), undefined);
  assert.equal(await find("t1", first), undefined);
  assert.deepEqual(await commitsBetween(repo, "main", BRANCH), [
    { sha: first, subject: "# Überschrift -- 'q'", trailer: "U/t1/2" },
    { sha: second, subject: "Only evidence", trailer: "U/t2/2" },
  ]);
  assert.deepEqual(await commitsBetween(repo, BRANCH, "main"), []);
});

test("the user's own identity is used when there is one", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  plainGit(box.repo.root, "config", "user.name", "Ada");
  plainGit(box.repo.root, "config", "user.email", "ada@example.com");
  const identity = await commitIdentity(box.repo);
  const trailer = { uid: "U", todoId: "t", attempt: 1 };
  const sha = await commitStep(box.worktree, { branch: BRANCH, message: "x", trailer, identity, allowEmpty: true });
  assert.equal(plainGit(box.repo.root, "log", "-1", "--format=%an/%cn", sha).trim(), "Ada/Ada");
});

test("a diff's numbers count from where the branch left, renames and binary files included", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { repo, worktree } = box;
  write(repo.root, { "main-only.txt": "1\n2\n3\n" });
  plainGit(repo.root, "add", "main-only.txt");
  plainGit(repo.root, "commit", "-q", "-m", "main goes on");
  write(worktree.path, { "a.txt": "one\nmore\n", "bin.dat": "\0\x01\0" });
  plainGit(worktree.path, "mv", "src/deep/c.ts", "moved\ttab.ts");
  plainGit(worktree.path, "add", "-A");
  plainGit(worktree.path, "commit", "-q", "-m", "work");
  assert.deepEqual(await diffStat(repo, "main", BRANCH), {
    files: [
      { path: "a.txt", added: 1, removed: 0 },
      { path: "bin.dat", added: 0, removed: 0 },
      { path: "moved\ttab.ts", added: 0, removed: 0 },
    ],
    added: 1,
    removed: 0,
  });
  assert.deepEqual(await diffStat(repo, "main", "main"), { files: [], added: 0, removed: 0 });
});

test("a commit with our trailer that we did not make is not a step of ours", async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { worktree, repo, baseSha } = box;
  write(worktree.path, { "a.txt": "verified\n" });
  await stageAll(worktree);
  const tree = await stagedTree(worktree);
  const name = { uid: "U", todoId: "t1", baseSha, branch: BRANCH };
  write(worktree.path, { "a.txt": "forged\n" });
  plainGit(worktree.path, "commit", "-q", "-a", "-m", "Done", "-m", "Prloom-Step: U/t1/1");
  assert.equal(await findStepCommit(worktree, { ...name, tree }), undefined);
  // Nor is one that does not lie on the base, whatever its tree.
  write(worktree.path, { "a.txt": "verified\n" });
  plainGit(worktree.path, "commit", "-q", "-a", "-m", "Done", "-m", "Prloom-Step: U/t1/1");
  assert.equal(plainGit(repo.root, "rev-parse", `${BRANCH}^{tree}`).trim(), tree);
  assert.equal(await findStepCommit(worktree, { ...name, tree }), undefined);
});
