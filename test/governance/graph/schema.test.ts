import assert from "node:assert/strict";
import { test } from "node:test";
import { makeGraph, makeNode, makeWorkPlan } from "../../../src/governance/graph/make-graph.ts";
import { graphSchema } from "../../../src/governance/graph/schema.ts";

const checkpoint = { id: "c", taskNodeId: "a", tool: "bash", timestamp: 1, summary: "npm test" };
const node = makeNode(
  {
    ...{ id: "a", workPlanId: "p", name: "A", temporalGate: { afterTaskId: "b", reason: "First that." } },
    checkpoints: [{ ...checkpoint, filesModified: ["a.ts"], kind: "test", ok: true }],
  },
  0,
);
const GRAPH = makeGraph([makeWorkPlan({ id: "p", name: "P", status: "active", tasks: [node] }, 0)]);

/** Each place of a value, and the same value with that place changed. */
function* mutations(value: unknown, change: unknown, at = ""): Generator<readonly [string, unknown]> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    const put = (other: unknown): unknown =>
      Array.isArray(value) ? value.with(Number(key), other) : { ...value, [key]: other };
    yield [`${at}${key}`, put(change)];
    for (const [where, other] of mutations(inner, change, `${at}${key}.`)) yield [where, put(other)];
  }
}

test("a graph with any field that is not what it must be is not read, and the field is named", () => {
  assert.deepEqual(graphSchema.parse(GRAPH), GRAPH);
  // No field may be this, and each must be there.
  const all = [...mutations(GRAPH, Number.NaN), ...mutations(GRAPH, undefined)];
  assert(all.length > 80, String(all.length));
  for (const [where, graph] of all) {
    const { error } = graphSchema.safeParse(graph);
    assert.equal(error?.issues[0]?.path.join("."), where);
  }
});
