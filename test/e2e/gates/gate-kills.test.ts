import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { gateStates, killed, showPlan, succeeds, untilIdle, waitingAtGate } from "../../testing/at-gate.ts";
import { thorough } from "../../testing/thorough.ts";

/** Between the two files of a decision, and after them. */
const POINTS = ["bus.record-written", "gate:written", "gate:decided"];

describe("an answer that is killed", { concurrency: 2 }, () => {
  for (const point of POINTS) {
    it(`at ${point}: a rejection that is repeated blocks the plan`, thorough, async () => {
      const project = await waitingAtGate();
      await killed(project, point, "reject", "shop", "--reason", "Too much.");
      await project.cli(["reject", "shop", "--reason", "Too much."]);
      await untilIdle(project);
      assert.match(project.record("shop").blocked?.reason ?? "", /^Rejected by .*: Too much\.$/);
      assert.deepEqual(await gateStates(project), ["rejected"]);
      project.remove();
    });

    it(`at ${point}: a revision reaches the designer once`, point === "gate:written" ? {} : thorough, async () => {
      const project = await waitingAtGate([]);
      await killed(project, point, "revise", "shop", "Approved\nbut only one of them.");
      await untilIdle(project);
      assert.deepEqual(await gateStates(project), ["revised", "open"]);
      assert.equal(project.record("shop").runs, 2);
      assert.match(project.runFile("shop", 2, "prompt.md"), /> but only one of them\./);
      project.remove();
    });
  }

  for (const passage of [1, 2])
    it(
      `between an amendment and its text (${passage}): the comment is heard again, and the approval holds`,
      thorough,
      async () => {
        const project = await waitingAtGate();
        await succeeds(project, "approve", "shop");
        await succeeds(project, "comment", "shop", "--todo", "1", "Mind the tests.");
        await killed(project, `gate:written:${passage}`, "start", "--until-idle");
        await untilIdle(project);
        const { gates } = await showPlan(project);
        assert.deepEqual(
          gates.map(({ state, amendments }) => [state, amendments.length]),
          [["approved", 1]],
        );
        assert.equal(project.record("shop").status, "review");
        project.remove();
      },
    );
});
