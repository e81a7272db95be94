import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { gateStates } from "../../../testing/at-gate.ts";
import { startDaemon } from "../../../testing/daemon.ts";
import { runQueue } from "../../../testing/github/people.ts";
import type { CliResult } from "../../../testing/project.ts";
import { thorough } from "../../../testing/thorough.ts";
import { type PublishingProject, publishingProject } from "../publishing-project.ts";

const QUEUE = { requiredChecks: [], approvals: 0, mergeQueue: true, refusePush: undefined };

/** A plan, `dark`, whose change a person approved: its pull request is ready. */
async function approved(t: TestContext, gates: object = { pr: true }): Promise<PublishingProject> {
  const made = await publishingProject(t, { gates: { advisory: true, ...gates } });
  made.project.plan("dark", ["make one"]);
  await made.work();
  assert.equal((await made.cli("approve", "dark")).code, 0);
  await made.work();
  assert.equal(made.pulls()[0]?.pull?.draft, false);
  return made;
}

describe("a pull request whose approval is taken back", { concurrency: 2 }, () => {
  it("is a draft again and out of the queue at once, also without a dispatcher", thorough, async (t) => {
    const { project, pulls, work, cli, repository, github } = await approved(t);
    repository.rules.set("main", QUEUE);
    assert.match((await cli("merge", "dark")).stdout, /in the merge queue of main/);
    const { stdout } = await cli("withdraw", "dark");
    assert.match(stdout, /is not merged until it is approved again\nIts pull request is a draft again\./);
    runQueue(github.world, repository);
    await work();
    const { pull } = pulls()[0] ?? {};
    assert.deepEqual([pull?.draft, pull?.queued, pull?.merged], [true, false, undefined]);
    assert.equal(project.record("dark").status, "active");
    assert.equal((await cli("approve", "dark")).code, 0);
    await work();
    assert.equal(pull?.draft, false);
    assert.equal((await cli("merge", "dark")).code, 0);
    runQueue(github.world, repository);
    await work();
    assert.equal(project.record("dark").outcome, "merged");
  });

  it(
    "becomes one when the plan's approval is taken back, also after a kill and while it is held",
    thorough,
    async (t) => {
      const { project, pulls, work, cli, github } = await approved(t, { plan: true });
      await cli("pause", "dark");
      github.server.faults.add({ kind: "error-before", on: /graphql/, times: 1 });
      const { code, stdout } = await cli("withdraw", "dark");
      assert.equal(code, 0);
      assert.match(stdout, /could not be made a draft again \(.*\): until it is one, it can be merged on GitHub\./);
      assert.equal((await work({ PRLOOM_CRASH_AT: "server:taken-back" })).signal, "SIGKILL");
      await work();
      assert.equal(pulls()[0]?.pull?.draft, true);
      assert.deepEqual(await gateStates(project, "dark"), ["withdrawn"]);
    },
  );

  it("becomes one when another commit is to be approved, and is left alone without gates", thorough, async (t) => {
    for (const [gates, draft] of [
      [{ pr: true }, true],
      [{ plan: true }, false],
    ] as const) {
      const { project, pulls, work } = await approved(t, gates);
      const worktree = project.worktree("dark");
      writeFileSync(join(worktree, "more.txt"), "more\n");
      project.git("-C", worktree, "add", "more.txt");
      project.git("-C", worktree, "-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", "Add more");
      await work();
      assert.equal(pulls()[0]?.pull?.draft, draft);
      assert.equal(pulls()[0]?.pull?.head.sha, project.git("rev-parse", "prloom/dark").trim());
    }
  });

  it("while it is about to be merged is not merged", thorough, async (t) => {
    const { project, pulls, cli, github, token } = await approved(t);
    const daemon = await startDaemon(project, { GITHUB_TOKEN: token });
    let withdrawn: CliResult | undefined;
    github.server.onSeen = async ({ path }) => {
      // What is looked at right before a merge.
      if (!/\/check-runs$/.test(path) || withdrawn) return;
      withdrawn = await cli("withdraw", "dark");
    };
    const { code, stderr } = await cli("merge", "dark");
    assert.equal(code, 1);
    assert.match(stderr, /its approval was withdrawn|waits for an answer/);
    assert.match(withdrawn?.stdout ?? "", /is not merged until it is approved again/);
    await daemon.said("dark", /its change request is a draft again/);
    await daemon.end();
    assert.deepEqual([pulls()[0]?.pull?.merged, pulls()[0]?.pull?.draft], [undefined, true]);
  });
});
