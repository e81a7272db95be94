import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { nextTodo, parsePlan, progressOf, titleOf } from "../../../src/plan/markdown/markdown.ts";
import { samples } from "../../testing/sample.ts";
import { anyPlan } from "../arbitrary-plans.ts";

const texts = (text: string) => parsePlan(text).todos.map((todo) => `${todo.state} ${todo.text}`);

const PLAN = `## Title

Add login

## Depends on

- \`base-plan\`
- [Other plan](https://example.com)
- [x] third

## TODO

- [ ] First
  some context
    more
- [x] Second
- [b] Third

## Progress Log
`;

test("a plan is read with its title, sections, TODOs and dependencies", () => {
  const doc = parsePlan(PLAN);
  assert.equal(doc.title, "Add login");
  assert.deepEqual(
    doc.sections.map((section) => section.heading),
    ["Title", "Depends on", "TODO", "Progress Log"],
  );
  assert.deepEqual(doc.dependsOn, ["base-plan", "Other plan", "third"]);
  assert.deepEqual(texts(PLAN), ["open First", "done Second", "blocked Third"]);
  assert.equal(doc.todos[0]?.context, "some context\n  more");
  assert.deepEqual(doc.problems, []);
  assert.deepEqual(progressOf(doc), { total: 3, completed: 1 });
  for (const todo of doc.todos) {
    assert.equal(PLAN[todo.markerOffset - 1], "[");
    assert.equal(PLAN[todo.markerOffset + 1], "]");
  }
});

test("line breaks and a byte order mark change neither TODOs nor ids", () => {
  const ids = parsePlan(PLAN).todos.map((todo) => todo.id);
  for (const newline of ["\r\n", "\r"]) {
    for (const mark of ["", "\uFEFF"]) {
      const text = mark + PLAN.replaceAll("\n", newline);
      const doc = parsePlan(text);
      assert.deepEqual(
        doc.todos.map((todo) => todo.id),
        ids,
      );
      assert.equal(doc.title, "Add login");
      assert.equal(doc.todos[0]?.context, "some context\n  more");
      for (const todo of doc.todos) assert.equal(text[todo.markerOffset + 1], "]");
    }
  }
});

const cases: [name: string, text: string, todos: string[]][] = [
  [
    "all bullets",
    "## TODO\n- [ ] a\n* [x] b\n+ [X] c\n1. [b] d\n2) [B] e\n",
    ["open a", "done b", "done c", "blocked d", "blocked e"],
  ],
  ["tabs", "## TODO\n-\t[ ] a\n\tcontext\n", ["open a"]],
  ["heading case and colon", "## todos:\n- [ ] a\n", ["open a"]],
  ["emphasised heading", "## **TODO**\n- [ ] a\n", ["open a"]],
  ["setext heading", "TODO\n----\n- [ ] a\n\nNext\n----\n- [ ] b\n", ["open a"]],
  ["an h1 ends the section", "## TODO\n- [ ] a\n# Other\n- [ ] b\n", ["open a"]],
  ["an h3 does not", "## TODO\n- [ ] a\n### Later\n- [ ] b\n", ["open a", "open b"]],
  ["several sections", "## TODO\n- [ ] a\n## Notes\n- [ ] no\n## TODOs\n- [x] b\n", ["open a", "done b"]],
  ["nested items", "## TODO\n- [ ] a\n  - [ ] nested\n- [ ] b\n", ["open a", "open b"]],
  ["fenced code", "## TODO\n```\n- [ ] no\n```\n- [ ] a\n  ```\n  - [ ] no\n  ```\n", ["open a"]],
  ["quotes", "## TODO\n> - [ ] no\n\n- [ ] a\n", ["open a"]],
  ["a heading in code is none", "```\n## TODO\n- [ ] no\n```\n## TODO\n- [ ] a\n", ["open a"]],
  ["lists apart", "## TODO\n- [ ] a\n\n<!-- x -->\n\n- [ ] b\n\ntext\n\n- [x] c\n", ["open a", "open b", "done c"]],
  ["marker needs space after it", "## TODO\n- [ ](link) x\n- [x]y\n- [ ]: z\n", []],
  ["no text", "## TODO\n- [ ]\n", ["open "]],
  [
    "markup stays",
    "## TODO\n- [ ] fix `a<b>` & *c* <!-- from e by a -->\n",
    ["open fix `a<b>` & *c* <!-- from e by a -->"],
  ],
  ["no TODO section", "# T\n- [ ] a\n", []],
  ["no line break at the end", "## TODO\n- [x] a", ["done a"]],
];
for (const [name, text, expected] of cases) {
  test(`TODOs: ${name}`, () => assert.deepEqual(texts(text), expected));
}

