import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { leaveQueue, reportCheck, runQueue } from "../../../testing/github/people.ts";
import { thorough } from "../../../testing/thorough.ts";
import { publishingProject } from "../publishing-project.ts";

const MERGE_PLUGIN = `export default () => ({
  onEvent(event, ctx) {
    if (event.body !== "/merge") return;
    ctx.markEventHandled();
    ctx.emitMerge(event.replyTo, "squash");
  },
});
`;

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

  it("leaves the branch there to a person who pushes to it while it is being deleted", thorough, async (t) => {
    const { project, there, work, cli, ada, github } = await publishingProject(t);
    project.plan("dark", ["make one"]);
    await work();
    assert.equal((await cli("merge", "dark")).code, 0);
    let theirs: string | undefined;
    github.server.onSeen = ({ path, query }) => {
      // Asked when it was looked at, and before it goes.
      if (path.endsWith("/pulls") && query.includes("base=prloom%2Fdark"))
        theirs ??= ada.pushes("prloom/dark", { "hers.txt": "hers\n" });
    };
    await work();
    assert.ok(theirs);
    assert.equal(there("prloom/dark"), theirs);
  });

  it("takes nothing for merged that was pushed after a person's merge: its branches stay", thorough, async (t) => {
    const { project, pulls, there, work, cli, ada, github } = await publishingProject(t);
    project.plan("dark", ["make one"]);
    await work();
    const first = project.git("rev-parse", "prloom/dark").trim();
    await cli("comment", "dark", "please make two");
    github.server.onSeen = () => {
      const [issue] = pulls();
      if (!issue?.pull || issue.pull.merged || there("prloom/dark") === first) return;
      // As if she had merged it right before the second push.
      issue.pull.head.sha = first;
      ada.merges(issue.number);
    };
    await work();
    await work();
    const head = project.git("rev-parse", "prloom/dark").trim();
    assert.deepEqual([project.record("dark").outcome, there("prloom/dark")], ["merged", head]);
    await cli("clean", "--branches");
    assert.equal(project.git("rev-parse", "prloom/dark").trim(), head);
  });

  it("finds at a merge that another commit was merged there: what was not stays", thorough, async (t) => {
    const { project, pulls, there, work, cli, ada } = await publishingProject(t);
    project.plan("dark", ["make one", "make two"]);
    await work();
    const [pull] = pulls();
    assert.ok(pull?.pull);
    const head = project.git("rev-parse", "prloom/dark").trim();
    pull.pull.head.sha = project.git("rev-parse", "prloom/dark^").trim();
    ada.merges(pull.number);
    const { code, stderr } = await cli("merge", "dark", "--delete-branch");
    assert.equal(code, 1);
    assert.match(stderr, /was merged at [0-9a-f]{8} before: [0-9a-f]{8}, which was to be merged, is not in it/);
    assert.equal(project.record("dark").outcome, "merged");
    await work();
    await cli("clean", "--branches");
    assert.deepEqual([there("prloom/dark"), project.git("rev-parse", "prloom/dark").trim()], [head, head]);
  });

  it("takes no page of a proxy for a merge", thorough, async (t) => {
    const { project, pulls, there, work, cli, github } = await publishingProject(t);
    project.plan("dark", ["make one"]);
    await work();
    github.server.faults.add({ kind: "page", on: /PUT .*merge/ });
    const { code, stderr } = await cli("merge", "dark");
    assert.deepEqual([code, project.record("dark").status, pulls()[0]?.pull?.merged], [1, "review", undefined]);
    assert.match(stderr, /did not answer: something else answered in its place/);
    await work();
    assert.ok(there("prloom/dark"));
    assert.equal((await cli("merge", "dark")).code, 0);
  });

  it("merges past no rule of the branch with the token of an owner, with every way to ask", thorough, async (t) => {
    const { project, pulls, work, cli, repository, github } = await publishingProject(t);
    repository.permissions.set(github.world.user("bot"), "admin");
    project.plan("dark", ["make one"]);
    await work();
    repository.rules.set("main", { ...NO_RULES, approvals: 1 });
    const refused = await cli("merge", "dark");
    assert.match(refused.stderr, /a rule of main asks for a review that approves it/);
    assert.deepEqual([project.record("dark").status, pulls()[0]?.pull?.merged], ["review", undefined]);
    assert.equal((await cli("merge", "dark", "--force")).code, 0);
    assert.ok(pulls()[0]?.pull?.merged);
  });

  it("merges into no other branch than the plan's, which a person may have given it there", thorough, async (t) => {
    const { project, pulls, work, cli, ada } = await publishingProject(t);
    project.plan("dark", ["make one"]);
    await work();
    ada.pushes("release", { "release.txt": "1\n" });
    const { pull } = pulls()[0] ?? {};
    assert.ok(pull);
    pull.base.branch = "release";
    const { code, stderr } = await cli("merge", "dark", "--force");
    assert.equal(code, 1);
    assert.match(stderr, /its pull request is for release, not for main/);
    assert.deepEqual([pull.merged, project.record("dark").status], [undefined, "review"]);
  });

  it("says in GitHub's words why not, and waits in the queue where there is one", thorough, async (t) => {
    const { project, pulls, work, cli, repository, github } = await publishingProject(t);
    project.plan("dark", ["make one"]);
    await work();
    repository.rules.set("main", { ...NO_RULES, requiredChecks: ["build"] });
    const refused = await cli("merge", "dark");
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /a rule of main is not met: a check that is required .* \[forge-refused\]/);
    assert.match((await cli("merge", "dark", "--force")).stderr, /Required status check "build" is expected\./);
    repository.rules.set("main", { ...NO_RULES, mergeQueue: true });
    assert.match((await cli("merge", "dark")).stdout, /merge queue of main/);
    assert.equal(project.record("dark").status, "review");
    runQueue(github.world, repository);
    await work();
    assert.ok(pulls()[0]?.pull?.merged);
    assert.equal(project.record("dark").outcome, "merged");
  });

  for (const point of ["", "server:unqueued"])
    it(`says once that it is no longer in the queue, and is merged when asked again ${point}`, thorough, async (t) => {
      const { project, pulls, work, cli, repository, github } = await publishingProject(t);
      project.plan("dark", ["make one"]);
      await work();
      repository.rules.set("main", { ...NO_RULES, mergeQueue: true });
      await cli("merge", "dark");
      await work();
      const [pull] = pulls();
      assert.ok(pull?.pull?.queued);
      assert.deepEqual(pull.comments, []);
      leaveQueue(pull);
      if (point !== "") assert.equal((await work({ PRLOOM_CRASH_AT: point })).signal, "SIGKILL");
      await work();
      await work();
      assert.deepEqual(
        pull.comments.map(({ body }) => /^Not merged: [0-9a-f]{12} is no longer in the merge queue/.test(body)),
        [true],
      );
      await cli("merge", "dark");
      runQueue(github.world, repository);
      await work();
      assert.deepEqual([project.record("dark").outcome, pull.comments.length], ["merged", 1]);
    });

  it("keeps what is committed while it is in the queue until that gives it up", thorough, async (t) => {
    const { project, pulls, work, cli, there, repository } = await publishingProject(t);
    project.plan("dark", ["make one"]);
    await work();
    repository.rules.set("main", { ...NO_RULES, mergeQueue: true });
    const [issue] = pulls();
    assert.ok(issue?.pull);
    // As a person does at its page.
    issue.pull.queued = true;
    const before = there("prloom/dark");
    await cli("comment", "dark", "please make two");
    await work();
    const { status, blocked, published } = project.record("dark");
    assert.deepEqual([status, blocked, there("prloom/dark")], ["review", undefined, before]);
    assert.match(published?.trouble ?? "", /queued for merging cannot be updated/);
    assert.deepEqual(project.commits("dark"), ["make one", "make two"]);
    leaveQueue(issue);
    await work();
    assert.equal(there("prloom/dark"), project.git("rev-parse", "prloom/dark").trim());
  });

  it("waits for the checks that count, and for the first of them where the base has some", thorough, async (t) => {
    const { project, pulls, work, cli, repository, github } = await publishingProject(t);
    project.plan("dark", ["make one"]);
    await work();
    const sha = pulls()[0]?.pull?.head.sha ?? "";
    const refused = async (): Promise<string> => (await cli("merge", "dark")).stderr;
    const report = (name: string, conclusion: "success" | "failure" | undefined, at = sha): void =>
      void reportCheck(github.world, repository, { sha: at, name, conclusion });
    report("build", "success", project.git("rev-parse", "main").trim());
    assert.match(await refused(), /no check of [0-9a-f]{8} has begun/);
    report("build", undefined);
    report("lint", "failure");
    assert.match(await refused(), /not all checks are green: build \(not ended\), lint \(failed\)/);
    assert.equal(pulls()[0]?.pull?.merged, undefined);
    assert.equal((await cli("merge", "dark", "--force", "--delete-branch")).code, 0);
    assert.ok(pulls()[0]?.pull?.merged);
    assert.equal(project.git("branch", "--list", "prloom/dark"), "");
  });

  it("merges for a comment what was there when it was written, and says why not", thorough, async (t) => {
    const plugins = { merge: { module: "./prloom/merge.mjs" } };
    const { project, pulls, work, ada, repository } = await publishingProject(t, { plugins });
    writeFileSync(join(project.root, "prloom", "merge.mjs"), MERGE_PLUGIN);
    project.plan("dark", ["make one"]);
    await work();
    await work();
    const { number = 0, pull } = pulls()[0] ?? {};
    // Its times have whole seconds.
    await setTimeout(1100);
    ada.comments(number, "/merge");
    ada.pushes("prloom/dark", { "more.txt": "more\n" });
    await work();
    await work();
    assert.equal(pull?.merged, undefined);
    const said = repository.issues.get(number)?.comments.map(({ body }) => body) ?? [];
    assert.match(said.join("\n"), /Not merged: dark has other commits on GitHub than/);
    assert.notEqual(project.record("dark").outcome, "merged");
    await setTimeout(1100);
    ada.comments(number, "/merge");
    await work();
    assert.ok(pull?.merged);
  });

  it("says nothing against a merge that a kill had it ask for twice", thorough, async (t) => {
    const plugins = { merge: { module: "./prloom/merge.mjs" } };
    const { project, pulls, work, ada } = await publishingProject(t, { plugins });
    writeFileSync(join(project.root, "prloom", "merge.mjs"), MERGE_PLUGIN);
    project.plan("dark", ["make one"]);
    await work();
    await work();
    const [pull] = pulls();
    assert.ok(pull);
    await setTimeout(1100);
    ada.comments(pull.number, "/merge");
    assert.equal((await work({ PRLOOM_CRASH_AT: "clean:removed" })).signal, "SIGKILL");
    await work();
    assert.equal(project.record("dark").outcome, "merged");
    assert.deepEqual(
      pull.comments.map(({ body }) => body),
      ["/merge"],
    );
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
