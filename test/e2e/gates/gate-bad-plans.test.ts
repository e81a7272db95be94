import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { gateStates, showPlan, succeeds, untilIdle, waitingAtGate } from "../../testing/at-gate.ts";
import { makeProject } from "../../testing/project.ts";
import { thorough } from "../../testing/thorough.ts";

describe("at a gate", { concurrency: 2 }, () => {
  it(
    "a plan whose file is deleted is blocked, opens no door, and goes on when it is written again",
    thorough,
    async () => {
      const project = await waitingAtGate();
      const text = project.planText("shop");
      rmSync(join(project.authority, "plans", "shop", "plan.md"));
      await untilIdle(project);
      assert.match(project.record("shop").blocked?.reason ?? "", /plan\.md is missing/);
      const { code } = await project.cli(["approve", "shop"]);
      assert.notEqual(code, 0, "there is nothing to approve");
      await untilIdle(project);
      assert.equal(project.record("shop").runs, 0);
      const file = join(project.home, "again.md");
      writeFileSync(file, text);
      await succeeds(project, "edit", "shop", "--file", file);
      await succeeds(project, "unblock", "shop");
      await untilIdle(project);
      assert.equal((await showPlan(project)).phase, "plan_gate");
      project.remove();
    },
  );

  it("a plan that is empty by then is blocked: nothing is approved, designed or shown", async () => {
    const project = await waitingAtGate();
    const text = project.planText("shop");
    writeFileSync(join(project.authority, "plans", "shop", "plan.md"), " \n\n\t\n");
    const { code, stderr } = await project.cli(["approve", "shop"]);
    assert.equal(code, 1);
    assert.match(stderr, /its plan\.md is missing .*or has no text: write it again with `prloom edit shop --file/);
    await untilIdle(project);
    const { stderr: later } = await project.cli(["approve", "shop"]);
    assert.match(later, /`prloom edit shop --file plan\.md`, then run `prloom unblock shop`/);
    assert.match(project.record("shop").blocked?.reason ?? "", /plan\.md is missing or unreadable, or has no text/);
    assert.deepEqual([project.record("shop").runs, await gateStates(project)], [0, ["open"]]);
    const file = join(project.home, "again.md");
    writeFileSync(file, text);
    await succeeds(project, "edit", "shop", "--file", file);
    await succeeds(project, "unblock", "shop");
    await untilIdle(project);
    await succeeds(project, "approve", "shop");
    await untilIdle(project);
    assert.equal(project.record("shop").status, "review");
    project.remove();
  });

  it("a plan that lost all but its title is designed anew, and shown before anything is done", thorough, async () => {
    const project = await waitingAtGate();
    writeFileSync(join(project.authority, "plans", "shop", "plan.md"), "## Title\n\nPlan shop\n\n## TODO\n");
    await untilIdle(project);
    assert.deepEqual(await gateStates(project), ["revised", "open"]);
    assert.deepEqual(project.commits("shop"), []);
    project.remove();
  });

  it("a plan of 300,000 characters is shown whole", thorough, async () => {
    const project = makeProject({ config: { gates: { plan: true, advisory: true } } });
    const words = `${"These are many words about a shop. ".repeat(8600)}THE END`;
    project.planFile("shop", `## Title\n\nA shop\n\n## Objective\n\n${words}\n\n## TODO\n\n- [ ] make one\n`);
    await untilIdle(project);
    const { phase, gates } = await showPlan(project);
    assert.equal(phase, "plan_gate");
    assert.ok((gates[0]?.shown.length ?? 0) > 300_000);
    assert.match(gates[0]?.shown ?? "", /THE END/);
    await succeeds(project, "approve", "shop");
    assert.deepEqual(await gateStates(project), ["approved"]);
    project.remove();
  });
});
