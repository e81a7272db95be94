import assert from "node:assert/strict";
import { test } from "node:test";
import { decideUpsert } from "../../../src/bridges/core/upsert.ts";
import { addTodoContext, appendToSection, appendTracedTodos, ensureTitle } from "../../../src/plan/edit-plan.ts";
import { parsePlan } from "../../../src/plan/markdown/markdown.ts";
import { MAX_LINES, MAX_TEXT_BYTES, MAX_TODOS } from "../../../src/plan/markdown/size-limits.ts";
import { applyClaims, readClaims } from "../../../src/plan/todos/claims.ts";
import { mergeUpsert } from "../../../src/plan/upserts/merge-upsert.ts";

const PLAN = "## Title\n\nT\n\n## TODO\n\n- [ ] a\n\n## Progress Log\n\nstarted\n";
const todoId = parsePlan(PLAN).todos[0]?.id ?? "";
const REFUSED: [why: RegExp, text: string][] = [
  [/larger than 512 KB/, `${PLAN}\n${"é".repeat(MAX_TEXT_BYTES / 2)}`],
  [/has 30011 lines; a plan may have 30000/, PLAN + "\n".repeat(MAX_LINES)],
  [/has 30010 lines/, PLAN.replaceAll("\n", "\r\n") + "\r".repeat(MAX_LINES - 1)],
  [
    /not UTF-8 but another encoding, UTF-16 it seems: save it/,
    Buffer.from(`\ufeff${PLAN}`, "utf16le").toString("utf8"),
  ],
  [/has 1001 TODOs; a plan may have 1000/, PLAN.replace("- [ ] a\n", "- [ ] a\n".repeat(MAX_TODOS + 1))],
];

test("the largest plan is one", () => {
  const lines = PLAN + "\n".repeat(MAX_LINES - 11);
  const todos = PLAN.replace("- [ ] a\n", "- [ ] a\n".repeat(MAX_TODOS));
  const bytes = PLAN + "x".repeat(MAX_TEXT_BYTES - PLAN.length);
  for (const text of [lines, todos, bytes]) assert.equal(parsePlan(text).tooLarge, undefined);
  assert.equal(parsePlan(lines).todos.length, 1);
});

for (const [why, text] of REFUSED) {
  test(`text that ${why.source} is refused with that reason, wherever it comes in`, () => {
    const doc = parsePlan(text);
    assert.match(doc.tooLarge ?? "", why);
    assert.match(doc.problems[0] ?? "", why);
    const refusal = { code: "plan-invalid", message: why, hint: /prloom edit/ };
    const todo = { text: "x", from: [{ eventId: "e", author: "ann" }] };
    assert.throws(() => appendTracedTodos(text, [todo]), refusal);
    assert.throws(() => appendToSection(text, "Progress Log", ["x"]), refusal);
    assert.throws(() => addTodoContext(text, todoId, ["x"], "m"), refusal);
    assert.throws(() => ensureTitle(text, "T"), refusal);
    assert.throws(() => mergeUpsert(PLAN, text), refusal);
    assert.throws(() => mergeUpsert(text, PLAN), refusal);
    const claims = readClaims({ given: PLAN, left: text, todoId });
    assert.equal(claims.tick, "none");
    assert.match(claims.proposal ?? "", /was not read/);
    const source = { system: "s", kind: "issue", id: "1" };
    const upsert = decideUpsert({ running: false }, { type: "upsert_plan", source, planMarkdown: text });
    assert.equal(upsert.kind, "refused");
  });
}

test("a file of nothing is too large, whatever its encoding", () => {
  assert.match(parsePlan("\0".repeat(2_500_001)).tooLarge ?? "", /larger than 512 KB/);
});

test("UTF-16 without a mark is told from text as well, and text with a mark is text", () => {
  const bytes = Buffer.from(PLAN, "utf16le");
  for (const text of [bytes.toString(), Buffer.from(bytes).swap16().toString()])
    assert.match(parsePlan(text).tooLarge ?? "", /not UTF-8/);
  assert.equal(parsePlan(`\ufeff${PLAN}`).tooLarge, undefined);
});

test("what would make a plan too large is not added", () => {
  const full = PLAN.replace("- [ ] a\n", "- [ ] a\n".repeat(MAX_TODOS));
  const todo = { text: "x", from: [{ eventId: "e", author: "ann" }] };
  assert.throws(() => appendTracedTodos(full, [todo]), { code: "plan-invalid", message: /1001 TODOs/ });
});

test("a run's words that no longer fit into the logs do not stop its work; that they are elsewhere is told once", () => {
  const long = PLAN + "x\n".repeat(MAX_LINES - 1000);
  const lines = Array.from({ length: 1000 }, (_, at) => `line ${at}`);
  const claims = { appended: [{ heading: "Progress Log" as const, lines }] };
  const once = applyClaims(long, claims);
  assert.match(once, /\n\(The plan is as long as a plan may be\..*\)\n$/);
  assert.equal(applyClaims(once, claims), once);
  assert.equal(parsePlan(once).tooLarge, undefined);
});
