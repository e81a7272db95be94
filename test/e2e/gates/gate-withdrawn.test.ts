import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { gateStates, killed, showPlan, succeeds, untilIdle, waitingAtGate } from "../../testing/at-gate.ts";
import { startDaemon } from "../../testing/daemon.ts";
import type { Project } from "../../testing/project.ts";
import { thorough } from "../../testing/thorough.ts";

/** What the global bus was told of gates, in order. */
function toldOnBus(project: Project): string[] {
  const journal = readFileSync(join(project.authority, "bus", "events.jsonl"), "utf8");
  const events = journal.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line).data]));
  return events.flatMap(({ type, context }) => (/^gate_/.test(type) ? [`${context.state} ${context.via ?? ""}`] : []));
}

describe("an approval that is withdrawn", { concurrency: 2 }, () => {
  it("at once stays on record with the one who gave it, and plugins hear of both decisions", thorough, async () => {
    const project = await waitingAtGate();
    await succeeds(project, "approve", "shop", "--comment", "Go.");
    await succeeds(project, "withdraw", "shop", "--reason", "The wrong plan");
    for (const point of ["gate:told", "gate:written"]) await killed(project, point, "start", "--until-idle");
    await untilIdle(project);
    assert.deepEqual(toldOnBus(project), ["open ", "approved cli", "withdrawn cli", "open "]);
    const [gate] = (await showPlan(project)).gates;
    assert.deepEqual([gate?.state, gate?.approval?.comment, gate?.comment], ["withdrawn", "Go.", "The wrong plan"]);
    assert.equal(gate?.approval?.decidedBy, gate?.decidedBy);
    assert.match(await succeeds(project, "show", "shop"), /plan {2}approved by \S+ \(cli\), withdrawn by \S+ \(cli\)/);
    assert.equal(project.record("shop").runs, 0);
    project.remove();
  });

  it("after the merge is refused, also when a kill came before the plan was ended", thorough, async () => {
    const project = await waitingAtGate(["make one"], { gates: { plan: false, pr: true } });
    await succeeds(project, "approve", "shop");
    await untilIdle(project);
    await killed(project, "merge:merged", "merge", "shop");
    const { code, stderr } = await project.cli(["withdraw", "shop"]);
    assert.equal(code, 1);
    assert.match(stderr, /Nothing was decided about shop: it is merged into main\./);
    await untilIdle(project);
    assert.deepEqual([project.record("shop").outcome, await gateStates(project)], ["merged", ["approved"]]);
    project.remove();
  });

  it("while git merges waits for that, and is told that it came too late", thorough, async () => {
    const project = await waitingAtGate(["make one"], { gates: { plan: false, pr: true } });
    await succeeds(project, "approve", "shop");
    await untilIdle(project);
    // Git waits for the process that has the lock of a branch.
    project.git("config", "core.filesRefLockTimeout", "60000");
    const lock = join(project.root, ".git", "refs", "heads", "main.lock");
    writeFileSync(lock, "");
    const daemon = await startDaemon(project);
    const merging = project.cli(["merge", "shop"]);
    while (project.record("shop").merge === undefined) await setTimeout(20);
    const withdrawing = project.cli(["withdraw", "shop"]);
    // Long enough for an answer that does not wait.
    await Promise.race([withdrawing, setTimeout(3000)]);
    rmSync(lock);
    assert.equal((await merging).code, 0);
    const { code, stderr } = await withdrawing;
    await daemon.end();
    assert.equal(code, 1);
    assert.match(stderr, /Nothing was decided about shop: the plan is done \(merged\)\./);
    assert.deepEqual(await gateStates(project), ["approved"]);
    project.remove();
  });

  it(
    "of the plan keeps its approved change from being merged, and the refusal names the gate that waits",
    thorough,
    async () => {
      const project = await waitingAtGate(["make one"], { gates: { pr: true } });
      await succeeds(project, "approve", "shop");
      await untilIdle(project);
      await succeeds(project, "withdraw", "shop");
      const change = (await showPlan(project)).gates.find(({ kind }) => kind === "pr");
      await succeeds(project, "approve", "shop", "--gate", change?.gateId ?? "");
      await untilIdle(project);
      assert.deepEqual(await gateStates(project), ["withdrawn", "open", "approved"]);
      const { code, stderr } = await project.cli(["merge", "shop", "--force"]);
      assert.equal(code, 1);
      assert.match(stderr, /waits for an answer \(gate \w+\): it is not merged before its plan is approved\./);
      await succeeds(project, "approve", "shop");
      await untilIdle(project);
      assert.equal(project.record("shop").status, "review");
      await succeeds(project, "merge", "shop");
      project.remove();
    },
  );
});
