import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { LOG_HEADINGS } from "../../../src/plan/edit-plan.ts";
import { parsePlan } from "../../../src/plan/markdown/markdown.ts";
import { applyClaims, readClaims } from "../../../src/plan/todos/claims.ts";
import { samples } from "../../testing/sample.ts";
import { anyLine, anyPlan } from "../arbitrary-plans.ts";

const GIVEN = `# Plan

Prose.

## TODO

- [x] first
- [ ] second
  its context
- [ ] third

## Progress Log

- did first

## Decision Log
`;
const CURRENT = parsePlan(GIVEN).todos[1]?.id ?? "";
const claims = (change: (text: string) => string | undefined, given = GIVEN) =>
  readClaims({ given, left: change(given), todoId: CURRENT });

test("an untouched copy claims nothing", () => {
  assert.deepEqual(
    claims((text) => text),
    { tick: "none", appended: [] },
  );
  assert.deepEqual(
    claims((text) => `\uFEFF${text.replaceAll("\n", "\r\n")}\r\n\r\n`),
    { tick: "none", appended: [] },
  );
});

test("a tick and appended logs are claims, and nothing else is", () => {
  const left = claims((text) =>
    text
      .replace("[ ] second", "[x] second")
      .replace("- did first\n", "- did first\n- did second\n\n  with a note\n")
      .replace("## Decision Log\n", "## Decision Log\n\n- chose x\n\n## Implementation Notes\n\nnote\n"),
  );
  assert.deepEqual(left, {
    tick: "done",
    appended: [
      { heading: "Progress Log", lines: ["- did second", "", "  with a note"] },
      { heading: "Decision Log", lines: ["- chose x"] },
      { heading: "Implementation Notes", lines: ["note"] },
    ],
  });
});

const blocked: [name: string, change: (text: string) => string, reason: string | undefined][] = [
  ["no reason", (text) => text.replace("[ ] second", "[b] second"), undefined],
  ["a reason line", (text) => text.replace("[ ] second\n", "[b] second\n  reason: no key\n"), "no key"],
  ["a list item", (text) => text.replace("[ ] second\n", "[B] second\n  - **Blocked:** no key\n"), "no key"],
  [
    "after the old context",
    (text) => text.replace("[ ] second\n  its context\n", "[b] second\n  its context\n  I have no key\n"),
    "I have no key",
  ],
  ["in the text", (text) => text.replace("[ ] second", "[b] second (blocked: no key)"), "no key"],
  ["after a dash", (text) => text.replace("[ ] second", "[b] second — no key"), "no key"],
  [
    "below the item",
    (text) => text.replace("[ ] second\n  its context\n", "[b] second\n  its context\n\nReason: no key\n\n"),
    "no key",
  ],
];
for (const [name, change, reason] of blocked) {
  test(`blocked, ${name}`, () => {
    const left = claims(change);
    assert.equal(left.tick, "blocked");
    assert.equal(left.reason, reason);
    assert.equal(left.proposal, undefined);
  });
}

