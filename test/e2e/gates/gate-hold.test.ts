import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { appears } from "../../testing/agents/agent-scripts.ts";
import { gateStates, killed, showPlan, succeeds, untilIdle, waitingAtGate } from "../../testing/at-gate.ts";
import { type Daemon, startDaemon } from "../../testing/daemon.ts";
import { makeGatedProject } from "../../testing/gated.ts";
import { makeProject, type Project } from "../../testing/project.ts";
import { ANNA, addScripted, issue } from "../../testing/scripted-tracker.ts";
import { thorough } from "../../testing/thorough.ts";

const GATES = { plan: true, advisory: true };

/** Says something about the plan while a dispatcher runs, and waits for the answer to it. */
async function says(project: Project, body: string, answer: RegExp): Promise<void> {
  const before = (await showPlan(project)).thread.length;
  await succeeds(project, "comment", "shop", body);
  for (;;) {
    const { thread } = await showPlan(project);
    if (thread.slice(before).some((post) => answer.test(post.body))) return;
    await setTimeout(100);
  }
}

interface AtWork {
  readonly project: Project;
  readonly daemon: Daemon;
  open(id: string): void;
}

/** An approved plan, of whose first TODO an agent has done one half and waits. */
async function atWork(): Promise<AtWork> {
  const { project, open, halfWay } = makeGatedProject({ config: { gates: GATES } });
  project.plan("shop", ["[waits] one", "two"]);
  await untilIdle(project);
  await succeeds(project, "approve", "shop");
  const daemon = await startDaemon(project);
  await halfWay(daemon, "shop");
  return { project, daemon, open };
}

const agents = (project: Project): string[] => project.processes().filter((line) => line.includes("test-agent"));

describe("a plan that is held while its agent runs", { concurrency: 2 }, () => {
  it(
    "by a comment: the agent ends its TODO, nothing else begins, and /unhold goes on under the same approval",
    thorough,
    async () => {
      const { project, daemon, open } = await atWork();
      await says(project, "/hold", /^Paused by .*: what runs goes on to its end, and nothing new begins\./);
      assert.equal(agents(project).length > 0, true, "it runs on");
      open("shop");
      await daemon.said("shop", /committed/);
      await daemon.end();
      await untilIdle(project);
      assert.deepEqual([project.record("shop").runs, project.commits("shop")], [1, ["[waits] one"]]);
      await succeeds(project, "comment", "shop", "/unhold");
      await untilIdle(project);
      assert.deepEqual(project.commits("shop"), ["[waits] one", "two"]);
      assert.deepEqual(await gateStates(project), ["approved"]);
      project.remove();
    },
  );

  it(
    "by pause --now: the agent is ended; taken back meanwhile, the plan is shown again and not gone on with",
    thorough,
    async () => {
      const { project, daemon, open } = await atWork();
      assert.match(await succeeds(project, "pause", "--all", "--now"), /^shop is paused, and nothing of it is at work/);
      assert.deepEqual(agents(project), []);
      await succeeds(project, "withdraw", "shop", "--reason", "The wrong plan");
      await daemon.said("shop", /the plan is shown again after `prloom resume shop`\.$/);
      assert.deepEqual(await gateStates(project), ["withdrawn"]);
      await says(project, "/unhold", /lets it go on/);
      await daemon.said("shop", /^waits for your answer/);
      assert.deepEqual(await gateStates(project), ["withdrawn", "open"]);
      assert.deepEqual([agents(project), project.commits("shop")], [[], []]);
      open("shop");
      await succeeds(project, "approve", "shop");
      await daemon.said("shop", /in review/);
      await daemon.end();
      assert.equal(project.git("show", "prloom/shop:half.txt"), "half of [waits] one\n", "what was done stayed");
      project.remove();
    },
  );

  it("by pause --now during a check: neither /hold nor another pause lets it begin again", thorough, async () => {
    const { project } = makeGatedProject({ config: { gates: GATES } });
    const [begun, go] = [join(project.home, "begun"), join(project.home, "go")];
    project.config({ checks: [`echo x >> ${begun}; until test -e ${go}; do sleep 0.1; done`] });
    project.plan("shop", ["one"]);
    await untilIdle(project);
    await succeeds(project, "approve", "shop");
    const daemon = await startDaemon(project);
    await appears(begun);
    await succeeds(project, "pause", "shop", "--now");
    await says(project, "/hold", /^Paused by/);
    await succeeds(project, "pause", "shop");
    await daemon.end();
    writeFileSync(go, "");
    await untilIdle(project);
    assert.deepEqual([readFileSync(begun, "utf8"), project.commits("shop")], ["x\n", []]);
    await succeeds(project, "resume", "--all");
    await untilIdle(project);
    assert.deepEqual([readFileSync(begun, "utf8"), project.commits("shop")], ["x\nx\n", ["one"]]);
    project.remove();
  });
});

