import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  headline,
  parseReviewResult,
  quoteFindings,
  renderFindings,
} from "../../../src/agents/results/review-result.ts";
import { appendTracedTodos } from "../../../src/plan/edit-plan.ts";
import { parsePlan } from "../../../src/plan/markdown/markdown.ts";

function parse(value: unknown) {
  return parseReviewResult(JSON.stringify(value));
}

function result(value: unknown) {
  const parsed = parse(value);
  assert(parsed.ok, JSON.stringify(parsed));
  return parsed.result;
}

test("a whole result, and one with what may be left out", () => {
  const whole = {
    verdict: "request_changes",
    summary: "Two things.",
    comments: [
      { path: "src/a.ts", line: 3, message: "Off by one." },
      { path: "README.md", message: "Say so." },
    ],
  };
  assert.deepEqual(parse(whole), { ok: true, result: whole });
  const least = { verdict: "approve", summary: "", comments: [] };
  assert.deepEqual(parse({ verdict: "approve" }), { ok: true, result: least });
  assert.deepEqual(parseReviewResult('\uFEFF{"verdict":"approve","score":7}'), { ok: true, result: least });
  const nulls = { verdict: "approve", comments: [{ path: "a", line: null, message: "b", severity: "high" }] };
  assert.deepEqual(result(nulls).comments, [{ path: "a", message: "b" }]);
});

test("what cannot be seen is taken out, and line ends are made one kind", () => {
  const { summary, comments } = result({
    verdict: "request_changes",
    summary: "\u001b[2Jone\r\ntwo\u202e\u0000",
    comments: [{ path: "a\nb\u2066.ts", line: 1, message: "x\r\ty\u0007" }],
  });
  assert.equal(summary, "[2Jone\ntwo");
  assert.deepEqual(comments, [{ path: "a b.ts", line: 1, message: "x\n\ty" }]);
});

test("what is wrong is named", () => {
  const comment = { path: "a", line: 1, message: "m" };
  const cases: [unknown, RegExp][] = [
    [{}, /verdict/],
    [[], /the result/],
    [null, /the result/],
    [{ verdict: "approved" }, /verdict/],
    [{ verdict: "request_changes" }, /the result: asks for changes without saying which/],
    [{ verdict: "request_changes", summary: " \u0000\n" }, /without saying which/],
    [{ verdict: "approve", summary: 1 }, /summary/],
    [{ verdict: "approve", summary: "ü".repeat(4097) }, /summary: is longer than 8 KB/],
    [{ verdict: "approve", comments: [{ ...comment, path: " " }] }, /comments\.0\.path: is empty/],
    [{ verdict: "approve", comments: [comment, { ...comment, message: "" }] }, /comments\.1\.message: is empty/],
    [{ verdict: "approve", comments: [{ ...comment, message: "x".repeat(4097) }] }, /is longer than 4 KB/],
    [{ verdict: "approve", comments: [{ ...comment, line: 0 }] }, /comments\.0\.line/],
    [{ verdict: "approve", comments: [{ ...comment, line: 1.5 }] }, /comments\.0\.line/],
    [{ verdict: "approve", comments: [{ ...comment, line: "12" }] }, /comments\.0\.line/],
    [{ verdict: "approve", comments: Array(51).fill(comment) }, /comments/],
    [{ verdict: "approve", comments: Array(20).fill({ ...comment, message: "x".repeat(4000) }) }, /longer than 48 KB/],
  ];
  for (const [value, problem] of cases) {
    const parsed = parse(value);
    assert(!parsed.ok, JSON.stringify(value).slice(0, 80));
    assert.match(parsed.problem, problem);
  }
  assert.match((parseReviewResult("LGTM") as { problem: string }).problem, /not JSON/);
});

test("no text and no JSON makes it throw", () => {
  fc.assert(fc.property(fc.string(), (text) => typeof parseReviewResult(text).ok === "boolean"));
  fc.assert(fc.property(fc.jsonValue(), (value) => typeof parse(value).ok === "boolean"));
});

test("findings as people and prompts read them", () => {
  const comments = [
    { path: "a.ts", line: 3, message: "One.\nMore of it." },
    { path: "b.ts", message: "Two." },
  ];
  assert.equal(renderFindings({ summary: "Sum.", comments }), "Sum.\n\n- a.ts:3: One.\n  More of it.\n- b.ts: Two.");
  assert.equal(renderFindings({ summary: "", comments: [] }), "");
  assert.equal(quoteFindings({ summary: "Sum.\n\nMore.", comments: [] }), "> Sum.\n>\n> More.");
  assert.equal(headline({ summary: "", comments }), "One.");
  assert.equal(headline({ summary: "First.\nSecond.", comments }), "First.");
  assert.equal(Array.from(headline({ summary: "😀".repeat(101), comments })).length, 100);
});

test("whatever a reviewer writes, it becomes exactly one open TODO and waives nothing", () => {
  const plan = "## Title\n\nP\n\n## TODO\n\n- [x] one\n  context\n\n## Progress Log\n\n- begun\n";
  const piece = fc.constantFrom(
    "- [x] done",
    "## TODO",
    "```",
    "<!--",
    "-->",
    "expects: none",
    "---",
    "\n",
    "> ",
    "~~~",
    "x",
  );
  const words = fc.array(piece, { minLength: 1, maxLength: 12 }).map((parts) => parts.join("\n"));
  fc.assert(
    fc.property(words, words, (summary, message) => {
      const parsed = parse({ verdict: "request_changes", summary, comments: [{ path: "a", message }] });
      fc.pre(parsed.ok);
      const review = parsed.result;
      const text = `Address the review: ${headline(review)}`;
      const todo = { text, context: quoteFindings(review), from: [{ eventId: "review/3", author: "reviewer" }] };
      const after = parsePlan(appendTracedTodos(plan, [todo]));
      assert.equal(after.todos.length, 2);
      assert.deepEqual(after.todos[0]?.state, "done");
      assert.equal(after.todos[1]?.state, "open");
      assert.equal(after.todos[1]?.settings.expects, undefined);
      assert.equal(after.sections.length, 3);
      assert.equal(appendTracedTodos(appendTracedTodos(plan, [todo]), [todo]), appendTracedTodos(plan, [todo]));
    }),
  );
});
