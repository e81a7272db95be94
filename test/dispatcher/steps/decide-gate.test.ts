import assert from "node:assert/strict";
import { test } from "node:test";
import { decide } from "../../../src/dispatcher/steps/decide.ts";
import type { Step } from "../../../src/dispatcher/steps/step.ts";
import type { GateRecord } from "../../../src/gate/gate-record.ts";
import { parsePlan } from "../../../src/plan/markdown/markdown.ts";
import { NOW, planView, type ViewChange } from "./plan-view.ts";

const OPEN = "## TODO\n\n- [x] one\n- [ ] two\n";
const DONE = "## TODO\n\n- [x] one\n";
const BARE = "# Only words\n";

type Change = Omit<ViewChange, "text"> & { readonly text?: string };

const current = { todoId: parsePlan(OPEN).todos[1]?.id ?? "", attempt: 1, baseSha: "a", run: 1 } as const;
const side = { stage: "triage", run: 1, attempt: 1, baseSha: "a" } as const;
const gate = {
  ...{
    schemaVersion: 1,
    gateId: "g",
    planUid: "01",
    planId: "p",
    kind: "plan",
    digest: "d",
    scope: "s",
    text: "",
    shown: "",
  },
  ...{ openedAt: new Date(NOW).toISOString(), reminders: 0, state: "open", amendments: [] },
} as const satisfies GateRecord;
const closed = { kind: "closed", gate } as const;
const due = { kind: "due" } as const;
const long = new Date(NOW - 5000).toISOString();

const TABLE: readonly [name: string, change: Change, expected: Step["kind"], detail?: RegExp][] = [
  ["a plan that is to be approved is shown first", { door: due }, "open-gate"],
  ["at its gate it waits for an answer", { door: closed }, "wait", /prloom approve p/],
  ["after a while people are reminded", { door: { ...closed, gate: { ...gate, openedAt: long } } }, "remind-of-gate"],
  [
    "reminded a moment ago, it waits on",
    { door: { ...closed, gate: { ...gate, openedAt: long, remindedAt: gate.openedAt } } },
    "wait",
  ],
  ["without an answer it expires", { door: { ...closed, gate: { ...gate, expiresAt: long } } }, "expire-gate"],
  [
    "as long as its posts are under way nothing expires",
    { door: { ...closed, gate: { ...gate, expiresAt: long } }, posting: { kind: "under-way", target: "issues" } },
    "wait",
    /being posted \(issues\)/,
  ],
  [
    "as long as the change request at which it is to be shown is not open nothing expires either",
    { door: { ...closed, gate: { ...gate, expiresAt: long } }, posting: { kind: "awaits-change" } },
    "wait",
    /its change request is to be opened first/,
  ],
  [
    "once they are all there, that is noted, also of a plan that is blocked",
    { door: closed, posting: { kind: "posted" }, record: { blocked: { reason: "", at: "" } } },
    "gate-posted",
  ],
  [
    "one that cannot be posted ends the gate",
    { door: closed, posting: { kind: "dead", reason: "410" } },
    "give-up-gate",
  ],
  [
    "posts of a plan that changed meanwhile do not matter",
    { door: due, posting: { kind: "dead", reason: "410" } },
    "open-gate",
  ],
  ["a plan that is paused is not shown", { door: due, record: { paused: true } }, "wait", /paused/],
  [
    "what became of a gate is told, also of a plan that it blocked",
    { untold: true, record: { blocked: { reason: "", at: "" } } },
    "tell-gate",
  ],
  ["at its gate no comment is triaged", { door: closed, bus: { pending: ["e"] } }, "wait", /answer/],
  ["at its gate nothing is designed anew", { door: closed, text: OPEN, record: { designed: true } }, "wait"],
  ["before it is designed there is nothing to show", { door: due, text: BARE }, "begin-side"],
  ["a person asked for another design", { door: due, record: { revising: true, designed: true } }, "begin-side"],
  [
    "with nothing left to do there is nothing to approve",
    { door: due, text: DONE, record: { status: "review" } },
    "wait",
    /review/,
  ],
  [
    "a plan in review whose approval was taken back is active again, to be shown",
    { door: due, withdrawn: true, text: DONE, record: { status: "review" } },
    "reopen",
  ],
  [
    "a plan that is done and whose approval was taken back is shown",
    { door: due, withdrawn: true, text: DONE },
    "open-gate",
  ],
  ["shown again, it is not finished before the answer", { door: closed, text: DONE }, "wait", /prloom approve p/],
  [
    "work that was approved is not gone on with",
    { door: due, record: { current: { ...current, stage: "ended" } } },
    "open-gate",
  ],
  [
    "what an interrupted run left is cleared up all the same",
    { door: closed, run: "interrupted", record: { current: { ...current, stage: "running" } } },
    "recover-run",
  ],
  [
    "an approval that was taken back ends the run",
    { door: due, withdrawn: true, run: "live", record: { current: { ...current, stage: "running" } } },
    "stop-run",
  ],
  [
    "a plan that is not what was approved any more ends the run",
    { door: due, implementing: true, run: "live", record: { current: { ...current, stage: "running" } } },
    "stop-run",
  ],
  ["a plugin's worker ends as well", { door: closed, implementing: true, hookAgent: true }, "stop-run"],
  ["one of another stage goes on", { door: closed, hookAgent: true }, "wait", /plugin/],
  ...(["running", "ended", "verified"] as const).map((stage): (typeof TABLE)[number] => [
    `a person sends the plan back while a TODO is ${stage}: no worker goes on with it, and nothing of it is committed`,
    { door: due, record: { revising: true, designed: true, current: { ...current, stage } } },
    "drop-todo",
  ]),
  [
    "what was committed before a person sent the plan back is ticked",
    { door: due, record: { revising: true, designed: true, current: { ...current, stage: "committed" } } },
    "tick",
  ],
  [
    "a plan in review that got another TODO is active again before it is shown: only then can it be sent back",
    { door: due, record: { status: "review" } },
    "reopen",
  ],
  ["what triage left before is settled", { door: closed, run: "ended", record: { side } }, "settle-side"],
  [
    "no plugin prepares a TODO that is held",
    { door: closed, record: { hook: { point: "beforeTodo", id: "x" } } },
    "wait",
  ],
  ["what is done is shown after plugins have looked", { prDoor: due, text: DONE }, "finish"],
  ["at the gate of its change it waits", { prDoor: closed, text: DONE }, "wait", /prloom approve p/],
  [
    "at the gate of its change comments are triaged",
    { prDoor: closed, text: DONE, bus: { pending: ["e"] } },
    "begin-side",
  ],
  ["at the gate of its change a new TODO is done first", { prDoor: closed }, "begin-todo"],
  [
    "at the gate of its change people are reminded",
    { prDoor: { ...closed, gate: { ...gate, openedAt: long } }, text: DONE },
    "remind-of-gate",
  ],
  [
    "at the gate of its change it expires",
    { prDoor: { ...closed, gate: { ...gate, expiresAt: long } }, text: DONE },
    "expire-gate",
  ],
  [
    "an approved change is ready without another look of plugins",
    { text: DONE, config: { ok: true, config: { prGated: true } as never } },
    "mark-ready",
  ],
  ["without gates it is finished", { text: DONE }, "finish"],
  [
    "a change in review that is not the approved one",
    { prDoor: due, text: DONE, record: { status: "review" } },
    "reopen",
  ],
  ["a gate that was switched off is dropped", { unasked: true, door: { kind: "open" } }, "drop-gate"],
  [
    "it is dropped also of a plan that is blocked, and before its agent goes on",
    { unasked: true, record: { blocked: { reason: "", at: "" } } },
    "drop-gate",
  ],
  ["what became of it is told first", { unasked: true, untold: true }, "tell-gate"],
  [
    "a plan in review that waits for an answer is active again: so it is listed where plans wait",
    { door: closed, text: DONE, record: { status: "review" } },
    "reopen",
  ],
  ["the same for its change", { prDoor: closed, text: DONE, record: { status: "review" } }, "reopen"],
  ["a change is not shown before its plan is approved", { prDoor: due, door: due }, "open-gate"],
  [
    "while the plan is paused nothing is shown",
    { prDoor: due, text: DONE, record: { paused: true } },
    "wait",
    /paused/,
  ],
];

