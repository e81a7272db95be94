import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { gateStates, showPlan, succeeds, untilIdle, waitingAtGate } from "../../../testing/at-gate.ts";
import { startDaemon } from "../../../testing/daemon.ts";
import { makeProject } from "../../../testing/project.ts";
import { thorough } from "../../../testing/thorough.ts";

describe("a comment at a gate", { concurrency: 2 }, () => {
  it(
    "is put off while the record of the gate cannot be read, and is then heard as the answer it is",
    thorough,
    async () => {
      const project = await waitingAtGate();
      const [gate] = (await showPlan(project)).gates;
      const path = join(project.authority, "gates", `${gate?.gateId}.json`);
      const record = readFileSync(path, "utf8");
      writeFileSync(path, "{");
      await succeeds(project, "comment", "shop", "approved");
      const daemon = await startDaemon(project);
      await daemon.said("shop", /a comment is put off: .* is not a gate that can be read/);
      await daemon.end();
      writeFileSync(path, record);
      assert.equal(project.record("shop").runs, 0);
      const bus = join(project.authority, "plans", "shop", "bus", "settled.jsonl");
      assert.doesNotMatch(readFileSync(bus, "utf8"), /"pendingTriage":true/);
      const { deferred } = await project.status();
      assert.equal(deferred.count, 1);
      project.remove();
    },
  );

  it("by an author who may only read is ignored, and a message to the agent is refused", async () => {
    const project = await waitingAtGate(["make one"], { config: { authors: { Bob: "read" } } });
    project.git("config", "user.name", "bob");
    await succeeds(project, "comment", "shop", "approved");
    const { code, stderr } = await project.cli(["send", "shop", "do it"]);
    assert.equal(code, 2);
    assert.match(stderr, /bob may not write to this repository \(read, as `authors` in prloom\/config\.json says\)/);
    await untilIdle(project);
    assert.deepEqual(await gateStates(project), ["open"]);
    assert.match(
      project.record("shop").ignored?.newest[0]?.reason ?? "",
      /bob may not write to the repository \(read\)/,
    );
    assert.equal((await showPlan(project)).thread.length, 2);
    project.git("config", "user.name", "anna");
    await succeeds(project, "comment", "shop", "approved");
    await untilIdle(project);
    assert.deepEqual(await gateStates(project), ["approved"]);
    project.remove();
  });

  it("approves a plan that a plugin shows in its own way", thorough, async () => {
    const project = makeProject({ config: { gates: { plan: true, advisory: true } } });
    mkdirSync(join(project.root, "plugins"));
    writeFileSync(
      join(project.root, "plugins", "shows.mjs"),
      `export default () => ({ beforeRoute: (action, ctx) => { if (/^gate-\\w+-1$/.test(action.id)) ctx.markActionHandled(action.id); } });`,
    );
    project.config({ globalPlugins: { shows: { module: "./plugins/shows.mjs" } } });
    project.plan("shop", ["make one"]);
    await untilIdle(project);
    assert.deepEqual((await showPlan(project)).thread, []);
    await succeeds(project, "comment", "shop", "approved");
    await untilIdle(project);
    assert.deepEqual(await gateStates(project), ["approved"]);
    project.remove();
  });

  it("that is near to an answer gets one hint at each gate, and is feedback afterwards", thorough, async () => {
    const project = await waitingAtGate();
    for (const body of ["approved?", "👍", "looks good"]) await succeeds(project, "comment", "shop", body);
    await untilIdle(project);
    const hints = (await showPlan(project)).thread.filter(({ body }) => /on the first line/.test(body));
    assert.equal(hints.length, 1);
    await succeeds(project, "comment", "shop", "/hold");
    await untilIdle(project);
    assert.match((await showPlan(project)).thread.at(-1)?.body ?? "", /^Paused by .*prloom resume shop/);
    project.remove();
  });
});
