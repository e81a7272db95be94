import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { gateStates, killed, showPlan, succeeds, untilIdle } from "../../testing/at-gate.ts";
import { startDaemon } from "../../testing/daemon.ts";
import { makeProject, type Project } from "../../testing/project.ts";
import { oneOf } from "../../testing/sample.ts";
import { ANNA, addScripted, issue } from "../../testing/scripted-tracker.ts";
import { thorough } from "../../testing/thorough.ts";
import type { ScriptedTracker } from "../../testing/tracker/scripted.ts";

const GATES = { plan: true, advisory: true };
const NO_STATUS = { investigating: false, planning: false, plan: false, implementing: false, pr: false };

interface World {
  readonly project: Project;
  readonly tracker: ScriptedTracker;
  /** What stands in the thread of the plan, without markers. */
  bodies(): string[];
}

/** A plan from an issue of the scripted tracker; nothing has worked on it yet. */
function world({ text, limit }: { text?: string; limit?: number } = {}): World {
  const project = makeProject({ config: { gates: GATES, writeback: NO_STATUS } });
  const tracker = addScripted(project, limit);
  if (text === undefined) project.plan("shop", ["make one"], issue("1"));
  else project.planFile("shop", text, issue("1"));
  const bodies = (): string[] => tracker.shown("1").map(({ body }) => body.replace(/\n\n<!-- prloom:\S+ -->$/, ""));
  return { project, tracker, bodies };
}

async function atGate(options?: { text?: string; limit?: number }): Promise<World> {
  const made = world(options);
  await untilIdle(made.project);
  return made;
}

/** Actions of the plan's bus whose ids match, as the journal has them. */
function actions(project: Project, id: RegExp): SentAction[] {
  const journal = readFileSync(join(project.authority, "plans", "shop", "bus", "actions.jsonl"), "utf8");
  const lines = journal.split("\n").filter((line) => line !== "");
  return lines.map((line) => (JSON.parse(line) as { data: SentAction }).data).filter((one) => id.test(one.id));
}

interface SentAction {
  readonly id: string;
  readonly payload: { readonly priority?: string; readonly message?: string };
}

const lines = (count: number): string =>
  `## Title\n\nPlan shop\n\n## TODO\n\n- [ ] make one\n\n## Notes\n\n${Array.from({ length: count }, (_, line) => `- ${String(line).padEnd(96, ".")}`).join("\n")}\n`;

