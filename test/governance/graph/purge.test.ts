import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Brain } from "../../../src/governance/graph/brain.ts";
import { drawGraph } from "../../../src/governance/graph/draw.ts";
import type { Fact } from "../../../src/governance/graph/facts.ts";
import { findNode, findPlan } from "../../../src/governance/graph/lookup.ts";
import { duePurges } from "../../../src/governance/graph/plan-facts.ts";
import { fact, nodes, plan, planned } from "./facts.ts";

function addAll(brain: Brain, facts: readonly Fact[]): void {
  for (const one of facts) assert.equal(brain.add(one).kind, "applied", JSON.stringify(one));
}

describe("a plan that is abandoned", () => {
  const HOUR = 3_600_000;
  const abandon = (id: string, at = 0) => ({ ...fact("plan_moved", { plan: id, move: "abandon" }), at });
  const purgedAt = (brain: Brain, id: string) => findPlan(brain.graph, id)?.purgedAt;

  test("leaves the context at once where others wait for it, or for a node of it", () => {
    for (const waiting of [[plan("q", ["p"])], [plan("q"), nodes("q", planned("z", { dependsOn: ["a"] }))]]) {
      const brain = new Brain();
      addAll(brain, [plan("p"), nodes("p", planned("a")), ...waiting, abandon("p", 7)]);
      assert.equal(purgedAt(brain, "p"), 7);
      assert.doesNotMatch(drawGraph(brain.graph), /\bp:/);
      assert.equal(findNode(brain.graph, "a")?.node.name, "Task a");
    }
  });

  test("leaves it else when its time is over, and is there all the same", () => {
    const brain = new Brain();
    addAll(brain, [plan("p"), abandon("p")]);
    assert.equal(purgedAt(brain, "p"), undefined);
    assert.match(drawGraph(brain.graph), /\[abandoned\]/);
    assert.deepEqual(duePurges(brain.graph, 48 * HOUR - 1, 48 * HOUR), []);
    assert.deepEqual(duePurges(brain.graph, 48 * HOUR, 48 * HOUR), ["p"]);
    addAll(brain, [fact("plan_purged", { plan: "p" })]);
    assert.notEqual(purgedAt(brain, "p"), undefined);
    assert.deepEqual(duePurges(brain.graph, 99 * HOUR, 48 * HOUR), []);
    assert.equal(drawGraph(brain.graph), "No plans.");
  });
});