const proposals: [name: string, change: (text: string) => string | undefined, expected: RegExp][] = [
  ["the copy is gone", () => undefined, /deleted/],
  [
    "another tick",
    (text) => text.replace("[ ] third", "[x] third"),
    /TODO 3 "third": open → done\.[\s\S]*\+ - \[x\] third/,
  ],
  ["an unticked one", (text) => text.replace("[x] first", "[ ] first"), /TODO 1 "first": done → open/],
  ["a new TODO", (text) => text.replace("- [ ] third\n", "- [ ] third\n- [ ] fourth\n"), /New TODO 4 "fourth"/],
  ["a removed TODO", (text) => text.replace("- [ ] third\n", ""), /TODO 3 "third": removed/],
  ["a reworded TODO", (text) => text.replace("third", "3rd"), /TODO 3 reworded: "third" → "3rd"/],
  [
    "changed prose",
    (text) => text.replace("Prose", "Verse"),
    /The plan's text was changed\.[\s\S]*- Prose\.\n\+ Verse\./,
  ],
  ["changed context", (text) => text.replace("its context", "expects: none"), /\+ {3}expects: none/],
  ["a changed log", (text) => text.replace("did first", "did nothing\n- more"), /- - did first\n\+ - did nothing/],
  ["a longer log line", (text) => text.replace("did first", "did first, and more"), /\+ - did first, and more/],
  ["a new section", (text) => `${text}\n## Approved\n\nyes\n`, /\+ ## Approved/],
  ["a swallowing fence", (text) => text.replace("- did first\n", "- did first\n```\n"), /\+ ```/],
  ["far too much", (text) => text + "x".repeat(600_000), /was not read/],
];
for (const [name, change, expected] of proposals) {
  test(`a proposal: ${name}`, () => {
    const left = claims(change);
    assert.equal(left.tick, "none");
    assert.deepEqual(left.appended, []);
    assert.match(left.proposal ?? "", expected);
  });
}

test("the TODO is found by id when others moved, by position when it was reworded, else not", () => {
  const tick = (change: (text: string) => string) => claims(change).tick;
  assert.equal(
    tick((text) => text.replace("- [x] first\n", "").replace("[ ] second", "[x] second")),
    "done",
  );
  assert.equal(
    tick((text) => text.replace("[ ] second", "[x] zweitens")),
    "done",
  );
  assert.equal(
    tick((text) => text.replace("[ ] second", "[x] zweitens").replace("- [ ] third\n", "")),
    "none",
  );
  assert.equal(
    tick((text) => text.replace("- [ ] second\n  its context\n- [ ] third", "- [x] third\n- [ ] fourth")),
    "none",
  );
});

test("the tick of an equal TODO is not taken for the current one's", () => {
  const given = "## TODO\n- [ ] same\n- [x] same\n";
  const todoId = parsePlan(given).todos[0]?.id ?? "";
  assert.equal(readClaims({ given, left: "## TODO\n- [x] same\n", todoId }).tick, "none");
  assert.equal(readClaims({ given, left: "## TODO\n- [x] same\n- [x] same\n", todoId }).tick, "done");
});

test("appended text is cut at 64 KB, with a note", () => {
  const { appended } = claims((text) =>
    text
      .replace("- did first\n", `- did first\n${"- ünü\n".repeat(20_000)}`)
      .replace("## Decision Log\n", "## Decision Log\n\nmore\n"),
  );
  const bytes = Buffer.byteLength(appended[0]?.lines.join("\n") ?? "");
  assert.ok(bytes <= 64 * 1024 + 200 && bytes > 60 * 1024, String(bytes));
  assert.match(appended[0]?.lines.at(-1) ?? "", /^\(\d+ more bytes were cut/);
  assert.match(appended[1]?.lines.at(-1) ?? "", /^\(5 more bytes were cut/);
});

test("appends reach the text as it is now, once, and ticks are left alone", () => {
  const { appended } = claims((text) =>
    text.replace("[ ] second", "[x] second").replace("- did first\n", "- did first\n- did second\n"),
  );
  const home = GIVEN.replace("Prose.", "Edited since.").replaceAll("\n", "\r\n");
  const result = applyClaims(home, { appended });
  assert.equal(result, home.replace("- did first\r\n", "- did first\r\n- did second\r\n"));
  assert.equal(applyClaims(result, { appended }), result);
});

test("headings and task items in appended text stay text", () => {
  const lines = ["- [ ] sneaky", "## TODO", "- [x] more", "", "Title", "-----", "```", "# in code", "```", "### fine"];
  const result = applyClaims(GIVEN, { appended: [{ heading: "Progress Log", lines }] });
  assert.match(
    result,
    /- \\\[ \] sneaky\n\\## TODO\n- \\\[x\] more\n\nTitle\n\\-----\n```\n# in code\n```\n### fine\n/,
  );
  assert.equal(parsePlan(result).todos.length, 3);
});

test("property: applied appends never change ticks, TODOs, sections or title", () => {
  const append = fc.record({ heading: fc.constantFrom(...LOG_HEADINGS), lines: fc.array(anyLine, { maxLength: 6 }) });
  fc.assert(
    fc.property(fc.oneof(anyPlan, fc.constant(GIVEN)), fc.array(append, { maxLength: 3 }), (text, appended) => {
      const [before, after] = [parsePlan(text), parsePlan(applyClaims(text, { appended }))];
      const logs = LOG_HEADINGS.map((heading) => heading.toLowerCase());
      const others = (doc: typeof after) =>
        doc.sections
          .map(({ heading }) => heading.toLowerCase())
          .filter((heading) => !logs.some((log) => log === heading));
      assert.deepEqual(others(after), others(before));
      const todos = (doc: typeof after) =>
        doc.todos.map(({ id, state, context, settings }) => ({ id, state, context, settings }));
      assert.deepEqual(todos(after), todos(before));
      assert.equal(after.title, before.title);
      assert.deepEqual(after.dependsOn, before.dependsOn);
    }),
    { numRuns: samples(800) },
  );
});

test("property: whatever a run leaves, reading it never throws and applying it is safe", () => {
  fc.assert(
    fc.property(anyPlan, anyPlan, fc.nat(), (given, left, pick) => {
      const before = parsePlan(given);
      const todoId = before.todos[pick % Math.max(1, before.todos.length)]?.id ?? "none";
      const read = readClaims({ given, left, todoId });
      const after = parsePlan(applyClaims(given, read));
      assert.deepEqual(
        after.todos.map(({ id, state }) => [id, state]),
        before.todos.map(({ id, state }) => [id, state]),
      );
      if (left === given) assert.deepEqual(read, { tick: "none", appended: [] });
    }),
    { numRuns: samples(800) },
  );
});

test("property: plain log lines come through a round trip", () => {
  const plain = fc.stringMatching(/^- [a-z]{1,8}( [a-z]{1,8}){0,3}$/);
  fc.assert(
    fc.property(fc.array(plain, { minLength: 1, maxLength: 5 }), fc.constantFrom(...LOG_HEADINGS), (lines, heading) => {
      const left = applyClaims(GIVEN, { appended: [{ heading, lines }] });
      fc.pre(left !== GIVEN);
      const read = readClaims({ given: GIVEN, left, todoId: CURRENT });
      assert.deepEqual(read, { tick: "none", appended: [{ heading, lines }] });
    }),
    { numRuns: samples(200) },
  );
});
