import assert from "node:assert/strict";
import { test } from "node:test";
import { type Reached, reachedBy, reachedSince } from "../../src/plan/reached.ts";

const SINCE: readonly [last: Reached | undefined, now: Reached, told: readonly Reached[]][] = [
  [undefined, "investigating", ["investigating"]],
  ["investigating", "investigating", []],
  ["investigating", "planning", ["planning"]],
  ["investigating", "plan", ["planning", "plan"]],
  ["investigating", "implementing", ["planning", "plan", "implementing"]],
  ["planning", "implementing", ["plan", "implementing"]],
  [undefined, "implementing", ["plan", "implementing"]],
  ["plan", "implementing", ["implementing"]],
  ["plan", "planning", ["planning"]],
  ["implementing", "pr", ["pr"]],
  ["pr", "implementing", ["implementing"]],
  ["pr", "done", ["done"]],
  ["planning", "done", ["done"]],
  ["done", "done", []],
  // Its source was told nothing of it, so this neither.
  [undefined, "done", []],
];

for (const [last, now, told] of SINCE)
  test(`after ${last ?? "nothing"}, ${now}: ${told.join(", ") || "nothing"} is told`, () =>
    assert.deepEqual(reachedSince(last, now), told));

test("what a plan has come to follows from its status and its phase", () => {
  assert.equal(reachedBy({ status: "review" }, undefined), "pr");
  assert.equal(reachedBy({ status: "active" }, "plan_gate"), "plan");
  assert.equal(reachedBy({ status: "active" }, "implementing"), "implementing");
  assert.equal(reachedBy({ status: "done" }, undefined), "done");
  assert.equal(reachedBy({ status: "queued" }, undefined), undefined);
});
