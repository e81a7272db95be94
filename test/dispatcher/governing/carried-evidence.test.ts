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

/** A run about a TODO, with a checkpoint that changed a file named like it. */
function run(number: number, about: string, more: { baseSha?: string; stage?: string } = {}, part = about): void {
  const dir = join(runs, String(number));
  mkdirSync(join(dir, "agent"), { recursive: true });
  const started = { stage: "worker", agent: `a${number}`, attempt: 1, startedAt: "", about, baseSha: "base", ...more };
  writeFileSync(join(dir, "run.json"), JSON.stringify(started));
  const done = { tool: "write", timestamp: number, summary: "x", filesModified: [`${number}.txt`] };
  const checkpoint = { id: `c${number}`, taskNodeId: part, ...done, kind: "change", ok: true };
  const fact = { type: "checkpoint", key: `k${number}`, at: number, session: "s", role: "executor", checkpoint };
  writeFileSync(join(dir, "agent", "facts.jsonl"), `${JSON.stringify(fact)}\n{torn "checkpoint"`);
}

const carried = (number: number) => {
  const given = withCarriedEvidence(graph, join(runs, String(number)), { todo: "todo", baseSha: "base" });
  return findNode(given, "todo")?.node.artifacts;
};

test("what runs did for a TODO goes on with any agent, for its parts as well, over runs of other stages", () => {
  assert.deepEqual(carried(1), []);
  run(1, "todo");
  run(2, "other");
  assert.deepEqual(carried(3), []);
  run(3, "todo");
  run(4, "review", { stage: "reviewer" });
  for (const left of ["aside.patch", "partial.patch"]) writeFileSync(join(runs, "4", left), "");
  run(5, "todo", {}, "tn-part");
  assert.deepEqual(carried(6), ["3.txt", "5.txt"]);
});

test("nothing does from before the tree was put aside, nor from on top of another commit", () => {
  run(6, "todo", { baseSha: "before" });
  assert.deepEqual(carried(7), []);
  run(7, "todo");
  assert.deepEqual(carried(8), ["7.txt"]);
  writeFileSync(join(runs, "7", "partial.patch"), "");
  assert.deepEqual(carried(8), []);
  run(8, "todo");
  assert.deepEqual(carried(9), ["8.txt"]);
});
