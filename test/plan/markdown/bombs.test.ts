import assert from "node:assert/strict";
import { test } from "node:test";
import { parseReviewResult } from "../../../src/agents/results/review-result.ts";
import { parseTriageResult } from "../../../src/agents/results/triage-result.ts";
import { readAnswer } from "../../../src/gate/answer.ts";
import { fenced } from "../../../src/gate/shown.ts";
import { commitMessage } from "../../../src/git/commits/commit.ts";
import { safeBody } from "../../../src/github/outgoing.ts";
import { PrloomError } from "../../../src/kernel/errors.ts";
import { planFromIssue } from "../../../src/plan/checklists/as-plan.ts";
import { misspeltBoxes } from "../../../src/plan/checklists/checklist.ts";
import { planDigest } from "../../../src/plan/digest.ts";
import {
  addTodoContext,
  appendToSection,
  appendTracedTodos,
  ensureTitle,
  reopenDone,
  setTodoState,
} from "../../../src/plan/edit-plan.ts";
import { slugOf } from "../../../src/plan/identity.ts";
import { nextTodo, parsePlan } from "../../../src/plan/markdown/markdown.ts";
import { quoteAdded } from "../../../src/plan/quote-logs.ts";
import { applyClaims, readClaims } from "../../../src/plan/todos/claims.ts";
import { askedIn } from "../../../src/plan/todos/provenance.ts";
import { mergeUpsert, retitled } from "../../../src/plan/upserts/merge-upsert.ts";
import { SEED_NOTE, someOf } from "../../testing/sample.ts";

const fill = (piece: string, size: number): string => piece.repeat(Math.ceil(size / piece.length));
const each = (size: number, line: (at: number) => string): string =>
  Array.from({ length: Math.ceil(size / line(9999).length) }, (_, at) => line(at)).join("");

/** Texts that were quadratic in a parser, in an expression or in a loop of ours, or could be. */
const BOMBS: Readonly<Record<string, (size: number) => string>> = {
  "headings by underline": (size) => fill("a\n=\n", size),
  "sections by underline": (size) => fill("a\n-\n", size),
  "sections with markup": (size) => fill("## *a_ [b](c `d\n", size),
  "sections of their own": (size) => each(size, (at) => `## a${at}\nb\n`),
  "logs without end": (size) => fill("## Progress Log\n", size),
  titles: (size) => fill("## Title\n\n<!-- a -->\n", size),
  "short lines below a TODO": (size) => `## TODO\n\n- [ ] a\n  b\n${fill("c\n", size)}`,
  "blank lines below a TODO": (size) => `## TODO\n\n- [ ] a\n${fill("\n", size)}`,
  "blank lines between words": (size) => `a\n\nb${fill("\n", size)}c`,
  "white space in a TODO": (size) => `## TODO\n\n- [ ] a${fill(" \t", size)}b\n`,
  "white space before a line separator": (size) => `## TODO\n\n- [ ] ${fill(" ", size)}a\u2028b\n`,
  "marks out of their order": (size) => `## TODO\n\n- [ ] a${fill("\u0315\u0300", size)}\n`,
  paragraphs: (size) => fill("a\n\n", size),
  "ticked TODOs": (size) => `## TODO\n${fill("- [x] a\n", size)}`,
  "TODOs of their own": (size) => `## TODO\n${each(size, (at) => `- [ ] a${at}\n`)}`,
  "TODOs that wait": (size) => `## TODO\n${fill("- [ ] a\n  after: 1, 2\n", size)}`,
  "TODOs from comments": (size) => `## TODO\n${each(size, (at) => `- [ ] a <!-- from e${at} by b -->\n`)}`,
  "comments on a TODO": (size) => `## TODO\n- [ ] a\n${each(size, (at) => `\n  x\n  <!-- c${at} -->\n`)}`,
  "settings of a TODO": (size) => `## TODO\n- [ ] a\n${fill("  after: x\n", size)}`,
  "marks in a TODO": (size) => `## TODO\n- [b] a ${fill("<!-- x -->-->", size)}\n  ${fill("*", size / 2)}\n`,
  "steps of a list": (size) => Array.from({ length: Math.sqrt(size) }, (_, at) => `${"  ".repeat(at)}- a\n`).join(""),
  "nested in one line": (size) => `## TODO\n${fill("- ", size)}x\n`,
  "quotes in each line": (size) => fill(`${"> ".repeat(60)}a\n`, size),
  "blank lines deep inside": (size) => `${"- ".repeat(60)}x\n${fill("\n", size)}`,
  brackets: (size) => `# ${fill("[", size)}`,
  emphasis: (size) => fill("*a_ ", size),
  "tags in a line": (size) => `\n${fill("<a b ", size)}`,
  "lines of HTML": (size) => fill("<div>\n\n<a\n", size),
  comments: (size) => fill("<!-- -->\n<!--", size),
  fences: (size) => fill("```\n\n```\n~~~\n", size),
  definitions: (size) => fill("[a]: b\n(c\n", size),
  "definitions and underlines": (size) => fill("[a]: b\n===\n", size),
  "titles of definitions": (size) => `[a]: b\n"${fill("x\n", size)}`,
  dashes: (size) => fill("- ", size),
  "closing signs": (size) => `# ${fill(" #", size)}x`,
  returns: (size) => fill("\r", size),
  "blanks in a line": (size) => `a${fill(" ", size)}b`,
  "blanks in a box": (size) => `- [${fill(" ", size)}b`,
  "signs before a word": (size) => `${fill("!", size)}b`,
  "words that close, and signs": (size) => fill("fix_", size),
  "a word that closes, and backslashes": (size) => `fix ${fill("\\", size)}x`,
  words: (size) => fill("lorem ipsum dolor ", size),
};