describe("a plan from a tracker", { concurrency: 2 }, () => {
  it("is shown there, answered there by those who may, and the decision is confirmed there", async () => {
    const { project, tracker, bodies } = await atGate();
    assert.match(bodies().join(), /^\*\*The plan waits for your answer\*\*[\s\S]*- \[ \] make one\n```/);
    assert.match(bodies().join(), /\n\nA comment by prloom-bot does not count: prloom posts with that login\.$/);
    assert.deepEqual((await showPlan(project)).thread, []);
    assert.match(await succeeds(project, "show", "shop"), /\nSHOWN \(scripted\)\n[\s\S]*- \[ \] make one\n/);
    tracker.write("1", { login: "mallory", id: "66" }, "approved");
    tracker.write("1", { login: "bob", id: "8" }, "lgtm");
    tracker.write("1", { login: "prloom-bot", id: "1" }, "approved");
    tracker.write("2", ANNA, "approved");
    await untilIdle(project);
    assert.deepEqual(await gateStates(project), ["open"]);
    const replies = bodies().filter((body) => body.startsWith("Nothing was decided"));
    assert.match(replies.join("\n"), /^Nothing was decided: prloom posts as prloom-bot as well.*sign the answer\.$/);
    tracker.write("1", ANNA, "Approved!\nMind the tests.");
    await untilIdle(project);
    assert.deepEqual(await gateStates(project), ["approved"]);
    assert.equal(project.record("shop").status, "review");
    assert.match(bodies().join("\n"), /^approved by anna \(thread\): it is implemented now \(gate \w+\)$/m);
    assert.match(project.runFile("shop", 1, "prompt.md"), /> Mind the tests\./);
    project.remove();
  });

  it(
    "is extended by words that are surely an approver's: not under prloom's own login, and not edited",
    thorough,
    async () => {
      const { project, tracker } = await atGate();
      tracker.write("1", ANNA, "approved");
      await untilIdle(project);
      for (const author of [{ login: "prloom-bot", id: "1" }, ANNA]) {
        const ref = tracker.write("1", author, "please add two");
        // Others who may write can edit what she wrote.
        if (author === ANNA) tracker.change(ref, "please add three");
        await untilIdle(project);
        const { gates } = await showPlan(project);
        assert.deepEqual(
          [gates.at(-1)?.state, gates.flatMap(({ amendments }) => amendments)],
          ["open", []],
          author.login,
        );
        await succeeds(project, "approve", "shop");
        await untilIdle(project);
      }
      assert.match(project.planText("shop"), /- \[x\] add two[\s\S]*- \[x\] add three/);
      project.remove();
    },
  );

  it("has each amendment posted where it was shown, as it stands in the plan", thorough, async () => {
    const { project, tracker, bodies } = await atGate();
    tracker.write("1", ANNA, "approved");
    await untilIdle(project);
    await succeeds(project, "comment", "shop", "please add [two](https://example.com)");
    await untilIdle(project);
    const { gates, thread } = await showPlan(project);
    assert.equal(gates.at(-1)?.amendments.length, 1);
    const posted =
      /(?:^|\n)Added to the plan:\n\n```markdown\n- add \[two\]\(https:\/\/example\.com\)\n {2}asked by .+\n```(?:\n|$)/;
    for (const told of [bodies(), thread.map(({ body }) => body)])
      assert.equal(told.filter((body) => posted.test(body)).length, 1, told.join("\n---\n"));
    project.remove();
  });

  it("is not merged for a comment under prloom's own login, which an agent could have written", thorough, async () => {
    const { project, tracker } = world();
    const merger = join(project.root, "prloom", "merger.mjs");
    const merge = `ctx.markEventHandled(); ctx.emitMerge({ target: "local", token: "shop" });`;
    writeFileSync(
      merger,
      `export default () => ({ onEvent(event, ctx) { if (event.body === "/merge") { ${merge} } } });`,
    );
    project.config({ plugins: { merger: { module: "./prloom/merger.mjs" } } });
    await untilIdle(project);
    tracker.write("1", ANNA, "approved");
    await untilIdle(project);
    const states: unknown[] = [];
    for (const author of [{ login: "prloom-bot", id: "1" }, ANNA]) {
      tracker.write("1", author, "/merge");
      await untilIdle(project);
      states.push(project.record("shop").status);
    }
    assert.deepEqual(states, ["review", "done"]);
    project.remove();
  });

  it("near misses are answered once for each author; /hold and /unhold are confirmed", thorough, async () => {
    const { project, tracker, bodies } = await atGate();
    for (const body of ["approved?", "ship it", "/hold", "/approve 01ARZ3NDEKTSV4RRFFQ69G5FAV"])
      tracker.write("1", ANNA, body);
    await untilIdle(project);
    const said = bodies().slice(1);
    assert.equal(
      said.filter((body) => /write `approved` on the first line/.test(body)).length,
      2,
      said.join("\n---\n"),
    );
    assert.ok(said.some((body) => /^Paused by anna: .*`prloom resume shop` goes on\.$/.test(body)));
    assert.ok(
      said.some((body) => /^Nothing was decided: there is no gate 01ARZ3NDEKTSV4RRFFQ69G5FAV here\./.test(body)),
    );
    assert.equal(project.record("shop").paused, true);
    tracker.write("1", ANNA, "/unhold");
    await untilIdle(project);
    assert.ok(bodies().includes("anna lets it go on."));
    assert.deepEqual(await gateStates(project), ["open"]);
    project.remove();
  });

  it(
    "that is too long for a post comes in parts, in order, none twice after kills, and is answered when all are there",
    thorough,
    async () => {
      const { project, tracker, bodies } = world({ text: lines(1000) });
      tracker.script("post", "lost", "500", "lost");
      for (const point of ["gate:opened", "gate:told", "deliver:sending", "deliver:returned", "gate:posted"])
        await killed(project, point, "start", "--until-idle");
      await untilIdle(project);
      const parts = bodies();
      assert.deepEqual(
        parts.map((body) => /^\*\*Part (\d of \d)\*\*/.exec(body)?.[1]),
        ["1 of 2", "2 of 2"],
      );
      for (const line of lines(1000).split("\n"))
        assert.ok(
          parts.some((part) => part.includes(line)),
          line,
        );
      assert.deepEqual(
        actions(project, /-notice$/).map(({ payload }) => [
          payload.priority,
          /^ {4}prloom approve shop\n {4}prloom reject shop --reason/m.test(payload.message ?? ""),
        ]),
        [["action", true]],
      );
      tracker.write("1", ANNA, "approved");
      await untilIdle(project);
      assert.deepEqual(await gateStates(project), ["approved"]);
      project.remove();
    },
  );

  it("cannot be answered while a part of it is under way, and harms no other plan meanwhile", thorough, async () => {
    const { project, tracker, bodies } = world();
    project.config({ gates: { advisory: true } });
    project.plan("shop", ["make one"], { ...issue("1"), metadata: { gates: { plan: true } } });
    tracker.script("post", "500!");
    project.plan("other", ["make one"]);
    const daemon = await startDaemon(project);
    await daemon.said("other", /review/);
    await daemon.said("shop", /waits: 500/);
    const { code, stderr } = await project.cli(["approve", "shop"]);
    assert.equal(code, 1);
    assert.match(stderr, /it is not shown completely yet/);
    assert.deepEqual(JSON.parse(await succeeds(project, "gates", "--json")).gates, []);
    tracker.script("post", "fine");
    await daemon.said("shop", /^waits for your answer: prloom approve/);
    await daemon.end();
    assert.equal(bodies().length, 1);
    await succeeds(project, "approve", "shop");
    project.remove();
  });

  it("is blocked when a part of it is refused, and shown again when it is unblocked", thorough, async () => {
    const { project, tracker, bodies } = world({ text: lines(1000) });
    tracker.script("post", "fine", "422");
    await untilIdle(project);
    const { blocked } = project.record("shop");
    assert.match(blocked?.reason ?? "", /^It could not be shown \(scripted\): 422/);
    assert.match(blocked?.hint ?? "", /`prloom unblock shop` shows it again/);
    assert.deepEqual(await gateStates(project), ["expired"]);
    await succeeds(project, "unblock", "shop");
    await untilIdle(project);
    assert.deepEqual(await gateStates(project), ["expired", "open"]);
    assert.equal(bodies().length, 3);
    project.remove();
  });

  for (const [what, tamper] of oneOf([
    [
      "was edited",
      ({ shown, change }: ScriptedTracker) => change("1", shown("1")[0]?.body.replace("make one", "rest") ?? ""),
    ],
    ["is gone", ({ remove }: ScriptedTracker) => remove("1")],
    ["is gone", ({ change }: ScriptedTracker) => change("1", "All is well. Just approve it.")],
  ] as const))
    it(`whose post ${what} is not approved by what was written there, and is shown again`, async () => {
      const { project, tracker, bodies } = await atGate();
      tamper(tracker);
      tracker.write("1", ANNA, "approved");
      await untilIdle(project);
      assert.deepEqual(await gateStates(project), ["revised", "open"]);
      assert.ok(
        bodies().some((body) => new RegExp(`^Nothing was decided: the post of gate \\w+ ${what}\\.`).test(body)),
      );
      assert.ok(bodies().some((body) => new RegExp(`It is shown again: the post of gate \\w+ ${what}\\.`).test(body)));
      const { gates } = await showPlan(project);
      tracker.write("1", ANNA, `/approve ${gates[1]?.gateId}`);
      await untilIdle(project);
      assert.deepEqual(await gateStates(project), ["revised", "approved"]);
      project.remove();
    });

  it(
    "whose post was edited is not approved at a command line either, while the tracker can be read",
    thorough,
    async () => {
      const { project, tracker } = await atGate();
      const daemon = await startDaemon(project);
      tracker.change("1", tracker.shown("1")[0]?.body.replace("make one", "rest") ?? "");
      const { code, stderr } = await project.cli(["approve", "shop"]);
      assert.equal(code, 1);
      assert.match(stderr, /the post of gate \w+ was edited[\s\S]*The plan is shown again/);
      await daemon.said("shop", /^waits for your answer: prloom approve/);
      tracker.script("own", "500!");
      await succeeds(project, "approve", "shop");
      await daemon.end();
      assert.deepEqual(await gateStates(project), ["revised", "approved"]);
      project.remove();
    },
  );

  it("keeps an answer until its post can be read again", thorough, async () => {
    const { project, tracker } = await atGate();
    tracker.script("own", "500");
    tracker.write("1", ANNA, "approved");
    const daemon = await startDaemon(project);
    await daemon.said("shop", /a comment is put off: the post of gate \w+ cannot be read: /);
    assert.deepEqual(await gateStates(project), ["open"]);
    await daemon.said("shop", /approved by anna/);
    await daemon.end();
    project.remove();
  });

  it("of 300,000 characters is shown whole", thorough, async () => {
    const { project, bodies } = await atGate({ text: lines(3000) });
    assert.equal(bodies().length, 5);
    for (const line of lines(3000).split("\n"))
      assert.ok(
        bodies().some((part) => part.includes(line)),
        line,
      );
    project.remove();
  });
});
