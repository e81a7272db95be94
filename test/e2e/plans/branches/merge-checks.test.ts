import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Project } from "../../../testing/project.ts";
import { projectMaker, succeeds, works } from "../../../testing/projects.ts";
import { thorough } from "../../../testing/thorough.ts";

const fresh = projectMaker();

/** A plan in review, and a base that has moved since; the check passes on either, and on both together it does not. */
async function apart(other?: string): Promise<Project> {
  const seen = "ls work.txt elsewhere.txt >> ../../../../../seen 2>&1";
  const check =
    other ?? `${seen}; ! [ -e work.txt ] || ! [ -e elsewhere.txt ] || { echo not together; touch left; exit 1; }`;
  const project = fresh({ config: { checks: [check] } });
  project.plan("one", ["make it"]);
  await works(project);
  writeFileSync(join(project.root, "elsewhere.txt"), "else\n");
  project.git("add", "elsewhere.txt");
  project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", "elsewhere");
  return project;
}

/** What the merge must leave alone, where it is refused. */
function asItWas(project: Project): string[] {
  const worktree = project.worktree("one");
  return [
    project.git("rev-parse", "main", "prloom/one"),
    // Whether git knows of it already does not matter.
    project.git("-C", worktree, "status", "--porcelain", "--untracked-files=all").replace(/^A {2}/gm, "?? "),
    readFileSync(join(worktree, "mine.txt"), "utf8"),
    project.record("one").status,
  ];
}

describe("a base that was rewritten", { concurrency: 2 }, () => {
  const amend = (project: Project, ...more: string[]): string =>
    project.git(
      "-c",
      "user.name=P",
      "-c",
      "user.email=p@localhost",
      "commit",
      "-q",
      "--amend",
      "-m",
      "second",
      ...more,
    );

  /** A plan in review on a commit with a file. */
  async function onSecret(): Promise<Project> {
    const project = fresh();
    writeFileSync(join(project.root, "secret.txt"), "key\n");
    project.git("add", "secret.txt");
    project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", "first");
    project.plan("one", ["make it"]);
    await works(project);
    return project;
  }

  test("gets nothing back that was taken out of it, before the branch is rebased and after", thorough, async () => {
    const project = await onSecret();
    project.git("rm", "-q", "secret.txt");
    amend(project, "--allow-empty");
    for (const method of ["--squash", "--merge", "--rebase"]) {
      const refused = await project.cli(["merge", "one", method]);
      assert.equal(refused.code, 1, refused.stdout);
      assert.match(refused.stderr, /stands on 1 commit that main had and has no more.*\[merge-conflict\]/);
      assert.match(refused.stderr, /`prloom rebase one`/);
    }
    await succeeds(project, "rebase", "one");
    await works(project);
    await succeeds(project, "merge", "one", "--delete-branch");
    const shown = await succeeds(project, "show", "one");
    assert.match(shown, /^branch: prloom\/one \(deleted\)\nmerged: [0-9a-f]{8} on main$/m);
    assert.doesNotMatch(project.git("ls-tree", "--name-only", "main"), /secret/);
    assert.match(project.git("ls-tree", "--name-only", "main"), /work\.txt/);
  });

  test("gets nothing back that was taken out after the branch was rebased onto it by hand", thorough, async () => {
    const project = fresh();
    project.plan("one", ["make it"]);
    await works(project);
    const commit = (name: string) => {
      writeFileSync(join(project.root, name), "key\n");
      project.git("add", name);
      project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", name);
    };
    commit("secret.txt");
    commit("other.txt");
    const person = ["-c", "user.name=P", "-c", "user.email=p@localhost"];
    project.git("-C", project.worktree("one"), ...person, "rebase", "-q", "main");
    project.git("reset", "-q", "--hard", "HEAD~2");
    commit("other.txt");
    const refused = await project.cli(["merge", "one"]);
    assert.match(refused.stderr, /stands on 1 commit that main had and has no more.*\[merge-conflict\]/);
    await succeeds(project, "rebase", "one");
    assert.deepEqual(project.commits("one"), ["make it"]);
    await succeeds(project, "merge", "one");
    assert.doesNotMatch(project.git("ls-tree", "--name-only", "main"), /secret/);
    assert.match(project.git("ls-tree", "--name-only", "main"), /other\.txt[\s\S]*work\.txt/);
  });

  test("that had the plan's own work, taken out again, gets it", thorough, async () => {
    const project = fresh();
    project.plan("one", ["make it"]);
    await works(project);
    const before = project.git("rev-parse", "main").trim();
    project.git("merge", "-q", "--ff-only", "prloom/one");
    project.git("reset", "-q", "--hard", before);
    const more = ["-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-q", "--allow-empty", "-m", "mine"];
    project.git("-C", project.worktree("one"), ...more);
    await succeeds(project, "merge", "one");
    assert.match(project.git("ls-tree", "--name-only", "main"), /work\.txt/);
  });

  test("is merged into where it only has other commits with the same changes", thorough, async () => {
    const project = await onSecret();
    amend(project);
    await succeeds(project, "merge", "one");
    assert.match(project.git("ls-tree", "--name-only", "main"), /secret\.txt[\s\S]*work\.txt/);
  });
});

