import assert from "node:assert/strict";
import { test } from "node:test";
import { Brain } from "../../../src/governance/graph/brain.ts";
import type { Fact } from "../../../src/governance/graph/facts.ts";
import { checkpoint, move, nodes, plan, planned } from "./facts.ts";

const outcomes = (brain: Brain, facts: readonly Fact[]) =>
  facts.map((fact) => {
    const outcome = brain.add(fact);
    return outcome.kind === "refused" ? outcome.refusal.kind : outcome.kind;
  });

function started(expectedOutput: string): Brain {
  const brain = new Brain();
  outcomes(brain, [plan("p"), nodes("p", planned("a", { expectedOutput })), move("a", "start")]);
  return brain;
}

for (const [expected, missing, enough] of [
  ["tests", checkpoint("a", ["src/a.ts"], { kind: "test" }), checkpoint("a", ["src/a.test.ts"])],
  ["files src/*.{ts,js}", checkpoint("a", ["a.ts"]), checkpoint("a", ["src/a.ts"])],
] as const)
  test(`of a TODO that expects ${expected} is asked what the dispatcher looks for`, () => {
    const given = new Brain(started(expected).graph);
    assert.deepEqual(outcomes(given, [missing, move("a", "complete")]), ["applied", "no-evidence"]);
    assert.deepEqual(outcomes(given, [enough, move("a", "complete")]), ["applied", "claimed"]);
  });

test("what was done for a part of a task was done for the task as well", () => {
  const brain = started("a change");
  const parts = nodes("p", planned("part", { parent: "a" }));
  outcomes(brain, [parts, move("part", "start"), checkpoint("part", ["src/a.ts"])]);
  assert.deepEqual(outcomes(brain, [move("a", "complete")]), ["applied"]);
});
