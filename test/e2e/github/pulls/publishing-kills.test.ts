import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { describe, it } from "node:test";
import { SEED_NOTE, someOf } from "../../../testing/sample.ts";
import { THOROUGH, thorough } from "../../../testing/thorough.ts";
import { publishingProject } from "../publishing-project.ts";

/** Between two effects on the way to a pull request. */
const POINTS = ["server:pushing", "server:pushed", "server:told", "server:seen"];
const points = THOROUGH ? POINTS.flatMap((point) => [point, `${point}:2`]) : POINTS;

describe(`a dispatcher that is killed while it publishes (${SEED_NOTE})`, { concurrency: 2 }, () => {
  for (const point of someOf(points, 1)) {
    it(`${point}: one pull request, with everything`, async (t) => {
      const { project, pulls, there, work } = await publishingProject(t);
      project.plan("dark", ["make one", "make two"]);
      const killed = await work({ PRLOOM_CRASH_AT: point });
      assert.equal(killed.signal, "SIGKILL", killed.stdout);
      await work();
      const [pull, ...others] = pulls();
      assert.deepEqual(others, []);
      assert.equal(pull?.pull?.draft, false);
      assert.match(pull?.body ?? "", /2 of 2 TODOs done/);
      assert.equal(there("prloom/dark"), project.git("rev-parse", "prloom/dark").trim());
      assert.equal(project.record("dark").blocked, undefined);
    });
  }

  it("server:deleted: the branch is gone, and the plan is done", thorough, async (t) => {
    const { project, pulls, there, work, ada } = await publishingProject(t);
    project.plan("dark", ["make one"]);
    await work();
    ada.merges(pulls()[0]?.number ?? 0);
    assert.equal((await work({ PRLOOM_CRASH_AT: "server:deleted" })).signal, "SIGKILL");
    await work();
    assert.equal(there("prloom/dark"), undefined);
    assert.equal(project.record("dark").outcome, "merged");
  });

  it(
    "server:pushed, and merged before the next start: the branch is gone, and who asked is told",
    thorough,
    async (t) => {
      const { project, pulls, there, work, ada } = await publishingProject(t);
      project.plan("dark", ["make one"]);
      await work();
      await work();
      const [pull] = pulls();
      assert(pull?.pull);
      ada.comments(pull.number, "please make two");
      assert.equal((await work({ PRLOOM_CRASH_AT: "server:pushed" })).signal, "SIGKILL");
      const head = there("prloom/dark") ?? "";
      assert.notEqual(project.record("dark").published?.sha, head);
      ada.merges(pull.number);
      await work();
      await work();
      assert.deepEqual([project.record("dark").outcome, there("prloom/dark")], ["merged", undefined]);
      const told = pull.comments.filter(({ body }) => body.startsWith(`Done in ${head.slice(0, 12)}.`));
      assert.equal(told.length, 1);
      assert.deepEqual(project.record("dark").doneFor, []);
    },
  );

  it("server:ended: the plan is done, with no worktree here and no branch there", thorough, async (t) => {
    const { project, pulls, there, work, ada } = await publishingProject(t);
    project.plan("dark", ["make one"]);
    await work();
    ada.merges(pulls()[0]?.number ?? 0);
    assert.equal((await work({ PRLOOM_CRASH_AT: "server:ended" })).signal, "SIGKILL");
    await work();
    assert.deepEqual([project.record("dark").outcome, there("prloom/dark")], ["merged", undefined]);
    assert.equal(existsSync(project.worktree("dark")), false);
  });

  it("server:taken-over: a person's commit is here, and nothing is blocked", async (t) => {
    const { project, there, work, ada } = await publishingProject(t);
    project.plan("dark", ["make one"]);
    await work();
    const theirs = ada.pushes("prloom/dark", { "more.txt": "more\n" });
    assert.equal((await work({ PRLOOM_CRASH_AT: "server:taken-over" })).signal, "SIGKILL");
    await work();
    const { published, blocked } = project.record("dark");
    assert.deepEqual([published?.sha, published?.theirs, blocked], [theirs, undefined, undefined]);
    assert.equal(project.git("rev-parse", "prloom/dark").trim(), theirs);
    assert.equal(there("prloom/dark"), theirs);
    assert.equal(project.git("-C", project.worktree("dark"), "status", "--porcelain"), "");
  });

  it("server:merged: merged once, and the plan is done", async (t) => {
    const { project, there, work, pulls, token } = await publishingProject(t);
    project.plan("dark", ["make one"]);
    await work();
    const killed = await project.cli(["merge", "dark"], { GITHUB_TOKEN: token, PRLOOM_CRASH_AT: "server:merged" });
    assert.equal(killed.signal, "SIGKILL");
    await work();
    assert.ok(pulls()[0]?.pull?.merged);
    assert.deepEqual([project.record("dark").outcome, there("prloom/dark")], ["merged", undefined]);
    assert.equal(existsSync(project.worktree("dark")), false);
  });

  it("a GitHub of which a third of the calls fail: one pull request, with everything", thorough, async (t) => {
    const { project, pulls, there, work, github } = await publishingProject(t);
    project.plan("dark", ["make one", "make two"]);
    github.server.faults.failShare(0.33, 7);
    for (let start = 0; start < 4; start += 1) await work();
    github.server.faults.failShare(0, 7);
    await work();
    assert.deepEqual(
      pulls().map(({ pull }) => pull?.draft),
      [false],
    );
    assert.equal(there("prloom/dark"), project.git("rev-parse", "prloom/dark").trim());
  });
});