describe("checks of a merge", { concurrency: 2 }, () => {
  test("one that fails on the branch and the moved base together refuses the merge, and all is as it was", async () => {
    const project = await apart();
    writeFileSync(join(project.worktree("one"), "mine.txt"), "not committed\n");
    const before = asItWas(project);
    for (const method of ["--squash", "--merge", "--rebase"]) {
      const refused = await project.cli(["merge", "one", method]);
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /merged with prloom\/one a check fails\.[\s\S]*not together[\s\S]*\[check-failed\]/);
      assert.deepEqual(asItWas(project), before);
    }
    assert.match(await succeeds(project, "merge", "one", "--force"), /merged one into main/);
  });

  test("a kill in the middle of them is put right by the next merge, and by the next start", thorough, async () => {
    const project = await apart();
    writeFileSync(join(project.worktree("one"), "mine.txt"), "not committed\n");
    const before = asItWas(project);
    for (const next of [
      ["merge", "one"],
      ["start", "--until-idle"],
    ]) {
      const killed = await project.cli(["merge", "one"], { PRLOOM_CRASH_AT: "merge:placed" });
      assert.equal(killed.signal, "SIGKILL", killed.stderr);
      assert.ok(existsSync(join(project.worktree("one"), "elsewhere.txt")));
      await project.cli(next);
      assert.deepEqual(asItWas(project), before);
    }
  });

  test(
    "leave no patch of what the base has, and one of what was saved in the worktree meanwhile",
    thorough,
    async () => {
      const saves = "! [ -e elsewhere.txt ] || echo mine > saved.txt";
      const project = await apart(saves);
      await succeeds(project, "merge", "one");
      const [, patch = ""] = /put aside (\S+aside\.patch)/.exec(await succeeds(project, "show", "one")) ?? [];
      assert.match(readFileSync(patch, "utf8"), /saved\.txt/);
      assert.doesNotMatch(readFileSync(patch, "utf8"), /elsewhere/);
      const quiet = await apart("true");
      await succeeds(quiet, "merge", "one");
      assert.doesNotMatch(await succeeds(quiet, "show", "one"), /put aside/);
    },
  );

  test(
    "where the worktree is gone, the commands that the hint names lead to a merge with checks",
    thorough,
    async () => {
      const project = await apart();
      rmSync(project.worktree("one"), { recursive: true });
      const refused = await project.cli(["merge", "one"]);
      assert.match(
        refused.stderr,
        /no worktree to run the checks in\. \[plan-state\]\n {2}hint: `prloom unblock one`, then `prloom start --until-idle` makes it/,
      );
      assert.match(await succeeds(project, "unblock", "one"), /one was not blocked\. Its worktree is made again/);
      const between = await project.cli(["merge", "one"]);
      assert.match(between.stderr, /hint: `prloom start --until-idle` makes it from branch prloom\/one/);
      await works(project);
      assert.equal(project.record("one").blocked, undefined);
      const checked = await project.cli(["merge", "one"]);
      assert.match(checked.stderr, /a check fails\.[\s\S]*not together[\s\S]*\[check-failed\]/);
    },
  );

  test(
    "a branch that was rebased since was checked on no such base: they run, and not again on what they have seen",
    thorough,
    async () => {
      const project = await apart();
      assert.match(await succeeds(project, "rebase", "one"), /rebased one onto main/);
      const before = project.git("rev-parse", "main");
      const refused = await project.cli(["merge", "one"]);
      assert.equal(refused.code, 1, refused.stdout);
      assert.match(refused.stderr, /On main merged with prloom\/one a check fails\.[\s\S]*\[check-failed\]/);
      assert.equal(project.git("rev-parse", "main"), before);
      const seen = () => readFileSync(join(project.root, "..", "seen"), "utf8");
      const check = "echo again >> ../../../../../seen";
      project.config({ checks: [check] });
      await succeeds(project, "reload", "--yes");
      project.plan("two", ["make more"]);
      await works(project);
      const seenBefore = seen();
      await succeeds(project, "merge", "two");
      assert.equal(seen(), seenBefore, "exactly this was checked");
      project.git("reset", "-q", "--hard", before.trim());
      await succeeds(project, "merge", "one");
      assert.equal(seen(), `${seenBefore}again\n`);
    },
  );

  test("a person who waits for them is told what for", thorough, async () => {
    const project = fresh({
      config: { checks: ["! [ -e elsewhere.txt ] || until [ -e ../../../../../go ]; do sleep 0.1; done"] },
    });
    project.plan("one", ["make it"]);
    await works(project);
    writeFileSync(join(project.root, "elsewhere.txt"), "else\n");
    project.git("add", "elsewhere.txt");
    project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", "elsewhere");
    const merging = project.spawnCli(["merge", "one"]);
    const [told] = await once(merging.stderr!, "data");
    assert.match(String(told), /^Merging: `checks` run first on what the base gets/);
    writeFileSync(join(project.root, "..", "go"), "");
    assert.deepEqual(await once(merging, "exit"), [0, null]);
  });

  test("what a commit hook made of the work was seen by no check", thorough, async () => {
    const project = fresh({ config: { checks: ["! [ -e formatted ] || { echo formatted; exit 1; }"] } });
    const hook = "#!/bin/sh\ntouch formatted && git add formatted\n";
    writeFileSync(join(project.root, ".git", "hooks", "pre-commit"), hook, { mode: 0o755 });
    project.plan("one", ["make it"]);
    await works(project);
    const refused = await project.cli(["merge", "one"]);
    assert.match(refused.stderr, /a check fails\.[\s\S]*formatted[\s\S]*\[check-failed\]/);
  });

  test("what a person rebased by hand has been seen by no check: they run before base moves", thorough, async () => {
    const project = await apart();
    const person = ["-c", "user.name=P", "-c", "user.email=p@localhost"];
    project.git("-C", project.worktree("one"), ...person, "rebase", "-q", "main");
    const before = project.git("rev-parse", "main");
    const refused = await project.cli(["merge", "one"]);
    assert.equal(refused.code, 1, refused.stdout);
    assert.match(refused.stderr, /a check fails\.[\s\S]*not together[\s\S]*\[check-failed\]/);
    assert.equal(project.git("rev-parse", "main"), before);
  });
});
