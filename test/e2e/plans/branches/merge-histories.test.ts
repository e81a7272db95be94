import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Project } from "../../../testing/project.ts";
import { projectMaker, succeeds, works } from "../../../testing/projects.ts";
import { thorough } from "../../../testing/thorough.ts";

const fresh = projectMaker();
const PERSON = ["-c", "user.name=P", "-c", "user.email=p@localhost"];

/** A plan in review, and one commit of a person on main since. */
async function reviewed(): Promise<Project> {
  const project = fresh();
  project.plan("one", ["make it"]);
  await works(project);
  writeFileSync(join(project.root, "mine.txt"), "mine\n");
  project.git("add", "mine.txt");
  project.git(...PERSON, "commit", "-qm", "mine");
  return project;
}

const inWorktree = (project: Project, ...args: string[]): string =>
  project.git("-C", project.worktree("one"), ...PERSON, ...args);

describe("what people do to branches by hand", { concurrency: 2 }, () => {
  test("a branch that a person emptied is not merged, and the work can be brought back", thorough, async () => {
    const project = await reviewed();
    inWorktree(project, "reset", "-q", "--hard", "main");
    await works(project);
    assert.equal(project.record("one").status, "review");
    const refused = await project.cli(["merge", "one"]);
    assert.equal(refused.code, 1, refused.stdout);
    assert.match(
      refused.stderr,
      /has no commit of one any more .*and main does not have what that changed\. \[plan-state\]/,
    );
    const [, commit = ""] = /git -C \S+ merge ([0-9a-f]+)`/.exec(refused.stderr) ?? [];
    inWorktree(project, "merge", "-q", "--no-edit", commit);
    await succeeds(project, "merge", "one");
    assert.match(project.git("ls-tree", "--name-only", "main"), /mine\.txt[\s\S]*work\.txt/);
  });

  test("and is ended as merged by force", thorough, async () => {
    const project = await reviewed();
    inWorktree(project, "reset", "-q", "--hard", "main");
    await succeeds(project, "merge", "one", "--force");
    assert.equal(project.record("one").outcome, "merged");
  });

  for (const [what, bring] of [
    [
      "squashed into main, and then emptied",
      (project: Project) => {
        project.git(...PERSON, "merge", "-q", "--squash", "prloom/one");
        project.git(...PERSON, "commit", "-qm", "one of mine");
        inWorktree(project, "reset", "-q", "--hard", "main");
      },
    ],
    [
      "made one commit without a trailer, and fast-forwarded",
      (project: Project) => {
        inWorktree(project, "rebase", "-q", "main");
        inWorktree(project, "reset", "-q", "--soft", "main");
        inWorktree(project, "commit", "-qm", "one of mine");
        project.git("merge", "-q", "--ff-only", "prloom/one");
      },
    ],
    [
      "rebased, fast-forwarded, and changed on main since",
      (project: Project) => {
        inWorktree(project, "rebase", "-q", "main");
        project.git("merge", "-q", "--ff-only", "prloom/one");
        writeFileSync(join(project.root, "work.txt"), "other\n");
        project.git(...PERSON, "commit", "-qam", "other");
      },
    ],
  ] as const)
    test(`a branch that was ${what} is merged`, thorough, async () => {
      const project = await reviewed();
      bring(project);
      await works(project);
      assert.equal(project.record("one").outcome, "merged");
    });

  test("a base that was begun anew gets the plan's own commits by the named command", thorough, async () => {
    const project = await reviewed();
    project.git("checkout", "-q", "--orphan", "anew");
    project.git(...PERSON, "commit", "-qm", "anew");
    project.git("branch", "-M", "anew", "main");
    assert.doesNotMatch(await works(project), /cannot be told/);
    const refused = await project.cli(["merge", "one"]);
    assert.match(refused.stderr, /stands on \d+ commits? that main had and has no more.*\[merge-conflict\]/);
    assert.match(refused.stderr, /hint: `prloom rebase one`/);
    await succeeds(project, "rebase", "one");
    await succeeds(project, "merge", "one");
    assert.match(project.git("ls-tree", "--name-only", "main"), /work\.txt/);
    assert.equal(project.git("rev-list", "--count", "main").trim(), "2");
  });

  test("a branch that was renamed gets its name back by the command that the refusal names", thorough, async () => {
    const project = await reviewed();
    project.git("branch", "-m", "prloom/one", "elsewhere");
    const refused = await project.cli(["merge", "one"]);
    assert.match(refused.stderr, /There is no branch prloom\/one\.[\s\S]*`git branch -m <name> prloom\/one`/);
    project.git("branch", "-m", "elsewhere", "prloom/one");
    await succeeds(project, "merge", "one");
  });

  test("a lock that a git left in the checkout is named, and nothing is to be stashed for it", thorough, async () => {
    const project = await reviewed();
    const lock = join(project.root, ".git", "index.lock");
    writeFileSync(lock, "");
    const refused = await project.cli(["merge", "one"]);
    assert.match(refused.stderr, /left .*index\.lock \[checkout-in-the-way\]\n.*If none runs there, remove the file/);
    assert.doesNotMatch(refused.stderr, /stash/);
    rmSync(lock);
    await succeeds(project, "merge", "one");
  });
});
