import assert from "node:assert/strict";
import { test } from "node:test";
import { type Asked, ask, handedOver, policy, STARTED, table } from "../fixtures.ts";

const chain = (depth: number): Asked => ({
  session: `s${depth}`,
  graph: {
    ...STARTED,
    delegations: Array.from({ length: depth }, (_, at) =>
      handedOver({ session: `s${at + 1}`, parentSession: `s${at}` }),
    ),
  },
});

const assigning = (to: string) =>
  ["govern_delegate", { action: "assign", to, name: "x", expectedOutput: "none" }] as const;
const called = (agent: string): Asked => ({
  session: "s1",
  graph: { ...STARTED, delegations: [handedOver({ session: "s1", parentSession: "s0", agent })] },
});
const research: Asked = {
  graph: { ...STARTED, workPlans: STARTED.workPlans.map((plan) => ({ ...plan, category: "research" as const })) },
};

table("delegation of a part", [
  ["to a role of the config", assigning("writer"), "allowed"],
  ["to a role that is not there", assigning("boss"), "delegation"],
  ["to an agent of another name", ["task", { subagent_type: "other", prompt: "x" }], "allowed", called("general")],
  [
    "to an agent that it came from",
    ["task", { subagent_type: "general", prompt: "x" }],
    "delegation",
    called("general"),
  ],
  ["research, to one that only reads", ["task", { subagent_type: "explore", prompt: "x" }], "allowed", research],
  ["research, to one that works", ["task", { subagent_type: "general", prompt: "x" }], "delegation", research],
  ["without a task", assigning("executor"), "delegation", { policy: policy({ node: null }) }],
]);

test("a chain that is too long, or comes back, is told with its way", () => {
  const deep = ask("task", { subagent_type: "executor", prompt: "x" }, chain(3));
  const round = ask("task", { subagent_type: "general", prompt: "x" }, called("general"));
  assert.deepEqual(
    [deep, round].map((verdict) => (verdict.allow ? "" : verdict.denial.evidence)),
    [
      "MAX_DELEGATION_DEPTH: executor → executor → executor → executor → executor; depth 3, at most 3",
      "CIRCULAR_DELEGATION: executor → general → general",
    ],
  );
});
