import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ACTIVITY_STATES,
  type ActivityEvidence,
  type ActivityState,
  eventEvidence,
  judgeActivity,
  type ObservedRun,
  type Rest,
  toolInWords,
} from "../../src/agents/activity.ts";
import type { AgentEvent, RunExit } from "../../src/agents/port.ts";

const NOW = Date.parse("2026-11-15T12:00:00.000Z");
const minutesAgo = (minutes: number) => new Date(NOW - minutes * 60_000).toISOString();
const SILENCE_MS = 30 * 60_000;

const exit = (over: Partial<RunExit> = {}): RunExit => ({
  reason: "exited",
  code: 0,
  signal: null,
  startedAt: minutesAgo(30),
  endedAt: minutesAgo(1),
  outputBytes: 1,
  truncated: false,
  leftBehind: 0,
  ...over,
});

const alive: ObservedRun = {
  stage: "worker",
  agent: "claude",
  startedAt: minutesAgo(40),
  process: "alive",
  lastOutputAt: minutesAgo(0.5),
  events: {},
};
const silentFor = (minutes: number) => ({ lastOutputAt: minutesAgo(minutes) });
const looping = { events: { repeated: { tool: "Bash npm test", times: 5 } } };

type Row = [what: string, run: Partial<ObservedRun> | undefined, expected: ActivityState, evidence: RegExp];

const rows: Row[] = [
  ["no run", undefined, "none", /^nothing runs$/],
  ["output a moment ago", {}, "working", /^last output 30 s ago$/],
  ["just started, no output", { startedAt: minutesAgo(1), lastOutputAt: minutesAgo(1) }, "working", /60 s ago/],
  ["not yet known who it is", { process: "unknown" }, "working", /^claude is being started$/],
  ["a tool runs", { events: { openTool: "Bash npm test" } }, "working", /^running: Bash npm test$/],
  [
    "the provider is asked again",
    { events: { retrying: "429 too many requests", last: "429 too many requests" } },
    "working",
    /^tries again: 429/,
  ],
  ["a question", { events: { question: "May I run rm?" } }, "waiting-for-input", /^asks: May I run rm\?$/],
  [
    "a question that is old",
    { ...silentFor(25), events: { question: "May I?" } },
    "waiting-for-input",
    /^asks: May I\?$/,
  ],
  [
    "quiet for long",
    { ...silentFor(12), events: { last: "Bash npm test" } },
    "silent",
    /^no output for 12 min; last: Bash npm test$/,
  ],
  ["quiet a little", silentFor(4), "working", /^last output 4 min ago$/],
  ["quiet since its start", { lastOutputAt: undefined as never }, "stuck", /^no output for 40 min/],
  [
    "a test run of 20 minutes is not stuck",
    { ...silentFor(20), events: { openTool: "Bash npm test", last: "Bash npm test" } },
    "silent",
    /^no output for 20 min; still running: Bash npm test$/,
  ],
  ["the same call failed 5 times", looping, "stuck", /^the same call failed 5 times in a row: Bash npm test$/],
  ["the same call failed twice", { events: { repeated: { tool: "Bash x", times: 2 } } }, "working", /^last output/],
  ["at the limit of silence: the runner ends it", silentFor(30), "silent", /^no output for 30 min/],
  ["beyond the limit, and still there", silentFor(32), "stuck", /longer than limits\.silenceTimeout allows/],
  ["more printed than is kept", { ...silentFor(35), isCut: true }, "working", /limits\.maxOutput/],
  [
    "gone without an exit",
    { process: "gone", events: { last: "Edit a.ts" } },
    "crashed",
    /^its process is gone and left no exit; last: Edit a\.ts$/,
  ],
  ["exit 0, being checked", { exit: exit() }, "working", /^ended with exit code 0; what it left is being checked$/],
  ["exit 0, accepted", { exit: exit(), accepted: true }, "none", /what it left was accepted$/],
  ["exit 1, accepted all the same", { exit: exit({ code: 1 }), accepted: true }, "none", /accepted$/],
  [
    "exit 0, nothing done",
    { exit: exit(), accepted: false },
    "finished-without-result",
    /^ended with exit code 0, and nothing that could be accepted$/,
  ],
  [
    "exit 1, nothing done",
    { exit: exit({ code: 1 }), accepted: false, events: { last: "API error" } },
    "crashed",
    /^ended with exit code 1; last: API error$/,
  ],
  ["a signal", { exit: exit({ code: null, signal: "SIGSEGV" }), accepted: false }, "crashed", /^ended by SIGSEGV$/],
  [
    "could not be started",
    { exit: exit({ reason: "spawn-failed", code: null, error: "ENOENT" }), accepted: false },
    "crashed",
    /^could not be started: ENOENT$/,
  ],
  [
    "ended by the policy",
    { exit: exit({ reason: "policy", code: null, error: "Write was refused 3 times" }), accepted: false },
    "finished-without-result",
    /^ended by the policy: Write was refused 3 times, and nothing that could be accepted$/,
  ],
  [
    "ended for its silence",
    { exit: exit({ reason: "silence", code: null }), accepted: false },
    "finished-without-result",
    /limits\.silenceTimeout/,
  ],
  [
    "took too long",
    { exit: exit({ reason: "deadline", code: null }), accepted: false },
    "finished-without-result",
    /limits\.runTimeout/,
  ],
];

const evidenceOf = (run: Partial<ObservedRun> | undefined, over: Partial<ActivityEvidence> = {}): ActivityEvidence => ({
  dispatcher: true,
  silenceMs: SILENCE_MS,
  ...(run ? { run: { ...alive, ...run } } : {}),
  ...over,
});

