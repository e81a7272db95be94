import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { startDaemon } from "../../testing/daemon.ts";
import type { Project } from "../../testing/project.ts";
import { projectMaker } from "../../testing/projects.ts";
import { thorough } from "../../testing/thorough.ts";

const STUB = fileURLToPath(new URL("../../testing/agents/stub-codex.mjs", import.meta.url));

interface KeptRefusal {
  readonly until: string;
  readonly resetsAt?: string;
  readonly count: number;
}

const refusalOf = (made: Project): KeptRefusal =>
  JSON.parse(readFileSync(join(made.authority, "agents.json"), "utf8")).agents.only;

describe("the limit of a provider", () => {
  const fresh = projectMaker();

  test("pauses the agent till its end over a kill, is no attempt, is shown, and a person can end it", async () => {
    const only = { adapter: "codex", command: STUB, env: { BEHAVIOUR: "limit work" } };
    const made = fresh({ config: { agents: { only }, stages: { default: "only" } } });
    made.plan("one", ["do it"], { status: "queued", metadata: { limits: { attemptsPerTodo: 1 } } });
    const begun = Date.now();
    const daemon = await startDaemon(made);
    await daemon.said("one", /only was refused \(quota\): You’ve hit your usage limit\..*trying again at/);
    await daemon.end("SIGKILL");
    const { until, resetsAt } = refusalOf(made);
    assert.equal(resetsAt, until);
    assert.ok(Date.parse(until) - begun >= 5 * 3_600_000, "not sooner than the provider says");
    const { blocked, current, runs } = made.record("one");
    assert.deepEqual([blocked, current?.attempt], [undefined, 1]);

    const worked = await made.work();
    assert.equal(worked.code, 0, worked.stderr);
    assert.deepEqual([made.record("one").runs, refusalOf(made).until], [runs, until], "it is not asked before that");

    const pause =
      /^.*agent only: paused until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d, in 5 h, when its limit ends \(quota: You’ve/m;
    for (const command of [["status"], ["show", "one"], ["doctor"]]) {
      const { stdout } = await made.cli(command);
      assert.match(stdout, pause, command.join(" "));
      assert.match(stdout, /hint: `prloom unblock one` tries it now\./, command.join(" "));
    }
    const shown = JSON.parse((await made.cli(["show", "one", "--json"])).stdout);
    assert.equal(shown.backsOff.only.resetsAt, resetsAt);

    const unblocked = await made.cli(["unblock", "one"]);
    assert.match(unblocked.stdout, /was not blocked\. Tried again now: only\./);
    await made.work();
    assert.equal(made.record("one").status, "review");
    assert.doesNotMatch((await made.cli(["status"])).stdout, /paused until/);
  });

  test("ended early for one plan is ended for all that wait for it", async () => {
    const only = { adapter: "codex", command: STUB, env: { BEHAVIOUR: "limit work" } };
    const made = fresh({ config: { agents: { only }, stages: { default: "only" } } });
    for (const id of ["one", "two"]) made.plan(id, ["do it"]);
    const daemon = await startDaemon(made);
    for (const id of ["one", "two"]) await daemon.said(id, /only was refused \(quota\)/);
    assert.match((await made.cli(["unblock", "two"])).stdout, /Tried again now: only\./);
    for (const id of ["one", "two"]) await daemon.said(id, /in review/);
    await daemon.end();
  });

  test("a plan that waits for its end is rebased in the way that the refusal names", async () => {
    const only = { adapter: "codex", command: STUB, env: { BEHAVIOUR: "limit work" } };
    const made = fresh({ config: { agents: { only }, stages: { default: "only" } } });
    made.plan("one", ["do it"]);
    await made.work();
    await made.cli(["pause", "one"]);
    made.git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", "moves on", "--allow-empty");
    const { stderr } = await made.cli(["rebase", "one"]);
    assert.match(stderr, /^error: one is in the middle of a TODO\. A rebase is done between two TODOs\./m);
    const typed = [...stderr.matchAll(/`prloom ([^`]+)`/g)].map(([, line = ""]) => line);
    assert.deepEqual(typed, ['block one "to be rebased"', "rebase one", "unblock one"]);
    for (const words of [
      ["block", "one", "to be rebased"],
      ["rebase", "one"],
      ["unblock", "one"],
      ["resume", "one"],
    ])
      assert.equal((await made.cli(words)).code, 0, words[0]);
    assert.equal(made.git("rev-parse", "prloom/one"), made.git("rev-parse", "main"));
    await made.work();
    assert.equal(made.record("one").status, "review");
  });

  test("can be ended too when the plan that met it is gone", thorough, async () => {
    const only = { adapter: "codex", command: STUB, env: { BEHAVIOUR: "limit work" } };
    const made = fresh({ config: { agents: { only }, stages: { default: "only" } } });
    made.plan("one", ["do it"]);
    await made.work();
    await made.cli(["delete", "one", "--yes"]);
    made.plan("two", ["do it"], { status: "draft" });
    const { stdout } = await made.cli(["status"]);
    assert.match(
      stdout,
      /only: paused until .*\n {2}hint: `prloom unblock two` tries it now\. prloom does not ask before/,
    );
    assert.match((await made.cli(["unblock", "two"])).stdout, /Tried again now: only\./);
    assert.doesNotMatch((await made.cli(["status"])).stdout, /paused until/);
  });
});
