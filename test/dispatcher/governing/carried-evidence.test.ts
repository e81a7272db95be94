import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { withCarriedEvidence } from "../../../src/dispatcher/governing/carried-evidence.ts";
import { findNode } from "../../../src/governance/graph/lookup.ts";
import { makeGraph, makeNode, makeWorkPlan } from "../../../src/governance/graph/make-graph.ts";

const runs = mkdtempSync(join(tmpdir(), "prloom-runs-"));
after(() => rmSync(runs, { recursive: true }));

const node = makeNode({ id: "todo", workPlanId: "p", name: "Build it", status: "active" }, 1);
const graph = makeGraph([makeWorkPlan({ id: "p", name: "p", status: "active", tasks: [node] }, 1)]);

/** A run of a conversation about a TODO, with a checkpoint that changed a file named like it. */
function run(number: number, about: string, more: { sessionId?: string; stage?: string } = {}, part = about): void {
  const dir = join(runs, String(number));
  mkdirSync(join(dir, "agent"), { recursive: true });
  const started = { stage: "worker", agent: "a", attempt: 1, startedAt: "", about, ...more };
  writeFileSync(join(dir, "run.json"), JSON.stringify(started));
  const done = { tool: "write", timestamp: number, summary: "x", filesModified: [`${number}.txt`] };
  const checkpoint = { id: `c${number}`, taskNodeId: part, ...done, kind: "change", ok: true };
  const fact = { type: "checkpoint", key: `k${number}`, at: number, session: "s", role: "executor", checkpoint };
  writeFileSync(join(dir, "agent", "facts.jsonl"), `${JSON.stringify(fact)}\n{torn "checkpoint"`);
}

const carried = (number: number) =>
  findNode(withCarriedEvidence(graph, join(runs, String(number)), "todo"), "todo")?.node.artifacts;

test("what the runs of one conversation about a TODO did goes on, for its parts as well, over runs of other stages, and nothing from before it", () => {
  assert.deepEqual(carried(1), []);
  run(1, "todo");
  run(2, "other");
  assert.deepEqual(carried(3), []);
  run(3, "todo");
  run(4, "review", { stage: "reviewer" });
  run(5, "todo", { sessionId: "s" }, "tn-part");
  assert.deepEqual(carried(6), ["3.txt", "5.txt"]);
  run(6, "todo");
  assert.deepEqual(carried(7), ["6.txt"]);
});
