import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { publishingProject } from "./publishing-project.ts";

const NO_RULES = { requiredChecks: [], approvals: 0, mergeQueue: false };

describe("what the forge github does not take", { concurrency: 2 }, () => {
  it("blocks the plan with GitHub's words, and goes out when it is unblocked", async (t) => {
    const { project, pulls, work, repository } = await publishingProject(t);
    repository.rules.set("prloom/dark", { ...NO_RULES, refusePush: "GH013: Repository rule violations found" });
    project.plan("dark", ["make one"]);
    await work();
    assert.match(project.record("dark").blocked?.reason ?? "", /push was refused: .*GH013/);
    repository.rules.clear();
    await project.cli(["unblock", "dark"]);
    await work();
    assert.deepEqual([project.record("dark").blocked, pulls().length], [undefined, 1]);
  });

  it("are other commits of a person beside ours: neither is lost", async (t) => {
    const { project, work, ada, there, pulls, cli } = await publishingProject(t);
    project.plan("dark", ["make one"]);
    await work();
    const theirs = ada.pushes("prloom/dark", { "more.txt": "more\n" });
    const tree = project.worktree("dark");
    writeFileSync(join(tree, "mine.txt"), "mine\n");
    project.git("-C", tree, "add", "mine.txt");
    project.git("-C", tree, "-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", "Mine");
    await work();
    assert.match(project.record("dark").blocked?.reason ?? "", /has other commits on the server/);
    assert.equal(there("prloom/dark"), theirs);
    project.git("-C", tree, "-c", "user.name=P", "-c", "user.email=p@localhost", "merge", "-q", "-m", "Both", theirs);
    await cli("unblock", "dark");
    await work();
    assert.equal(there("prloom/dark"), project.git("rev-parse", "prloom/dark").trim());
    assert.equal(pulls().length, 1);
  });

  it("is a change of workflows before a person said yes", async (t) => {
    const { project, work, there, cli } = await publishingProject(t);
    project.plan("dark", ["make one"]);
    await work();
    const tree = project.worktree("dark");
    mkdirSync(join(tree, ".github", "workflows"), { recursive: true });
    writeFileSync(join(tree, ".github", "workflows", "ci.yml"), "on: push\n");
    project.git("-C", tree, "add", ".github");
    project.git("-C", tree, "-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", "CI");
    const before = there("prloom/dark");
    await work();
    const { blocked } = project.record("dark");
    assert.match(blocked?.reason ?? "", /what CI runs with the secrets.*ci\.yml/);
    assert.equal(there("prloom/dark"), before);
    await cli("unblock", "dark");
    await work();
    assert.equal(there("prloom/dark"), project.git("rev-parse", "prloom/dark").trim());
  });
});
