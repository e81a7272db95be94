import assert from "node:assert/strict";
import { test } from "node:test";
import type { Anchor } from "../../../src/governance/context/anchors.ts";
import { concernsOf } from "../../../src/governance/context/concerns.ts";
import { makeGraph, makeNode, makeWorkPlan } from "../../../src/governance/graph/make-graph.ts";

const node = (id: string, changes = {}) => makeNode({ id, workPlanId: "p", name: `Task ${id}`, ...changes }, 0);
const tasks = [node("one", { status: "completed", artifacts: ["src/a.ts"] }), node("two", { dependsOn: ["one"] })];
const graph = makeGraph([makeWorkPlan({ id: "p", name: "P", status: "active", tasks }, 0)]);
const anchor: Anchor = {
  ...{ id: "x", content: "Generated", priority: "high", entityType: "file", entity: "src/gen.ts" },
  ...{ createdAt: 0, modifiedAt: 0 },
};

const ROWS: readonly [text: string, expected: readonly string[]][] = [
  ["Change src/a.ts, please.", ['src/a.ts was changed for one "Task one" [completed]']],
  ["Look at `src/b.ts`", ['src/a.ts, beside src/b.ts, was changed for one "Task one" [completed]']],
  [
    "See src/gen.ts.",
    ["src/gen.ts: Generated", 'src/a.ts, beside src/gen.ts, was changed for one "Task one" [completed]'],
  ],
  ["Then comes two", ["two comes after one"]],
  ["Write good code, and tests", []],
  ["docs/x.md", []],
];

for (const [text, expected] of ROWS)
  test(`${JSON.stringify(text)} concerns ${expected.length} things`, () =>
    assert.deepEqual(concernsOf(text, graph, [anchor]), expected));

test("a prompt of any length names few things", () => {
  const text = Array.from({ length: 50_000 }, (_, at) => `src/${at}.ts`).join(" ");
  assert.equal(concernsOf(text, graph, []).length, 5);
});

test("plans that left the context concern no one", () => {
  const purged = { ...graph, workPlans: graph.workPlans.map((plan) => ({ ...plan, purgedAt: 1 })) };
  assert.deepEqual(concernsOf("src/a.ts", purged, []), []);
});
