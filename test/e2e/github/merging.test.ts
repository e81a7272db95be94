import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { describe, it } from "node:test";
import { runQueue } from "../../testing/github/people.ts";
import { publishingProject } from "./publishing-project.ts";

const NO_RULES = { requiredChecks: [], approvals: 0, mergeQueue: false, refusePush: undefined };

describe("prloom merge with the forge github", { concurrency: 2 }, () => {
  it("merges there what is published, and nothing here", async (t) => {
    const { project, pulls, there, work, cli, repository } = await publishingProject(t);
    repository.allow = { ...repository.allow, squash: false };
    const before = project.git("rev-parse", "main");
    project.plan("dark", ["make one"]);
    await work();
    const { code, stdout, stderr } = await cli("merge", "dark");
    assert.equal(code, 0, stderr);
    assert.match(stdout, /merged dark into main: .*with a merge commit/);
    assert.ok(pulls()[0]?.pull?.merged);
    assert.equal(project.git("rev-parse", "main"), before);
    assert.equal(project.record("dark").outcome, "merged");
    assert.equal(existsSync(project.worktree("dark")), false);
    await work();
    assert.equal(there("prloom/dark"), undefined);
  });

  it("says in GitHub's words why not, and waits in the queue where there is one", async (t) => {
    const { project, pulls, work, cli, repository, github } = await publishingProject(t);
    project.plan("dark", ["make one"]);
    await work();
    repository.rules.set("main", { ...NO_RULES, requiredChecks: ["build"] });
    const refused = await cli("merge", "dark");
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /Required status check "build" is expected\. \[forge-refused\]/);
    repository.rules.set("main", { ...NO_RULES, mergeQueue: true });
    assert.match((await cli("merge", "dark")).stdout, /merge queue of main/);
    assert.equal(project.record("dark").status, "review");
    runQueue(github.world, repository);
    await work();
    assert.ok(pulls()[0]?.pull?.merged);
    assert.equal(project.record("dark").outcome, "merged");
  });

  it("merges no commit that a person pushed since", async (t) => {
    const { project, pulls, work, cli, ada } = await publishingProject(t);
    project.plan("dark", ["make one"]);
    await work();
    ada.pushes("prloom/dark", { "more.txt": "more\n" });
    const refused = await cli("merge", "dark");
    assert.match(refused.stderr, /other commits on GitHub/);
    assert.equal(pulls()[0]?.pull?.merged, undefined);
    await work();
    assert.equal(project.git("show", "prloom/dark:more.txt"), "more\n");
    assert.equal((await cli("merge", "dark")).code, 0);
  });
});