for (const [name, change, expected, detail] of TABLE) {
  test(`at the gate: ${name}`, () => {
    const step = decide(planView({ text: OPEN, ...change }), NOW);
    assert.equal(step.kind, expected, JSON.stringify(step));
    if (detail) assert.match(JSON.stringify(step), detail);
  });
}

test("ten hours at the gate: reminders, and nothing else", () => {
  const HOUR = 3_600_000;
  let remindedAt: string | undefined;
  let reminders = 0;
  for (let now = NOW; now <= NOW + 10 * HOUR; now += HOUR / 60) {
    const asked = { ...gate, openedAt: new Date(NOW).toISOString(), ...(remindedAt ? { remindedAt } : {}) };
    const step = decide(planView({ text: OPEN, door: { kind: "closed", gate: asked }, remindAfterMs: HOUR }), now);
    if (step.kind === "remind-of-gate") {
      reminders += 1;
      remindedAt = new Date(now).toISOString();
    } else assert.equal(step.kind, "wait");
  }
  assert.equal(reminders, 10);
});

test("a clock that went back lets a gate neither expire nor open", () => {
  const later = { openedAt: new Date(NOW).toISOString(), expiresAt: new Date(NOW + 1000).toISOString() };
  const view = planView({ text: OPEN, door: { kind: "closed", gate: { ...gate, ...later } }, remindAfterMs: 1000 });
  assert.equal(decide(view, NOW - 3_600_000).kind, "wait");
});

test("a plan whose text is gone is blocked, at its gate as well", () => {
  assert.equal(decide(planView({ text: null, door: due }), NOW).kind, "block");
});
