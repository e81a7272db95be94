import assert from "node:assert/strict";
import { test } from "node:test";
import { drawGraph } from "../../../src/governance/graph/draw.ts";
import { makeGraph } from "../../../src/governance/graph/make-graph.ts";
import type { Checkpoint, TaskNode, WorkPlan } from "../../../src/governance/graph/schema.ts";

function drawn(summaries: readonly string[]): string[] {
  const checkpoints = summaries.map((summary) => ({ tool: "Bash", summary }) as Checkpoint);
  const node = { id: "n", name: "one", status: "active", checkpoints, dependsOn: [] } as unknown as TaskNode;
  const plan = { id: "p", name: "p", status: "active", tasks: [node], planAhead: [] } as unknown as WorkPlan;
  return drawGraph({ ...makeGraph(), workPlans: [plan] }, { checkpoints: 2 })
    .split("\n")
    .slice(2)
    .map((line) => line.trim());
}

test("of what was done the newest is drawn, how much was before it, and what was put back whenever that was", () => {
  assert.deepEqual(drawn(["a", "b"]), ["· Bash: a", "· Bash: b"]);
  assert.deepEqual(drawn(["a", "b", "c"]), ["… 1 more before", "· Bash: b", "· Bash: c"]);
  const put = "PUT BACK opencode.json, found after sh x.sh";
  assert.deepEqual(drawn([put, "a", "b", "c"]), ["… 1 more before", `· Bash: ${put}`, "· Bash: b", "· Bash: c"]);
  assert.deepEqual(drawn([put, put, put, "b", "c"]).length, 5, "not more of them than of others");
});

test("of many tasks those around the one that is next are drawn, and what waits is called so to people", () => {
  const node = (_: unknown, at: number) =>
    ({
      ...{ id: `n${at}`, name: `n${at}`, checkpoints: [] },
      ...{ status: at < 8 ? "completed" : at === 8 ? "planned" : "blocked", dependsOn: at > 8 ? [`n${at - 1}`] : [] },
    }) as unknown as TaskNode;
  const tasks = Array.from({ length: 12 }, node);
  const plan = { id: "p", name: "p", status: "active", tasks, planAhead: [] } as unknown as WorkPlan;
  const graph = { ...makeGraph(), workPlans: [plan] };
  assert.equal(
    drawGraph(graph, { nodes: 3, isForPeople: true }),
    "p [active]\n  … 7 more before\n  n7: n7 [completed]\n  n8: n8 [planned]\n  n9: n9 [waiting for n8]\n  … 2 more",
  );
  assert.match(drawGraph(graph), /n9: n9 \[blocked, waits for n8\]/);
});