describe("a plan that is held at its gate", { concurrency: 2 }, () => {
  it("is answered all the same, and its thread says what lets it go on", async () => {
    const project = await waitingAtGate();
    await succeeds(project, "comment", "shop", "/hold");
    await succeeds(project, "comment", "shop", "approved");
    await untilIdle(project);
    const last = (await showPlan(project)).thread.at(-1)?.body ?? "";
    assert.match(last, /^approved by .* \(thread\): it is implemented after `prloom resume shop` \(gate/);
    assert.equal(project.record("shop").runs, 0);
    await succeeds(project, "resume", "shop");
    await untilIdle(project);
    assert.equal(project.record("shop").status, "review");
    project.remove();
  });

  it("is answered by a command, which says what lets it go on", thorough, async () => {
    const project = await waitingAtGate();
    await succeeds(project, "pause", "shop");
    assert.match(await succeeds(project, "approve", "shop"), /: it may be implemented, after `prloom resume shop`\n/);
    await succeeds(project, "resume", "shop");
    await untilIdle(project);
    assert.equal(project.record("shop").status, "review");
    project.remove();
  });

  it("stays held after a kill in the middle of an /unhold that was heard before", thorough, async () => {
    const project = await waitingAtGate();
    await succeeds(project, "approve", "shop");
    await succeeds(project, "pause", "shop");
    await succeeds(project, "comment", "shop", "/unhold");
    await killed(project, "events:taken", "start", "--until-idle");
    assert.equal(project.record("shop").paused, false);
    await succeeds(project, "pause", "shop");
    await untilIdle(project);
    assert.deepEqual([project.record("shop").paused, project.record("shop").runs], [true, 0]);
    // The approval is confirmed in the same start, before or after it.
    const said = (await showPlan(project)).thread.map(({ body }) => body);
    assert.equal(said.filter((body) => /^Nothing was decided: it was written before/.test(body)).length, 1);
    project.remove();
  });

  it("is not let go by what was written before it was held", thorough, async () => {
    const project = makeProject({ config: { gates: GATES } });
    const tracker = addScripted(project);
    project.plan("shop", ["make one"], issue("1"));
    await untilIdle(project);
    await succeeds(project, "approve", "shop");
    tracker.write("1", ANNA, "/hold");
    tracker.write("1", ANNA, "/unhold");
    await succeeds(project, "pause", "shop");
    await untilIdle(project);
    assert.deepEqual([project.record("shop").paused, project.record("shop").runs], [true, 0]);
    const said = tracker.shown("1").map(({ body }) => body);
    assert.ok(said.some((body) => /^Nothing was decided: it was written before the plan was paused\./.test(body)));
    tracker.write("1", ANNA, "/unhold");
    await untilIdle(project);
    assert.equal(project.record("shop").status, "review");
    project.remove();
  });

  it("is held and let go by those who may answer it alone, and not at all once it is done", thorough, async () => {
    const project = await waitingAtGate([], { config: {} });
    const tracker = addScripted(project);
    project.plan("other", ["make one"], issue("1"));
    await untilIdle(project);
    const strangers = [
      { login: "bob", id: "8" },
      { login: "prloom-bot", id: "1" },
    ];
    for (const author of strangers) tracker.write("1", author, "/hold");
    await untilIdle(project);
    assert.equal(project.record("other").paused, false);
    tracker.write("1", ANNA, "/hold");
    await untilIdle(project);
    for (const author of strangers) tracker.write("1", author, "/unhold");
    await untilIdle(project);
    assert.equal(project.record("other").paused, true);
    await succeeds(project, "resume", "other");
    await succeeds(project, "approve", "other");
    await untilIdle(project);
    await succeeds(project, "merge", "other");
    tracker.write("1", ANNA, "/hold");
    await untilIdle(project);
    assert.equal(project.record("other").paused, false);
    assert.doesNotMatch(tracker.shown("1").at(-1)?.body ?? assert.fail("nothing is shown"), /^Paused/);
    project.remove();
  });
});
