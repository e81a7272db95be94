import assert from "node:assert/strict";
import { test } from "node:test";
import { decide } from "../../../src/dispatcher/steps/decide.ts";
import type { PlanView, Step } from "../../../src/dispatcher/steps/step.ts";
import { parsePlan } from "../../../src/plan/markdown/markdown.ts";
import { NOW, planView, type ViewChange } from "./plan-view.ts";

const OPEN = "## TODO\n\n- [ ] one\n";
const DONE = "## TODO\n\n- [x] one\n";

interface Change extends Omit<ViewChange, "config"> {
  readonly review: "off" | "todo" | "end";
}

function view({ review, ...rest }: Change): PlanView {
  return planView({ config: { ok: true, config: { review } as never }, ...rest });
}

const todoId = parsePlan(OPEN).todos[0]?.id ?? "";
const current = { todoId, attempt: 1, baseSha: "a", run: 1, stage: "verified", tree: "t" } as const;
const side = { stage: "reviewer", run: 2, attempt: 1, baseSha: "a" } as const;
const todo = { review: "todo", text: OPEN } as const;
const end = { review: "end", text: DONE } as const;

const TABLE: [name: string, change: Change, expected: Step["kind"], detail?: RegExp][] = [
  ["verified work is reviewed", { ...todo, record: { current } }, "begin-side", /reviewer/],
  ["reviewed work is committed", { ...todo, record: { current: { ...current, reviewed: true } } }, "commit"],
  ["without a review it is committed at once", { ...todo, review: "off", record: { current } }, "commit"],
  ["a review at the end leaves TODOs alone", { ...todo, review: "end", record: { current } }, "commit"],
  [
    "plugins see the work before the reviewer does",
    { ...todo, record: { current, hook: { point: "afterTodo", id: "x" } } },
    "call-plugins",
  ],
  [
    "work that is not verified is not reviewed",
    { ...todo, record: { current: { ...current, stage: "ended" } } },
    "verify",
  ],
  ["a reviewer is started", { ...todo, record: { current, side } }, "start-run"],
  [
    "a reviewer needs a place",
    { ...todo, record: { current, side }, slots: { agent: false, open: true } },
    "wait",
    /maxRunning/,
  ],
  ["a reviewer that is at work is left alone", { ...todo, record: { current, side }, run: "live" }, "wait", /working/],
  ["paused starts no reviewer", { ...todo, record: { current, side, paused: true } }, "wait", /paused/],
  [
    "paused, a review that ended is settled",
    { ...todo, record: { current, side, paused: true }, run: "ended" },
    "settle-side",
  ],
  ["a review that ended is settled", { ...todo, record: { current, side }, run: "ended" }, "settle-side"],
  [
    "a review that was interrupted is recovered",
    { ...todo, record: { current, side }, run: "interrupted" },
    "recover-run",
  ],
  [
    "a blocked plan reviews nothing",
    { ...todo, record: { current, side, blocked: { reason: "x", at: "" } } },
    "wait",
    /blocked/,
  ],
  [
    "a TODO that is gone is not reviewed",
    { ...todo, text: "## TODO\n\n- [ ] two\n", record: { current } },
    "drop-todo",
  ],
  ["nor is its review settled", { ...todo, text: DONE, record: { current, side }, run: "ended" }, "drop-todo"],
  [
    "what runs for it is ended first",
    { ...todo, text: DONE, record: { current, side }, run: "interrupted" },
    "recover-run",
  ],
  [
    "a review that the config does not ask for any more is called off",
    { ...todo, review: "off", record: { current, side } },
    "settle-side",
  ],
  ["also when the plan is paused", { ...todo, review: "off", record: { current, side, paused: true } }, "settle-side"],
  [
    "called off while it works, it ends first",
    { ...todo, review: "off", record: { current, side }, run: "live" },
    "wait",
  ],
  [
    "and after an interruption",
    { ...todo, review: "off", record: { current, side }, run: "interrupted" },
    "recover-run",
  ],
  ["all done, the branch is reviewed", end, "begin-side", /reviewer/],
  ["comments come first", { ...end, bus: { fresh: 0, pending: ["e"] } }, "begin-side", /triage/],
  [
    "reviewed, the plan is finished",
    { ...end, head: "h", record: { reviewedEnd: { head: "h", rounds: 0 } } },
    "finish",
  ],
  [
    "where only git knows the branch, the record is believed",
    { ...end, record: { reviewedEnd: { head: "h", rounds: 1 } } },
    "finish",
  ],
  [
    "a branch that moved is reviewed again",
    { ...end, head: "i", record: { reviewedEnd: { head: "h", rounds: 0 } } },
    "begin-side",
  ],
  ["a TODO begun since counts as moved", { ...end, record: { reviewedEnd: { head: "", rounds: 1 } } }, "begin-side"],
  [
    "what the review asked for is done first",
    { ...end, text: OPEN, head: "h", record: { reviewedEnd: { head: "h", rounds: 1 } } },
    "begin-todo",
  ],
  ["a review of TODOs leaves the end alone", { ...end, review: "todo" }, "finish"],
  ["in review it rests", { ...end, record: { status: "review" } }, "wait", /in review/],
  ["the branch's reviewer is started", { ...end, record: { side } }, "start-run"],
  ["and settled", { ...end, record: { side }, run: "ended" }, "settle-side"],
  ["or called off", { ...end, review: "todo", record: { side } }, "settle-side"],
];

for (const [name, change, expected, detail] of TABLE) {
  test(name, () => {
    const step = decide(view(change), NOW);
    assert.equal(step.kind, expected);
    if (detail) assert.match(JSON.stringify(step), detail);
  });
}
