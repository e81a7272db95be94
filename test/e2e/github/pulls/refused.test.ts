import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { TokenOptions } from "../../../testing/github/tokens.ts";
import { thorough } from "../../../testing/thorough.ts";
import { publishingProject } from "../publishing-project.ts";

const MAY_READ: TokenOptions["permissions"] = {
  issues: "write",
  contents: "read",
  pull_requests: "write",
  actions: "read",
  statuses: "read",
};
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

  it("is a branch for which the token may not push: said plainly, and an issue makes no plan", thorough, async (t) => {
    const triggers = [{ on: "issue.labeled", label: "prloom", do: "queue" }];
    const { project, work, github, ada, pulls } = await publishingProject(t, { triggers });
    await work();
    const blind = github.server.accounts.add("bot", { kind: "fine-grained", permissions: MAY_READ });
    project.plan("dark", ["make one"]);
    const { number } = ada.opens({ title: "Light", body: "- [ ] make one" });
    ada.labels(number, "prloom");
    await work({ GITHUB_TOKEN: blind });
    const { reason = "", hint = "" } = project.record("dark").blocked ?? {};
    assert.match(reason, /push was refused: Write access to repository not granted/);
    assert.match(hint, /^prloom makes no pull requests from forks: .*write permission .*`prloom unblock dark`/);
    const { stdout } = await project.cli(["status"]);
    assert.match(stdout, /claiming acme\/app#1: .*not granted.*no pull requests from forks/);
    assert.deepEqual([(await project.status()).plans.length, pulls().length], [1, 0]);
  });

  it("are other commits of a person beside ours: neither is lost", thorough, async (t) => {
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
