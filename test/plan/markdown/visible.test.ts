import assert from "node:assert/strict";
import { test } from "node:test";
import { addTodoContext, appendTracedTodos, ensureTitle } from "../../../src/plan/edit-plan.ts";
import { parsePlan } from "../../../src/plan/markdown/markdown.ts";
import { visibleText } from "../../../src/plan/markdown/visible.ts";
import { applyClaims, readClaims } from "../../../src/plan/todos/claims.ts";
import { retitled } from "../../../src/plan/upserts/merge-upsert.ts";

const HOSTILE = "\u001b]0;owned\u0007\u009b2J\u202egnp.exe\u2066x\u0000\u007f";
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
const PLAN = "## Title\n\nT\n\n## TODO\n\n- [ ] a\n\n## Progress Log\n";
const todoId = parsePlan(PLAN).todos[0]?.id ?? "";

test("what drives a terminal is written out; everything else stays as it is", () => {
  assert.equal(visibleText(HOSTILE), "\\u{1b}]0;owned\\u{7}\\u{9b}2J\\u{202e}gnp.exe\\u{2066}x\\u{0}\\u{7f}");
  assert.equal(visibleText(visibleText(HOSTILE)), visibleText(HOSTILE));
  const plain = "\uFEFF# Größe\r\n\ttab, 日本語, עברית\u200f, 👩‍👩‍👧, \\u{1b}\r\n";
  assert.equal(visibleText(plain), plain);
});

test("nothing that agents or strangers say reaches a plan's files unseen", () => {
  const claims = readClaims({
    given: PLAN,
    left: `${PLAN.replace("- [ ] a", `- [b] a\n  reason: ${HOSTILE}`)}\n${HOSTILE}\n\n## ${HOSTILE}\n`,
    todoId,
  });
  assert.equal(claims.tick, "blocked");
  assert.match(claims.reason ?? "", /owned/);
  assert.match(claims.proposal ?? "", /owned/);
  const from = [{ eventId: "e", author: HOSTILE }];
  const written = [
    claims.reason,
    claims.proposal,
    applyClaims(PLAN, claims),
    applyClaims(PLAN, { appended: [{ heading: "Progress Log", lines: [HOSTILE] }] }),
    appendTracedTodos(PLAN, [{ text: HOSTILE, context: HOSTILE, from }]),
    addTodoContext(PLAN, todoId, [HOSTILE], HOSTILE),
    ensureTitle("words\n", HOSTILE),
    retitled(PLAN, HOSTILE),
  ];
  for (const text of written) {
    assert.match(text ?? "", /owned/);
    assert.doesNotMatch(text ?? "", STEERING);
  }
});

test("a person's own text is not rewritten, and does not count as a change by the agent", () => {
  const own = `${PLAN}\n${HOSTILE}\n`;
  const claims = readClaims({ given: own, left: own.replace("[ ]", "[x]"), todoId });
  assert.deepEqual(claims, { tick: "done", appended: [] });
  const next = applyClaims(own, { appended: [{ heading: "Decision Log", lines: ["x"] }] });
  assert.ok(next.includes(HOSTILE));
});