const PLAN = "## Title\n\nA plan\n\n## TODO\n\n- [ ] a\n- [x] b\n\n## Progress Log\n\nstarted\n";
const firstId = (text: string): string => parsePlan(text).todos[0]?.id ?? "none";
const todoId = firstId(PLAN);
const from = [{ eventId: "e", author: "ann" }];

/** Every way in for the words of agents and strangers: the text as the plan, and the text as what is said about a plan. */
const ENTRIES: Readonly<Record<string, (text: string) => unknown>> = {
  parsePlan: (text) => nextTodo(parsePlan(text)),
  planDigest: (text) => planDigest(text),
  reopenDone: (text) => reopenDone(text, new Set()),
  setTodoState: (text) => setTodoState(text, firstId(text), "done"),
  "appendTodos, to it": (text) => appendTracedTodos(text, [{ text: "x", from }]),
  "appendTodos, of it": (text) => appendTracedTodos(PLAN, [{ text, context: text, from }]),
  "appendToSection, to it": (text) => appendToSection(text, "Progress Log", ["x"]),
  "appendToSection, of it": (text) => appendToSection(PLAN, "Progress Log", text.split("\n")),
  askedIn: (text) => askedIn(text),
  ensureTitle: (text) => ensureTitle(text, text),
  retitled: (text) => [retitled(text, "New"), retitled(PLAN, text)],
  "addTodoContext, to it": (text) => addTodoContext(text, firstId(text), ["x"], "m"),
  "addTodoContext, of it": (text) => addTodoContext(PLAN, todoId, [text], "m"),
  "readClaims, left": (text) => readClaims({ given: PLAN, left: text, todoId }),
  "readClaims, given": (text) => readClaims({ given: text, left: PLAN, todoId: firstId(text) }),
  "readClaims, blocked": (text) =>
    readClaims({ given: text, left: text.replaceAll("[ ] a", "[b] c"), todoId: firstId(text) }),
  "readClaims, added": (text) => readClaims({ given: PLAN, left: PLAN + text, todoId }),
  "applyClaims, to it": (text) => applyClaims(text, { appended: [{ heading: "Progress Log", lines: ["x"] }] }),
  "applyClaims, of it": (text) =>
    applyClaims(PLAN, { appended: [{ heading: "Progress Log", lines: text.split("\n") }] }),
  "mergeUpsert, incoming": (text) => mergeUpsert(PLAN, text),
  "mergeUpsert, current": (text) => mergeUpsert(text, PLAN),
  "mergeUpsert, base": (text) => mergeUpsert(PLAN, `${PLAN}x`, text),
  "mergeUpsert, all": (text) => mergeUpsert(text, text.replaceAll("- [", "* ["), `${text}\n\nx`),
  "mergeUpsert, rewritten": (text) => mergeUpsert(text, text.replaceAll("a", "b"), text),
  "mergeUpsert, into a long line": (text) => mergeUpsert(text, "x".repeat(text.length), PLAN),
  quoteAdded: (text) => quoteAdded(PLAN + text, PLAN),
  planFromIssue: (text) => planFromIssue(`${text}\n\n- [ ] a\n`),
  misspeltBoxes: (text) => misspeltBoxes(text),
  readAnswer: (text) => [readAnswer(text), readAnswer(`/revise ${text}`)],
  "fenced, in a post": (text) => fenced(text, "md"),
  "safeBody, in a post": (text) => safeBody(text),
  slugOf: (text) => slugOf(text),
  commitMessage: (text) => commitMessage(text, "x"),
  parseTriageResult: (text) => parseTriageResult(JSON.stringify({ reply_markdown: text, todos: [{ text }] }), ["e"]),
  parseReviewResult: (text) => parseReviewResult(JSON.stringify({ verdict: "approve", summary: text })),
};

