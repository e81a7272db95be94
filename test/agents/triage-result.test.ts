import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseTriageResult } from "../../src/agents/triage-result.ts";

function parse(value: unknown) {
  return parseTriageResult(JSON.stringify(value));
}

test("a whole result, and one with what may be left out", () => {
  const whole = {
    reply_markdown: "Yes.",
    todos: [{ text: "Do it", context: "there" }, { text: "And this" }],
    rebase_requested: true,
  };
  assert.deepEqual(parse(whole), { ok: true, result: whole });
  const least = { reply_markdown: "", todos: [], rebase_requested: false };
  assert.deepEqual(parse({ reply_markdown: "" }), { ok: true, result: least });
  assert.deepEqual(parseTriageResult('\uFEFF{"reply_markdown":"","more":1}'), { ok: true, result: least });
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
  assert.match((parseTriageResult("I think") as { problem: string }).problem, /not JSON/);
});

test("no text and no JSON makes it throw", () => {
  fc.assert(fc.property(fc.string(), (text) => typeof parseTriageResult(text).ok === "boolean"));
  fc.assert(fc.property(fc.jsonValue(), (value) => typeof parse(value).ok === "boolean"));
});