test("title: the section, then the first h1, then the id", () => {
  assert.equal(titleOf("# One\n## Title\n\n<!-- note -->\n\nTwo `x`\nmore\n", "id"), "Two `x`");
  assert.equal(titleOf("intro\n\n# One\n# Two\n## Title\n", "id"), "One");
  assert.equal(titleOf("text\n", "id"), "id");
  assert.equal(titleOf("", "id"), "id");
});

test("ids: equal TODOs get ordinals, white space, case and provenance do not count", () => {
  const [a, b, c, d] = parsePlan(
    "## TODO\n- [ ] Do  it\n- [x] do it <!-- from e-1 by ann --> <!-- x -->\n- [ ] do\tit\n- [ ] other\n",
  ).todos;
  assert.match(a?.id ?? "", /^[0-9a-f]{12}$/);
  assert.equal(b?.id, `${a?.id}-2`);
  assert.equal(c?.id, `${a?.id}-3`);
  assert.notEqual(d?.id, a?.id);
  const [nfc, nfd] = ["## TODO\n- [ ] \u00e9\n", "## TODO\n- [ ] e\u0301\n"].map(
    (text) => parsePlan(text).todos[0]?.id,
  );
  assert.equal(nfc, nfd);
});

test("settings come from lines and list items of the context, not from code", () => {
  const [todo, coded] = parsePlan(`## TODO
- [ ] a
  after: 2, 3
  - expects: files \`src/**/*.ts\`
  - tools: read, edit

  paths: src; test/**

  By: Executor
- [ ] b
  \`\`\`
  expects: none
  \`\`\`
`).todos;
  assert.deepEqual(todo?.settings, {
    after: [2, 3],
    expects: "files src/**/*.ts",
    tools: ["read", "edit"],
    paths: ["src", "test/**"],
    by: "executor",
  });
  assert.deepEqual(coded?.settings, {});
});

test("a setting counts however its name is emphasised", () => {
  for (const line of [
    "**paths:** docs/**",
    "**Paths**: docs/**",
    "- __paths:__ docs/**",
    "1. *paths*: docs/**",
    "**paths: docs/****",
    "- **`paths:`** docs/**",
    "`paths: docs/**`",
  ])
    assert.deepEqual(parsePlan(`## TODO\n- [ ] a\n  ${line}\n`).todos[0]?.settings, { paths: ["docs/**"] }, line);
  assert.match(parsePlan("## TODO\n- [ ] a\n  **Path:** docs\n").problems[0] ?? "", /did you mean "paths:"/);
});

test("problems are told, never thrown", () => {
  assert.match(parsePlan("- [ ] a\n- [ ] b\n").problems[0] ?? "", /no "## TODO" section, so 2 checkbox items/);
  assert.match(parsePlan("## TODO\n\n- plain\n").problems[0] ?? "", /^Line 3: "- plain"/);
  assert.match(parsePlan("## TODO\n- [ ] a\n  after: lunch\n").problems[0] ?? "", /^TODO 1: "after: lunch"/);
  assert.match(parsePlan("## TODO\n- [ ] a\n  expects: magic\n").problems[0] ?? "", /expects: magic/);
  const problems = (lines: string) => parsePlan(`## TODO\n- [ ] a\n${lines}- [ ] b\n`).problems;
  assert.deepEqual(problems("  after: 7\n"), ["TODO 1 is after TODO 7, and there is no TODO 7."]);
  assert.deepEqual(problems("  after: 1\n"), ['TODO 1 waits for itself: its "after: 1" is circular.']);
  assert.deepEqual(problems("  expects: none\n  expects: tests\n"), [
    'TODO 1: "expects: tests" is ignored: the first "expects:" counts.',
  ]);
  assert.deepEqual(problems("  path: docs/**\n"), ['TODO 1: "path:" is ignored: did you mean "paths:"?']);
  assert.deepEqual(problems("  The path: it is long\n  after: 2\n"), []);
  const many = parsePlan(`## TODO\n${"- plain\n".repeat(500)}`).problems;
  assert.equal(many.length, 21);
  assert.equal(many.at(-1), "And 480 more.");
});

