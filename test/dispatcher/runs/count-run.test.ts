import assert from "node:assert/strict";
import { test } from "node:test";
import { conversationOf, sessionFor } from "../../../src/dispatcher/runs/count-run.ts";
import type { PlanRecord, SideRun } from "../../../src/plan/record.ts";

const agent = { name: "a", session: "todo" } as const;
const session = (id: string, todoId: string) => ({ agent: "a", id, todoId });

/** A TODO is being worked on, and has a conversation in each stage. */
function recordWith(side: SideRun | undefined): PlanRecord {
  return {
    current: { todoId: "t1", attempt: 1, baseSha: "base", stage: "verified", run: 3, tree: "tree" },
    side,
    sessions: {
      designer: session("d", "design"),
      worker: session("w", "t1"),
      triage: session("t", "e1"),
      reviewer: session("r", "review/tree"),
    },
  } as unknown as PlanRecord;
}

const side = (stage: SideRun["stage"]): SideRun => ({ stage, run: 4, attempt: 1, baseSha: "base", events: ["e1"] });

test("a conversation of one stage is kept while another works", () => {
  for (const stage of ["designer", "triage", "reviewer"] as const) {
    const record = recordWith(side(stage));
    assert.equal(sessionFor(record, "worker", agent)?.id, "w", stage);
    assert.equal(sessionFor(record, "reviewer", agent)?.id, "r", stage);
    assert.equal(sessionFor(record, "designer", agent)?.id, "d", stage);
    assert.equal(sessionFor(record, stage, agent)?.id, stage[0], stage);
  }
  assert.equal(sessionFor(recordWith(undefined), "worker", agent)?.id, "w");
});

test("and goes on only with what it was about, and with its own agent", () => {
  const record = recordWith(side("reviewer"));
  assert.equal(sessionFor({ ...record, current: { ...record.current!, todoId: "t2" } }, "worker", agent), undefined);
  assert.equal(sessionFor({ ...record, current: { ...record.current!, tree: "x" } }, "reviewer", agent), undefined);
  assert.equal(sessionFor(record, "worker", { ...agent, name: "b" }), undefined);
  assert.equal(conversationOf(recordWith(side("triage")), "triage"), "e1");
});
