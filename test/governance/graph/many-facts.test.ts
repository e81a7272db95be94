import assert from "node:assert/strict";
import { test } from "node:test";
import { Brain } from "../../../src/governance/graph/brain.ts";
import { findNode, nodesOf } from "../../../src/governance/graph/lookup.ts";
import { makeGraph, makeNode, makeWorkPlan } from "../../../src/governance/graph/make-graph.ts";
import type { TaskNode } from "../../../src/governance/graph/schema.ts";
import { checkpoint, move, nodes, plan, planned } from "./facts.ts";

/** A graph that counts how often the nodes of the dispatcher are looked at. */
function countedGraph(tasks: number) {
  let looks = 0;
  const made = Array.from({ length: tasks }, (_, at) => {
    const node = makeNode({ id: `t${at}`, workPlanId: "p", name: "T", status: "planned" }, 0);
    return new Proxy<TaskNode>(node, {
      get(target, key) {
        if (key === "status" || key === "parent") looks += 1;
        return Reflect.get(target, key);
      },
    });
  });
  const graph = makeGraph([makeWorkPlan({ id: "p", name: "P", status: "active", tasks: made }, 0)]);
  return { graph, looks: () => looks };
}

test("moves that free nothing look at no other task, however many there are", () => {
  const { graph, looks } = countedGraph(1000);
  const brain = new Brain(graph);
  brain.add(plan("q"));
  brain.add(nodes("q", planned("a")));
  const before = looks();
  for (let at = 0; at < 1000; at += 1) brain.add(move("a", at % 2 === 0 ? "start" : "fail"));
  assert.equal(findNode(brain.graph, "a")?.node.status, "failed");
  assert.equal(looks() - before, 0);
});

test("what is said to be done is looked for in its own parts, and in no other task", () => {
  const { graph, looks } = countedGraph(1000);
  const brain = new Brain(graph);
  brain.add(nodes("p", planned("part", { parent: "t0" }), planned("below", { parent: "part" })));
  brain.add(move("below", "start"));
  brain.add(checkpoint("below", ["a"]));
  assert.equal(brain.add(move("t0", "complete")).kind, "claimed");
  const before = looks();
  for (let at = 0; at < 100; at += 1) {
    brain.add(checkpoint("below", ["a"]));
    assert.equal(brain.add(move("t1", "complete")).kind, "refused");
  }
  assert.equal(looks() - before, 0);
});

test("evidence that comes in a row makes one graph, in its order", () => {
  const brain = new Brain(countedGraph(2).graph);
  const first = brain.graph;
  for (const file of ["a", "b", "a"]) brain.add(checkpoint("t0", [file]));
  const made = brain.graph;
  assert.notEqual(made, first);
  assert.equal(brain.graph, made);
  const [plan] = made.workPlans;
  assert(plan);
  const [node, other] = nodesOf(plan);
  assert.deepEqual([node?.artifacts, node?.checkpoints.length, other?.checkpoints], [["a", "b"], 3, []]);
});
