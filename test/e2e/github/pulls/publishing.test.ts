import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { describe, it } from "node:test";
import { thorough } from "../../../testing/thorough.ts";
import { publishingProject } from "../publishing-project.ts";

describe("plans with the forge github", { concurrency: 2 }, () => {
  it("grow as a draft of a pull request, which is ready when all is done", async (t) => {
    const { project, pulls, there, work, repository } = await publishingProject(t);
    project.plan("dark", ["make one", "make two"]);
    await work();
    const [pull, ...others] = pulls();
    assert.ok(pull?.pull);
    assert.deepEqual(others, []);
    assert.equal(pull.title, "Plan dark");
    assert.match(pull.body, /^<!-- prloom begins[\s\S]*- \[x\] make two[\s\S]*2 of 2 TODOs done/);
    assert.equal(pull.pull.draft, false);
    const record = project.record("dark");
    assert.equal(record.status, "review");
    const head = project.git("rev-parse", "prloom/dark").trim();
    assert.equal(there("prloom/dark"), head);
    assert.equal(pull.pull.head.sha, head);
    assert.deepEqual(
      { sha: record.published?.sha, trouble: record.published?.trouble, ref: record.changeRequest?.ref },
      { sha: head, trouble: undefined, ref: `${repository.id}#${pull.number}` },
    );
    assert.match((await project.cli(["status"])).stdout, /your review/);
  });

  it("are done when it is merged there: the worktree and the branch are gone", async (t) => {
    const { project, pulls, there, work, ada } = await publishingProject(t);
    project.plan("dark", ["make one"]);
    await work();
    ada.merges(pulls()[0]?.number ?? 0);
    await work();
    const { status, outcome, changeRequest } = project.record("dark");
    assert.deepEqual(
      { status, outcome, state: changeRequest?.state },
      { status: "done", outcome: "merged", state: "merged" },
    );
    assert.equal(existsSync(project.worktree("dark")), false);
    assert.equal(there("prloom/dark"), undefined);
  });

  it("leave their branch there with `deleteBranch: false`", thorough, async (t) => {
    const { project, pulls, there, work, ada } = await publishingProject(t);
    project.config({ github: { ...(project.config().github as object), deleteBranch: false } });
    project.plan("dark", ["make one"]);
    await work();
    const head = there("prloom/dark");
    ada.merges(pulls()[0]?.number ?? 0);
    await work();
    await work();
    assert.deepEqual([project.record("dark").outcome, there("prloom/dark")], ["merged", head]);
  });

  it("are done when it is closed there", thorough, async (t) => {
    const { project, pulls, there, work, ada } = await publishingProject(t);
    project.plan("dark", ["make one"]);
    await work();
    ada.closes(pulls()[0]?.number ?? 0);
    await work();
    const { status, outcome } = project.record("dark");
    assert.deepEqual({ status, outcome }, { status: "done", outcome: "closed" });
    assert.notEqual(there("prloom/dark"), undefined);
  });

  it("go on through an outage, and are published after it", thorough, async (t) => {
    const { project, pulls, work, github } = await publishingProject(t, { bus: { retryMin: "20s", retryMax: "30s" } });
    project.plan("first", ["make one"]);
    await work();
    github.server.faults.add({ kind: "cut-before", times: 1000 });
    project.plan("dark", ["make one", "make two"]);
    await work();
    assert.equal(project.record("dark").status, "review");
    assert.match((await project.cli(["status"])).stdout, /dark .*not yet published: /);
    assert.equal(pulls().length, 1);
    github.server.faults.clear();
    await work();
    assert.deepEqual(
      pulls().map(({ pull }) => pull?.draft),
      [false, false],
    );
    assert.doesNotMatch((await project.cli(["status"])).stdout, /not yet published/);
  });

  it("begin at what the base is there, and leave the person's branch alone", async (t) => {
    const { project, work, ada } = await publishingProject(t);
    const before = project.git("rev-parse", "main");
    const newer = ada.pushes("main", { "new.txt": "new\n" });
    project.plan("dark", ["make one"]);
    await work();
    assert.equal(project.record("dark").baseSha, newer);
    assert.equal(project.git("rev-parse", "main"), before);
  });
});
