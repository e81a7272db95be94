import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { afterPerson } from "../../../src/dispatcher/perform/close-opened.ts";
import { decide } from "../../../src/dispatcher/steps/decide.ts";
import type { Step } from "../../../src/dispatcher/steps/step.ts";
import { parsePlan } from "../../../src/plan/markdown/markdown.ts";
import type { PlanRecord } from "../../../src/plan/record.ts";
import { activeRecord, NOW, planView, type ViewChange } from "./plan-view.ts";

const at = "2026-01-01T00:00:00Z";
const text = "## TODO\n\n- [ ] one\n";
const doc = parsePlan(text);

const record: PlanRecord = {
  ...activeRecord,
  opened: { pid: 4711, startTicks: 1, bootId: "b", at },
  finishedAt: at,
};

function step(opened: "held" | "left", change: Partial<PlanRecord>, more: Omit<ViewChange, "text"> = {}): Step {
  return decide(planView({ text, opened, cleanAfterMs: 0, ...more, record: { ...record, ...change } }), NOW);
}

const current = { todoId: doc.todos[0]?.id ?? "", attempt: 1, baseSha: "a", stage: "running", run: 1 } as const;

/** What would be done if no person had the plan open. */
const DUE: [name: string, change: Partial<PlanRecord>, more?: Omit<ViewChange, "text">][] = [
  ["a TODO would begin", {}],
  ["a run would start", { current }],
  ["a run would be recovered, and the tree taken back", { current }, { run: "interrupted" }],
  ["it would be judged", { current: { ...current, stage: "ended" } }],
  ["it would be committed", { current: { ...current, stage: "verified" } }],
  ["comments would be triaged", {}, { bus: { fresh: 0, pending: ["e"] } }],
  ["plugins would be called", { hook: { point: "afterTodo", id: "x" } }],
  ["its worktree would be cleaned", { status: "done", outcome: "merged" }],
  ["it was merged meanwhile", { status: "review" }, { change: "merged" }],
  ["it is blocked", { blocked: { reason: "x", at } }],
];

describe("while a person has a plan open", () => {
  for (const [name, change, more] of DUE) {
    test(name, () => {
      const held = step("held", change, more);
      assert.equal(held.kind, "wait");
      assert.equal(held.kind === "wait" && held.why, "a person has it open (prloom open, pid 4711)");
      // A process that was killed says nothing: it is looked at again by itself, but `--until-idle` does not wait for it.
      assert.ok(held.kind === "wait" && (held.until ?? 0) > NOW + 10_000);
      assert.equal(step("left", change, more).kind, "close-opened");
    });
  }

  test("an agent that may change files is ended when the plan is not approved any more; a shell stays", () => {
    const due = { door: { kind: "due" } } as const;
    const opened = { pid: 4711, startTicks: 1, bootId: "b", at } as const;
    assert.equal(step("held", { opened: { ...opened, implements: true } }, due).kind, "stop-opened");
    assert.equal(step("held", { opened: { ...opened, implements: true } }).kind, "wait");
    assert.equal(step("held", { opened: { ...opened, ended: true } }, due).kind, "wait");
    assert.equal(step("held", { opened }, due).kind, "wait");
  });

  test("a plan that was deleted rests", () => {
    assert.equal(step("left", { deleted: { at, reason: "deleted" } }).kind, "wait");
  });
});

describe("when a person has left", () => {
  const verified = { ...current, stage: "verified", tree: "t1", reviewed: true, seen: true, reviews: 1 } as const;
  const reviewer = { stage: "reviewer", run: 2, attempt: 1, baseSha: "a" } as const;
  const left = { tree: "t2", baseSha: "a" };

  test("what was verified before is judged again, and no reviewer looks at what it was", () => {
    const { side, ...rest } = afterPerson({ ...record, current: verified, side: reviewer }, left);
    const again = { ...current, stage: "ended", reviews: 1, tree: undefined, reviewed: undefined, seen: undefined };
    assert.deepEqual(rest, { kept: left, current: again });
    assert.equal(side, undefined);
  });

  const SAME: [name: string, change: Partial<PlanRecord>, kept?: typeof left][] = [
    ["nothing was changed", { current: verified, side: reviewer }, { tree: "t1", baseSha: "a" }],
    ["an agent is to work on it", { current }],
    ["it is to be judged anyway", { current: { ...current, stage: "ended" } }],
    ["it is committed", { current: { ...verified, stage: "committed" } }],
    ["nothing is under way", {}],
    ["triage is due", { side: { ...reviewer, stage: "triage" } }],
  ];
  for (const [name, change, kept = left] of SAME) {
    test(`${name}: it goes on as it was`, () => {
      assert.deepEqual(afterPerson({ ...record, ...change }, kept), { kept });
    });
  }
});