for (const [what, run, expected, words] of rows) {
  test(`${what}: ${expected}`, () => {
    const { state, evidence } = judgeActivity(evidenceOf(run), NOW);
    assert.equal(state, expected, evidence);
    assert.match(evidence, words);
  });
}

test("every state is in the table", () => {
  assert.deepEqual(new Set(rows.map(([, , state]) => state)), new Set(ACTIVITY_STATES));
});

const RESTS: readonly Rest[] = ["gated", "blocked", "paused", "hidden", "opened"];

for (const rest of RESTS) {
  test(`a plan that is ${rest} is never stuck, whatever its run does`, () => {
    for (const [what, run] of rows) {
      const { state } = judgeActivity(evidenceOf(run, { rest }), NOW);
      assert.notEqual(state, "stuck", what);
    }
    assert.match(judgeActivity(evidenceOf(undefined, { rest }), NOW).evidence, /^nothing runs; the plan is /);
    assert.equal(judgeActivity(evidenceOf({ exit: exit() }, { rest }), NOW).state, "none");
    assert.equal(judgeActivity(evidenceOf(looping, { rest }), NOW).state, "working");
    assert.equal(judgeActivity(evidenceOf(silentFor(32), { rest }), NOW).state, "silent");
  });
}

test("without a dispatcher a run that has no exit was interrupted, and is neither at work nor crashed", () => {
  for (const process of ["gone", "unknown"] as const) {
    const { state, evidence } = judgeActivity(evidenceOf({ process }, { dispatcher: false }), NOW);
    assert.deepEqual([state, /`prloom start` goes on/.test(evidence)], ["none", true]);
  }
  assert.equal(judgeActivity(evidenceOf({}, { dispatcher: false }), NOW).state, "working", "it lives all the same");
});

test("without a dispatcher a run that has ended and was not judged was interrupted, and is not checked", () => {
  const { state, evidence } = judgeActivity(evidenceOf({ exit: exit() }, { dispatcher: false }), NOW);
  assert.deepEqual([state, /interrupted before .* checked; `prloom start` goes on$/.test(evidence)], ["none", true]);
  const judged = judgeActivity(evidenceOf({ exit: exit({ code: 1 }), accepted: false }, { dispatcher: false }), NOW);
  assert.equal(judged.state, "crashed", "what was judged stays judged");
});

test("a short limit of silence makes runs silent sooner", () => {
  const judged = judgeActivity(evidenceOf(silentFor(1), { silenceMs: 100_000 }), NOW);
  assert.equal(judged.state, "silent");
});

const call = (id: string, command: string): AgentEvent => ({
  type: "tool_call",
  id,
  name: "Bash",
  input: { command, description: "Runs it" },
});
const result = (id: string, failed: boolean): AgentEvent => ({ type: "tool_result", id, output: "x", failed });
const fails = (id: string, command: string) => [call(id, command), result(id, true)];
const text = (words: string): AgentEvent => ({ type: "text", text: words });
const usage: AgentEvent = { type: "usage", model: "m", input: 1, output: 1 };
const asks: AgentEvent = { type: "waiting", question: "May I?" };

const seen: [what: string, events: AgentEvent[], expected: ReturnType<typeof eventEvidence>][] = [
  ["nothing", [], {}],
  ["text", [text("Reading\nthe code"), usage], { last: "Reading the code" }],
  ["a call without a result", [call("1", "npm test")], { last: "Bash npm test", openTool: "Bash npm test" }],
  ["a call with its result", [call("1", "npm test"), result("1", false)], { last: "Bash npm test" }],
  [
    "parallel calls, of which one is left",
    [call("1", "a"), call("2", "b"), result("2", false)],
    { last: "Bash b", openTool: "Bash a" },
  ],
  ["a question", [text("hm"), asks, usage], { last: "hm", question: "May I?" }],
  ["a question that was answered", [asks, text("good")], { last: "good" }],
  [
    "an error that is tried again",
    [{ type: "error", kind: "rate-limit", message: "429", retrying: true }],
    { last: "429", retrying: "429" },
  ],
  [
    "an error that was overcome",
    [{ type: "error", kind: "rate-limit", message: "429", retrying: true }, text("on")],
    { last: "on" },
  ],
  [
    "the same failure three times, with words in between",
    [...fails("1", "npm test"), text("again"), ...fails("2", "npm test"), usage, ...fails("3", "npm test")],
    { last: "Bash npm test", repeated: { tool: "Bash npm test", times: 3 } },
  ],
  ["another call in between", [...fails("1", "a"), ...fails("2", "b"), ...fails("3", "a")], { last: "Bash a" }],
  [
    "a success in between",
    [...fails("1", "a"), call("2", "a"), result("2", false), ...fails("3", "a")],
    { last: "Bash a" },
  ],
  ["a result of a call that is not known any more", [result("9", true), result("8", true)], {}],
];

for (const [what, events, expected] of seen) {
  test(`events: ${what}`, () => assert.deepEqual(eventEvidence(events), expected));
}

test("a call in one line has the argument that says most, and is cut", () => {
  assert.equal(toolInWords("Edit", { old_string: "a", file_path: "/x/a.ts" }), "Edit /x/a.ts");
  assert.equal(toolInWords("shell", { command: ["bash", "-c", "ls"] }), "shell bash -c ls");
  assert.equal(toolInWords("todo", {}), "todo");
  assert.equal(toolInWords("odd", { deep: { a: 1 } }), 'odd {"deep":{"a":1}}');
  assert.equal(toolInWords("odd", null), "odd");
  assert.equal(toolInWords("Bash", { command: "x".repeat(500) }).length, 100);
});
