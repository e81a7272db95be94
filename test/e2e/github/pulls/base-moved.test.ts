import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { startDaemon } from "../../../testing/daemon.ts";
import { leaveQueue } from "../../../testing/github/people.ts";
import { thorough } from "../../../testing/thorough.ts";
import { type PublishingProject, publishingProject } from "../publishing-project.ts";

const RULES = { requiredChecks: [], approvals: 0, mergeQueue: false, refusePush: undefined, upToDate: true };

/** A plan in review whose pull request must have what main got since. */
async function behind(made: PublishingProject): Promise<{ readonly before: string; readonly main: string }> {
  const { project, work, repository, ada } = made;
  repository.rules.set("main", RULES);
  project.plan("dark", ["make one"]);
  await work();
  const before = project.git("rev-parse", "prloom/dark").trim();
  return { before, main: ada.pushes("main", { "more.txt": "more\n" }) };
}

describe("a pull request that needs what its base got", { concurrency: 2 }, () => {
  it("is rebased, and its approval holds: no patch changed", async (t) => {
    const made = await publishingProject(t, { gates: { pr: true, advisory: true } });
    const { project, work, there, pulls, cli } = made;
    const { before, main } = await behind(made);
    assert.equal((await cli("approve", "dark")).code, 0);
    await work();
    await work();
    const head = project.git("rev-parse", "prloom/dark").trim();
    assert.notEqual(head, before);
    assert.equal(project.git("rev-parse", "prloom/dark^").trim(), main);
    assert.equal(there("prloom/dark"), head);
    const { status, blocked, behind: still, baseSha } = project.record("dark");
    assert.deepEqual(
      { status, blocked, still, baseSha },
      { status: "review", blocked: undefined, still: undefined, baseSha: main },
    );
    assert.equal(pulls().length, 1);
    const merged = await cli("merge", "dark");
    assert.equal(merged.code, 0, merged.stderr);
  });

  it("gets base by a merge once a person has reviewed it: what they saw is still there", thorough, async (t) => {
    const made = await publishingProject(t);
    const { project, work, there, pulls, ada } = made;
    const { before, main } = await behind(made);
    ada.reviews(pulls()[0]?.number ?? 0, { state: "APPROVED", body: "" });
    await work();
    const parents = project.git("log", "-1", "--format=%P", "prloom/dark").trim();
    assert.equal(parents, `${before} ${main}`);
    assert.equal(there("prloom/dark"), project.git("rev-parse", "prloom/dark").trim());
    assert.equal(project.git("-C", project.worktree("dark"), "status", "--porcelain"), "");
    assert.equal(project.record("dark").baseSha, main);
  });

  it("that conflicts: an agent resolves it, and its commit stays the one of its TODO", thorough, async (t) => {
    const { project, work, there, pulls, ada } = await publishingProject(t);
    project.plan("dark", ["make one"]);
    await work();
    const main = ada.pushes("main", { "work.txt": "of a person\n" });
    ada.reviews(pulls()[0]?.number ?? 0, { state: "COMMENTED", body: "" });
    await work();
    const { status, blocked } = project.record("dark");
    assert.deepEqual({ status, blocked }, { status: "review", blocked: undefined });
    assert.equal(project.git("rev-parse", "prloom/dark^").trim(), main);
    assert.equal(there("prloom/dark"), project.git("rev-parse", "prloom/dark").trim());
    assert.equal(pulls()[0]?.pull?.merged, undefined);
  });

  /** A plan in review whose pull request conflicts with main, where base is only merged. */
  async function conflicting(t: TestContext, config: Record<string, unknown> = {}) {
    const made = await publishingProject(t, config);
    const { project, work, ada } = made;
    const { github: settings } = project.config() as { github: object };
    project.config({ github: { ...settings, update: "merge" } });
    project.plan("dark", ["make one"]);
    await work();
    const before = project.git("rev-parse", "prloom/dark").trim();
    const main = ada.pushes("main", { "work.txt": "of a person\n", "prloom/of-main.txt": "protected\n" });
    return { ...made, before, main };
  }

  it("is never rebased with `merge`: an agent resolves the conflict, and every commit stays", thorough, async (t) => {
    const { project, work, there, before, main, pulls } = await conflicting(t);
    await work();
    const { status, blocked, rebase, baseSha } = project.record("dark");
    assert.deepEqual([status, blocked, rebase, baseSha], ["review", undefined, undefined, main]);
    assert.equal(
      project.git("log", "-1", "--format=%P %s", "prloom/dark").trim(),
      `${before} ${main} Merge main into prloom/dark`,
    );
    assert.equal(there("prloom/dark"), project.git("rev-parse", "prloom/dark").trim());
    const text = project.git("show", "prloom/dark:work.txt");
    assert.match(text, /of a person/);
    assert.doesNotMatch(text, /<<<<<<<|>>>>>>>/);
    assert.equal(project.git("show", "prloom/dark:prloom/of-main.txt"), "protected\n", "as base has it");
    assert.equal(project.git("-C", project.worktree("dark"), "status", "--porcelain"), "");
    assert.equal(project.git("for-each-ref", "refs/prloom/before-rebase"), "");
    assert.equal(pulls().length, 1);
  });

  for (const point of ["rebase:conflict", "rebase:placed", "rebase:committed", "rebase:whole"])
    it(`conflicts with \`merge\`, killed at ${point}: merged once`, thorough, async (t) => {
      const { project, work, there, before, main } = await conflicting(t);
      assert.equal((await work({ PRLOOM_CRASH_AT: point })).signal, "SIGKILL");
      await work();
      await work();
      assert.equal(project.git("log", "-1", "--format=%P", "prloom/dark").trim(), `${before} ${main}`);
      assert.equal(there("prloom/dark"), project.git("rev-parse", "prloom/dark").trim());
      assert.equal(project.record("dark").blocked, undefined);
    });

  it(
    "conflicts with `merge` and no attempt resolves it: blocked as it was, and tried again when unblocked",
    thorough,
    async (t) => {
      const { project, token, cli, there, before, main } = await conflicting(t, {
        limits: { attemptsPerTodo: 1 },
        checks: ["test -e work.txt && { ! test -e prloom/of-main.txt || test -e $HOME/passes; }"],
      });
      const daemon = await startDaemon(project, { GITHUB_TOKEN: token });
      await daemon.said("dark", /main was not merged/);
      assert.equal(project.git("rev-parse", "prloom/dark").trim(), before);
      assert.equal(there("prloom/dark"), before);
      const { reason = "", hint = "" } = project.record("dark").blocked ?? {};
      assert.match(
        reason,
        /^main was not merged into the branch, which is as it was\. The conflict in work\.txt was not resolved/,
      );
      assert.match(hint, /`prloom unblock dark` lets an agent try again/);
      // Its pull request is what it was: the server has nothing new to tell.
      writeFileSync(join(project.home, "passes"), "");
      assert.equal((await cli("unblock", "dark")).code, 0);
      await daemon.said("dark", /merged into it/);
      await daemon.end();
      assert.equal(project.git("log", "-1", "--format=%P", "prloom/dark").trim(), `${before} ${main}`);
    },
  );

  it("waits in the merge queue as it is, and gets its base when that gives it up", thorough, async (t) => {
    const { project, work, cli, there, pulls, repository, ada } = await publishingProject(t);
    repository.rules.set("main", { ...RULES, mergeQueue: true });
    project.plan("dark", ["make one"]);
    await work();
    const before = there("prloom/dark");
    assert.equal((await cli("merge", "dark")).code, 0);
    const main = ada.pushes("main", { "more.txt": "more\n" });
    await work();
    await work();
    const [issue] = pulls();
    assert.ok(issue?.pull?.queued);
    assert.equal(project.git("rev-parse", "prloom/dark").trim(), before);
    leaveQueue(issue);
    await work();
    await work();
    assert.equal(project.git("rev-parse", "prloom/dark^").trim(), main);
    assert.equal(there("prloom/dark"), project.git("rev-parse", "prloom/dark").trim());
  });

  it("stays as it is with `off`, and so does one that no rule asks for", thorough, async (t) => {
    const made = await publishingProject(t);
    const { project, work, repository } = made;
    const { before } = await behind(made);
    repository.rules.delete("main");
    await work();
    assert.equal(project.git("rev-parse", "prloom/dark").trim(), before);
    repository.rules.set("main", RULES);
    const { github: settings } = project.config() as { github: object };
    project.config({ github: { ...settings, update: "off" } });
    await work();
    assert.equal(project.git("rev-parse", "prloom/dark").trim(), before);
    assert.match((await project.cli(["show", "dark"])).stdout, /behind main/);
  });

  for (const point of ["server:merge-noted", "server:base-merged", "server:caught-up"])
    it(`${point}: killed there, it gets base once`, thorough, async (t) => {
      const made = await publishingProject(t);
      const { project, work, there, pulls, ada } = made;
      const { before, main } = await behind(made);
      ada.reviews(pulls()[0]?.number ?? 0, { state: "APPROVED", body: "" });
      assert.equal((await work({ PRLOOM_CRASH_AT: point })).signal, "SIGKILL");
      await work();
      await work();
      assert.equal(project.git("log", "-1", "--format=%P", "prloom/dark").trim(), `${before} ${main}`);
      assert.equal(there("prloom/dark"), project.git("rev-parse", "prloom/dark").trim());
      const { behind: still, baseSha, blocked } = project.record("dark");
      assert.deepEqual({ still, baseSha, blocked }, { still: undefined, baseSha: main, blocked: undefined });
    });
});
