import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { callDaemon, type DaemonInfo } from "../../../src/dispatcher/commands/control.ts";
import { showPlan, succeeds } from "../../testing/at-gate.ts";
import { startDaemon } from "../../testing/daemon.ts";
import { makeProject } from "../../testing/project.ts";

const TICKS = 100;

describe("a plan at its gate that is looked at again and again", () => {
  it("is posted once, told of once, and started once", async () => {
    const project = makeProject({ config: { gates: { plan: true, advisory: true } } });
    project.plan("shop", ["make one"]);
    const daemon = await startDaemon(project);
    await daemon.said("shop", /^waits for your answer/);
    const info = JSON.parse(readFileSync(join(project.authority, "daemon.json"), "utf8")) as DaemonInfo;
    /** Each wakes the plan, and changes nothing about it. */
    const look = async (): Promise<void> => {
      for (let tick = 0; tick < TICKS; tick += 1)
        await callDaemon(info, { command: "unblock", args: { plan: "shop" } });
    };
    await look();
    const actions = (): string[] =>
      readFileSync(join(project.authority, "plans", "shop", "bus", "actions.jsonl"), "utf8").split("\n");
    const count = (part: string): number => actions().filter((line) => line.includes(part)).length;
    assert.deepEqual([count('"type":"comment"'), count('"type":"notification"')], [1, 1]);
    assert.equal((await showPlan(project)).thread.length, 1);
    assert.equal(project.record("shop").runs, 0);
    await succeeds(project, "approve", "shop");
    await look();
    await daemon.said("shop", /review/);
    await look();
    await daemon.end();
    assert.deepEqual([count('"type":"notification"'), project.record("shop").runs], [1, 1]);
    assert.deepEqual(
      (await showPlan(project)).thread.map(({ body }) => body.split(" ", 2).join(" ")),
      ["**The plan", "approved by"],
    );
    project.remove();
  });
});