test("a triage result costs what it is long, however many comments there are", () => {
  const given = Array.from({ length: 2000 }, (_, at) => `github-comment-1234567890-${at}`);
  const result = (size: number): string => {
    const events = Array.from({ length: size / 32 }, () => given.at(-1));
    return JSON.stringify({ reply_markdown: "", todos: [{ text: "x", events }] });
  };
  const large = result(4 * 1024 * 1024);
  assert(cost(() => parseTriageResult(large, given)) < 1000);
  const wrong = JSON.stringify({ reply_markdown: "", todos: [{ text: "x", events: Array(2 * 1024 * 1024).fill(1) }] });
  assert(cost(() => assert(!parseTriageResult(wrong, given).ok)) < 1000);
  const parsed = parseTriageResult(result(SMALL), given);
  assert.deepEqual(parsed.ok && parsed.result.todos[0]?.events, [given.at(-1)]);
});

/** Time on the processor, in ms: the load of the machine is not the text's fault. */
function cost(act: () => unknown): number {
  const before = process.cpuUsage();
  try {
    act();
  } catch (error) {
    // Refusing is an answer; anything else that is thrown is not.
    if (!(error instanceof PrloomError)) throw error;
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const SMALL = 8 * 1024;
const TIMES = 4;
/** Linear is 4, quadratic 16; what costs less than this is noise, and would be no second at the largest size. */
const MAX_TIMES = 10;
const NOISE_MS = 100;

function growth(entry: (text: string) => unknown, bomb: (size: number) => string): string | undefined {
  // Made a little different each time: text that was read is known.
  const measure = (size: number, round: number): number => {
    const text = bomb(size + round * 64);
    return cost(() => entry(text));
  };
  let large = measure(SMALL * TIMES, 0);
  if (large < NOISE_MS) return undefined;
  const median = (size: number): number => [1, 2, 3].map((round) => measure(size, round)).sort((a, b) => a - b)[1] ?? 0;
  large = median(SMALL * TIMES);
  const small = median(SMALL);
  return large < NOISE_MS || large < MAX_TIMES * small
    ? undefined
    : `${small} ms, ${large} ms for ${TIMES} times as much`;
}

for (const [entryName, entry] of Object.entries(ENTRIES)) {
  test(`${entryName} costs what the text is long, whatever the text is (${SEED_NOTE})`, { timeout: 600_000 }, () => {
    for (const [bombName, bomb] of someOf(Object.entries(BOMBS), 12))
      assert.equal(growth(entry, bomb), undefined, `${entryName} of ${bombName}`);
  });
}

test("the same text is read once, however often it is asked for", () => {
  const text = (words: string): string => `## TODO\n\n- [ ] ${words}\n`;
  assert.equal(parsePlan(text("the same")), parsePlan(text("the same")));
  assert.notEqual(parsePlan(text("the same")), parsePlan(text("another")));
});

test("TODOs of hundreds of comments cost what they are long, whatever their words begin with", () => {
  const from = Array.from({ length: 400 }, (_, at) => ({ eventId: `e${at}`, author: "Ada" }));
  const todos = Array.from({ length: 25 }, (_, at) => ({ text: `${"- ".repeat(2040)}${at}`, from }));
  const before = process.cpuUsage();
  assert.match(appendTracedTodos("## TODO\n\n- [ ] a\n", todos), /- \[ \] 24$/m);
  const { user, system } = process.cpuUsage(before);
  assert((user + system) / 1000 < 1000);
});
