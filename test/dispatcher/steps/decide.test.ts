import assert from "node:assert/strict";
import { test } from "node:test";
import { decide } from "../../../src/dispatcher/steps/decide.ts";
import type { PlanView, Step } from "../../../src/dispatcher/steps/step.ts";
import { parsePlan } from "../../../src/plan/markdown/markdown.ts";
import { NOW, planView, type ViewChange } from "./plan-view.ts";

const OPEN = "## TODO\n\n- [x] one\n- [ ] two\n";
const DONE = "## TODO\n\n- [x] one\n";
const STUCK = "## TODO\n\n- [b] one\n  no idea\n";
const BARE = "# Only words\n";
const ASKED = "## TODO\n\n- [ ] one\n  <!-- from e-1 by ann -->\n";

type Change = Omit<ViewChange, "text"> & { readonly text?: string | null };

function view({ text = OPEN, ...rest }: Change): PlanView {
  return planView({ text, ...rest });
}

const current = { todoId: parsePlan(OPEN).todos[1]?.id ?? "", attempt: 1, baseSha: "a", run: 1 } as const;
const queued = { status: "queued", worktreeReady: false, inInbox: true } as const;
const side = { stage: "triage", run: 1, attempt: 1, baseSha: "a" } as const;

const TABLE: [name: string, change: Change, expected: Step["kind"], detail?: RegExp][] = [
  ["a deleted plan rests", { record: { deleted: { at: "", reason: "deleted" } } }, "wait", /deleted/],
  ["after a failure it waits its time", { retryAt: NOW + 5 }, "wait", /trying again/],
  ["the time over, it goes on", { retryAt: NOW - 5 }, "begin-todo"],
  ["plugins see what was said before a TODO begins", { bus: { fresh: 1 } }, "wait"],
  ["plugins are called before anything else", { record: { hook: { point: "afterTodo", id: "x" } } }, "call-plugins"],
  [
    "a plan that is paused begins no TODO, so its plugins wait too",
    { record: { paused: true, hook: { point: "beforeTodo", id: "x" } } },
    "wait",
  ],
  [
    "a plan that is paused ends what it began",
    { record: { paused: true, hook: { point: "afterTodo", id: "x" } } },
    "call-plugins",
  ],
  [
    "as many of its agent run as may",
    { record: { current: { ...current, stage: "running" } }, agent: { kind: "busy", why: "waits for claude" } },
    "wait",
    /waits for claude/,
  ],
  [
    "its provider said no",
    { record: { current: { ...current, stage: "running" } }, agent: { kind: "away", why: "claude: 429", until: 99 } },
    "wait",
    /429/,
  ],
  [
    "its budget is spent",
    { record: { current: { ...current, stage: "running" } }, agent: { kind: "budget-spent", reason: "9 of 5 tokens" } },
    "block",
    /9 of 5 tokens/,
  ],
  [
    "what has ended is judged, whatever is left to spend",
    { record: { current: { ...current, stage: "ended" } }, agent: { kind: "budget-spent", reason: "x" } },
    "verify",
  ],
  ["nothing begins on a branch that is being merged", { merging: true }, "wait", /merged/],
  ["a plugin's agent has the worktree for itself", { hookAgent: true }, "wait", /plugin/],
  [
    "also before other plugins look at the work",
    { hookAgent: true, record: { hook: { point: "afterTodo", id: "x" } } },
    "wait",
    /plugin/,
  ],
  [
    "a blocked plan calls no plugin",
    { record: { hook: { point: "afterTodo", id: "x" }, blocked: { reason: "x", at: "" } } },
    "wait",
  ],
  ["a draft rests", { record: { ...queued, status: "draft" } }, "wait", /draft/],
  ["queued is activated", { record: queued }, "activate"],
  ["queued and hidden is not", { record: { ...queued, hidden: true } }, "wait", /hidden/],
  ["queued and paused is not", { record: { ...queued, paused: true } }, "wait", /paused/],
  ["queued without text is unfinished", { record: queued, text: null }, "wait", /no plan text/],
  [
    "queued waits for what it depends on",
    { record: queued, dependencies: { kind: "waiting", for: ["a"] } },
    "wait",
    /a must be merged first/,
  ],
  [
    "a dependency that cannot be met blocks",
    { record: queued, dependencies: { kind: "failed", reason: "closed" } },
    "block",
  ],
  ["queued waits for a place", { record: queued, slots: { agent: true, open: false } }, "wait", /maxOpenPlans/],
  ["queued does not need an agent yet", { record: queued, slots: { agent: false, open: true } }, "activate"],
  ["a wrong config blocks", { config: { ok: false, reason: "no such agent" } }, "block", /no such agent/],
  [
    "a wrong config of a blocked plan says nothing more",
    { record: { blocked: { reason: "x", at: "" } }, config: { ok: false, reason: "y" } },
    "wait",
    /blocked/,
  ],
  ["the inbox is cleared last", { record: { inInbox: true } }, "clear-inbox"],
  ["a half made worktree is made again", { record: { worktreeReady: false } }, "restore-worktree"],
  ["a vanished worktree blocks", { worktree: "missing" }, "block", /missing/],
  ["a broken worktree blocks", { worktree: "broken" }, "block", /broken/],
  [
    "text with too many TODOs blocks",
    { text: `## TODO\n${"- [ ] a\n".repeat(1001)}` },
    "block",
    /1001 TODOs; a plan may have 1000/,
  ],
  ["text with too many lines blocks", { text: "a\n".repeat(30_001) }, "block", /30001 lines/],
  [
    "a queued one is not activated",
    { record: { status: "queued", worktreeReady: false }, text: "a\n".repeat(30_001) },
    "block",
    /30001 lines/,
  ],
  ["a vanished text blocks", { text: null }, "block", /plan\.md/],
  ["no TODOs: the designer", { text: BARE }, "begin-side", /designer/],
  ["no TODOs and words: the designer hears them", { text: BARE, bus: { pending: ["e"] } }, "begin-side", /designer/],
  ["no TODOs and words that plugins look at", { text: BARE, bus: { fresh: 1 } }, "wait", /plugins/],
  ["no TODOs and paused", { text: BARE, bus: { pending: ["e"] }, record: { paused: true } }, "wait", /paused/],
  [
    "a design under way ends before anything else is said to the plan",
    { text: BARE, bus: { pending: ["e"] }, record: { side: { ...side, stage: "designer" } }, run: "ended" },
    "settle-side",
  ],
  ["TODOs of words alone are not a design", { text: ASKED }, "begin-side", /designer/],
  ["nor are they when all of them are done", { text: ASKED.replace("[ ]", "[x]") }, "begin-side", /designer/],
  [
    "more of a review may come",
    { bus: { pending: ["e"], gatherUntil: Number.MAX_VALUE } },
    "wait",
    /more of the review/,
  ],
  ["all of a review has come", { bus: { pending: ["e"], gatherUntil: 1 } }, "begin-side", /triage/],
  ["TODOs that came before the designer ran need none", { bus: { pending: ["e"] } }, "begin-side", /triage/],
  ["designed: what words ask for is done", { text: ASKED, record: { designed: true } }, "begin-todo"],
  [
    "designed: new words are triaged",
    { text: ASKED, record: { designed: true }, bus: { pending: ["e"] } },
    "begin-side",
    /triage/,
  ],
  [
    "designed, and all TODOs were taken out: designed again, with the words",
    { text: BARE, record: { designed: true }, bus: { pending: ["e"] } },
    "begin-side",
    /designer/,
  ],
  ["in review nothing is designed", { text: BARE, record: { status: "review" } }, "wait", /in review/],
  [
    "in review words are triaged, whatever is known of the design",
    { text: ASKED.replace("[ ]", "[x]"), record: { status: "review" }, bus: { pending: ["e"] } },
    "begin-side",
    /triage/,
  ],
  ["a TODO is begun", {}, "begin-todo"],
  ["comments before the next TODO", { bus: { pending: ["e"] } }, "begin-side"],
  ["hidden starts nothing new", { record: { hidden: true } }, "wait", /hidden/],
  ["paused starts nothing new", { record: { paused: true } }, "wait", /paused/],
  ["[b] blocks", { text: STUCK }, "block", /no idea|one/],
  ["all ticked finishes", { text: DONE }, "finish"],
  ["a run that is not started is started", { record: { current: { ...current, stage: "running" } } }, "start-run"],
  [
    "a TODO that was reworded is dropped",
    { record: { current: { ...current, todoId: "other", stage: "running" } } },
    "drop-todo",
  ],
  [
    "a TODO that was ticked is dropped",
    { text: OPEN.replace("[ ]", "[x]"), record: { current: { ...current, stage: "running" } } },
    "drop-todo",
  ],
  [
    "an agent needs a place",
    { record: { current: { ...current, stage: "running" } }, slots: { agent: false, open: true } },
    "wait",
    /maxRunningAgents/,
  ],
  [
    "paused does not start the run",
    { record: { paused: true, current: { ...current, stage: "running" } } },
    "wait",
    /paused/,
  ],
  [
    "a live run is left alone",
    { run: "live", record: { current: { ...current, stage: "running" } } },
    "wait",
    /working/,
  ],
  [
    "an interrupted run is recovered",
    { run: "interrupted", record: { current: { ...current, stage: "running" } } },
    "recover-run",
  ],
  [
    "an interrupted run is recovered though paused",
    { run: "interrupted", record: { paused: true, current: { ...current, stage: "running" } } },
    "recover-run",
  ],
  ["an ended run is verified", { run: "ended", record: { current: { ...current, stage: "running" } } }, "verify"],
  [
    "an ended run is verified though hidden",
    { run: "ended", record: { hidden: true, current: { ...current, stage: "running" } } },
    "verify",
  ],
  [
    "blocked stops even that",
    { run: "ended", record: { blocked: { reason: "x", at: "" }, current: { ...current, stage: "running" } } },
    "wait",
    /blocked/,
  ],
  ["verified is committed", { record: { current: { ...current, stage: "verified" } } }, "commit"],
  [
    "verified, and ticked by a person meanwhile, is committed",
    { text: OPEN.replace("[ ]", "[x]"), record: { current: { ...current, stage: "verified" } } },
    "commit",
  ],
  [
    "verified, and reworded or removed meanwhile, is not",
    { record: { current: { ...current, todoId: "other", stage: "verified" } } },
    "drop-todo",
  ],
  ["committed is ticked", { record: { current: { ...current, stage: "committed" } } }, "tick"],
  ["ticked is published", { record: { current: { ...current, stage: "ticked" } } }, "publish"],
  ["paused lets a TODO end", { record: { paused: true, current: { ...current, stage: "committed" } } }, "tick"],
  ["a triage that ended is settled", { run: "ended", record: { side } }, "settle-side"],
  ["a triage that was interrupted is recovered", { run: "interrupted", record: { side } }, "recover-run"],
  ["in review it rests", { text: DONE, record: { status: "review" } }, "wait", /in review/],
  [
    "in review, comments are triaged",
    { text: DONE, record: { status: "review" }, bus: { pending: ["e"] } },
    "begin-side",
  ],
  ["new TODOs reopen it", { record: { status: "review" } }, "reopen"],
  ["merged ends it", { text: DONE, record: { status: "review" }, change: "merged" }, "end-plan"],
  ["closed ends it", { text: DONE, record: { status: "review" }, change: "closed" }, "end-plan"],
  [
    "merged waits for the TODO under way",
    { change: "merged", record: { current: { ...current, stage: "committed" } } },
    "tick",
  ],
  [
    "done keeps its worktree for a while",
    { record: { status: "done", finishedAt: "2026-01-01T00:00:00Z" } },
    "wait",
    /done/,
  ],
  ["then it is cleaned", { record: { status: "done", finishedAt: "2025-12-31T00:00:00Z" } }, "clean-worktree"],
  ["and rests", { record: { status: "done", worktreeReady: false } }, "wait", /done/],
];

for (const [name, change, expected, detail] of TABLE) {
  test(name, () => {
    const step = decide(view(change), NOW);
    assert.equal(step.kind, expected);
    if (detail) assert.match(JSON.stringify(step), detail);
  });
}

test("what waits for a time says until when", () => {
  const step = decide(view({ retryAt: NOW + 7 }), NOW);
  assert.deepEqual(step, { kind: "wait", why: "the last step failed, trying again", until: NOW + 7 });
});

test("every block tells the command that ends it", () => {
  for (const [name, change, expected] of TABLE) {
    if (expected !== "block") continue;
    const step = decide(view(change), NOW);
    assert.ok(step.kind === "block" && /`prloom /.test(step.hint), name);
  }
});
