import assert from "node:assert/strict";
import { test } from "node:test";
import { decide } from "../../../src/dispatcher/steps/decide.ts";
import type { Step } from "../../../src/dispatcher/steps/step.ts";
import { NOW, planView, type ViewChange } from "./plan-view.ts";

const DONE = "## TODO\n\n- [x] one\n";
const REBASE = { from: "f", upstream: "a", onto: "b", tip: "b", done: 0, stands: "f" } as const;
const CONFLICT = { commit: "c", tree: "t", files: ["a.txt"] };
const resolving = { ...REBASE, conflict: CONFLICT, stands: "b" };
const current = { todoId: "gone", attempt: 1, baseSha: "b", run: 1 } as const;
const ended = { ...REBASE, ended: {} };

const TABLE: [name: string, change: Omit<ViewChange, "text"> & { text?: string }, expected: Step["kind"]][] = [
  ["a rebase goes on before the next TODO", { text: "## TODO\n\n- [ ] two\n", record: { rebase: REBASE } }, "rebase"],
  ["also in review", { record: { rebase: REBASE, status: "review" } }, "rebase"],
  ["before what was said since", { record: { rebase: REBASE }, bus: { pending: ["e"] } }, "rebase"],
  ["not while the plan is paused", { record: { rebase: REBASE, paused: true } }, "wait"],
  ["not while it is blocked", { record: { rebase: REBASE, blocked: { reason: "x", at: "" } } }, "wait"],
  ["one that is called off is put back all the same", { record: { rebase: ended, paused: true } }, "rebase"],
  ["a branch that is behind catches up between two runs", { behind: true, record: { status: "review" } }, "catch-up"],
  ["before the next TODO", { text: "## TODO\n\n- [ ] two\n", behind: true }, "catch-up"],
  ["after a rebase that is under way", { behind: true, record: { rebase: REBASE } }, "rebase"],
  ["not under an agent", { behind: true, run: "live" }, "wait"],
  ["not while a TODO is under way", { ...running("verified"), behind: true }, "commit"],
  ["not behind while it is paused", { behind: true, record: { paused: true } }, "wait"],
  ["a closed plan waits for its end", { record: { rebase: REBASE }, change: "closed" }, "rebase"],
  ["an agent resolves a conflict, its TODO is done or gone", running("running"), "start-run"],
  ["what it left is judged", { ...running("running"), run: "ended" }, "verify"],
  ["one that was interrupted is recovered", { ...running("running"), run: "interrupted" }, "recover-run"],
  ["what was accepted is committed", running("verified"), "commit"],
];

function running(stage: "running" | "verified") {
  return { record: { rebase: resolving, current: { ...current, stage } } };
}

for (const [name, { text = DONE, ...change }, expected] of TABLE)
  test(name, () => assert.equal(decide(planView({ text, ...change }), NOW).kind, expected));