const next: [text: string, kind: string, detail: string | RegExp][] = [
  ["# none\n", "none", ""],
  ["## TODO\n- [x] a\n- [X] b\n", "all-done", ""],
  ["## TODO\n- [x] a\n- [ ] b\n- [ ] c\n", "todo", "b"],
  ["## TODO\n- [ ] a\n- [b] b\n", "todo", "a"],
  ["## TODO\n- [x] a\n- [b] b\n- [ ] c\n", "blocked", /TODO 2 is marked as blocked: b/],
  ["## TODO\n- [b] b\n  reason: no key\n", "blocked", /^no key$/],
  ["## TODO\n- [b] b (blocked: no key)\n", "blocked", /^no key$/],
  ["## TODO\n- [ ] a\n  after: 2\n- [ ] b\n", "todo", "b"],
  ["## TODO\n- [ ] a\n  after: 2\n- [x] b\n", "todo", "a"],
  ["## TODO\n- [ ] a\n  after: 2\n- [b] b\n", "blocked", /TODO 2/],
  ["## TODO\n- [ ] a\n  after: 9\n- [ ] b\n", "blocked", /there is no TODO 9/],
  ["## TODO\n- [ ] a\n  after: 0\n", "blocked", /no TODO 0/],
  ["## TODO\n- [x] a\n- [ ]\n", "blocked", /TODO 2 is empty/],
  ["## TODO\n- [ ] <!-- later -->\n", "blocked", /TODO 1 is empty/],
  ["## TODO\n- [ ]\n  what it is about\n", "todo", ""],
  ["## TODO\n- [ ] a\n  after: 1\n", "blocked", /circular/],
  ["## TODO\n- [ ] a\n  after: 3\n- [ ] b\n  after: 1\n- [ ] c\n  after: 2\n", "blocked", /TODO 1 .*circular/],
  ["## TODO\n- [ ] a\n  after: 2\n- [ ] b\n  after: 3\n- [ ] c\n  after: 2\n", "blocked", /TODO 2 .*circular/],
];
for (const [text, kind, detail] of next) {
  test(`next of ${JSON.stringify(text)} is ${kind}`, () => {
    const found = nextTodo(parsePlan(text));
    assert.equal(found.kind, kind);
    if (found.kind === "todo") assert.equal(found.todo.text, detail);
    if (found.kind === "blocked") assert.match(found.reason, detail as RegExp);
    if (found.kind === "blocked") assert.equal(found.cause === "empty", /is empty/.test(found.reason));
  });
}

test("10,000 TODOs that wait in a chain are one pass, and hostile text is linear", () => {
  const lines = Array.from({ length: 10_000 }, (_, at) => `- [ ] step ${at}\n  after: ${at + 2}\n`);
  const chain = parsePlan(`## TODO\n${lines.join("")}- [ ] last\n`);
  let looks = 0;
  const counted = chain.todos.map((todo) => ({
    ...todo,
    get settings() {
      looks += 1;
      return todo.settings;
    },
  }));
  const found = nextTodo({ todos: counted });
  assert.equal(found.kind === "todo" && found.todo.text, "last");
  assert.ok(looks <= 2 * counted.length, `${looks} looks at ${counted.length} TODOs`);
  assert.equal(parsePlan(`## TODO\n- [ ] a ${"*a_ [x](".repeat(20_000)}\n`).todos.length, 1);
  const deep = Array.from({ length: 1500 }, (_, at) => `${"  ".repeat(at)}- a\n`).join("");
  assert.equal(parsePlan(`## TODO\n- [ ] a\n\n## Notes\n${deep}`).todos.length, 1);
  assert.equal(parsePlan(`## TODO\n${"> ".repeat(5000)}\n\n- [ ] a\n`).todos.length, 1);
  assert.equal(parsePlan(`## TODO\n- [ ] a ${"<!--".repeat(50_000)}-->\n`).todos.length, 1);
});

test("any text is read without throwing, and offsets point at markers", () => {
  fc.assert(
    fc.property(fc.oneof(anyPlan, fc.string({ unit: "binary", maxLength: 200 })), (text) => {
      const doc = parsePlan(text);
      nextTodo(doc);
      for (const todo of doc.todos)
        assert.match(text.slice(todo.markerOffset - 1, todo.markerOffset + 2), /^\[[ xXbB]\]$/);
      for (const section of doc.sections) {
        assert.ok(section.start < section.bodyStart && section.bodyStart <= section.end && section.end <= text.length);
      }
      assert.equal(new Set(doc.todos.map((todo) => todo.id)).size, doc.todos.length);
    }),
    { numRuns: samples(2000) },
  );
});
