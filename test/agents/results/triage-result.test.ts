import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseTriageResult } from "../../../src/agents/results/triage-result.ts";

function parse(value: unknown, given = ["e-1"]) {
  return parseTriageResult(JSON.stringify(value), given);
}

test("a whole result, and one with what may be left out", () => {
  const whole = {
    reply_markdown: "Yes.",
    replies: [{ event: "e-2", markdown: "And to you." }],
    todos: [
      { text: "Do it", context: "there", events: ["e-2", "e-1"] },
      { text: "And this", events: ["e-1"] },
    ],
    rebase_requested: true,
  };
  assert.deepEqual(parse(whole, ["e-1", "e-2"]), { ok: true, result: whole });
  const least = { reply_markdown: "", replies: [], todos: [], rebase_requested: false };
  assert.deepEqual(parse({ reply_markdown: "" }), { ok: true, result: least });
  assert.deepEqual(parseTriageResult('\uFEFF{"reply_markdown":"","more":1}', []), { ok: true, result: least });
});

test("what is wrong is named", () => {
  const todo = { text: "x" };
  const cases: [unknown, RegExp][] = [
    [{}, /reply_markdown/],
    [[], /the result/],
    [null, /the result/],
    [{ reply_markdown: 1 }, /reply_markdown/],
    [{ reply_markdown: "ü".repeat(31 * 1024) }, /reply_markdown: is longer than 60 KB/],
    [{ reply_markdown: "", todos: [{ text: " \n" }] }, /todos\.0\.text: is empty/],
    [{ reply_markdown: "", todos: [todo, { text: "x".repeat(4097) }] }, /todos\.1\.text: is longer than 4 KB/],
    [{ reply_markdown: "", todos: [{ ...todo, context: "x".repeat(4097) }] }, /todos\.0\.context/],
    [{ reply_markdown: "", todos: Array(51).fill(todo) }, /todos/],
    [{ reply_markdown: "", rebase_requested: "yes" }, /rebase_requested/],
  ];
  for (const [value, problem] of cases) {
    const parsed = parse(value);
    assert(!parsed.ok, JSON.stringify(value).slice(0, 80));
    assert.match(parsed.problem, problem);
  }
  assert.match((parseTriageResult("I think", []) as { problem: string }).problem, /not JSON/);
});

test("a TODO that is a rebase and nothing else is left out, where a rebase is wanted", () => {
  const dropped = ["rebase", "Rebase.", "please rebase", "Rebase onto `main`", "Rebase the branch on the latest main"];
  const more = ["Rebase this PR onto origin/main and resolve the conflicts", "Rebase its branch against develop"];
  const kept = [
    "Rebase the invoices on the new tax rate",
    "Document how to rebase",
    "Rebase and rename the login page",
  ];
  const asked = (rebase_requested: boolean) => {
    const todos = [...dropped, ...more, ...kept].map((text) => ({ text }));
    const parsed = parse({ reply_markdown: "", todos, rebase_requested });
    assert(parsed.ok);
    return parsed.result.todos.map(({ text }) => text);
  };
  assert.deepEqual(asked(true), kept);
  assert.deepEqual(asked(false), [...dropped, ...more, ...kept]);
});

test("each TODO names the events that ask for it, and only those that there are", () => {
  const one = { reply_markdown: "", todos: [{ text: "x" }] };
  const parsed = parse(one);
  assert(parsed.ok);
  assert.deepEqual(parsed.result.todos, [{ text: "x", events: ["e-1"] }]);
  const cases: [events: unknown, problem: RegExp][] = [
    [undefined, /todos\.0\.events: must name the events that ask for it/],
    [[], /todos\.0\.events: must name the events that ask for it/],
    [["e-1", "e-3"], /todos\.0\.events: none of the events has the id "e-3"/],
    ["e-1", /todos\.0\.events/],
  ];
  for (const [events, problem] of cases) {
    const refused = parse({ reply_markdown: "", todos: [{ text: "x", events }] }, ["e-1", "e-2"]);
    assert(!refused.ok, String(events));
    assert.match(refused.problem, problem);
  }
});

test("no text and no JSON makes it throw", () => {
  fc.assert(fc.property(fc.string(), (text) => typeof parseTriageResult(text, ["e-1"]).ok === "boolean"));
  fc.assert(fc.property(fc.jsonValue(), (value) => typeof parse(value).ok === "boolean"));
});
