import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { PrloomError } from "../../../src/kernel/errors.ts";
import { addTodoContext, appendTracedTodos, LOG_HEADINGS, sectionBody } from "../../../src/plan/edit-plan.ts";
import { parsePlan, todoTitle } from "../../../src/plan/markdown/markdown.ts";
import { hasProvenance } from "../../../src/plan/todos/provenance.ts";
import { mergeUpsert, retitled } from "../../../src/plan/upserts/merge-upsert.ts";
import { samples } from "../../testing/sample.ts";
import { anyPlan } from "../arbitrary-plans.ts";

const todosOf = (text: string) => parsePlan(text).todos.map((todo) => `${todo.state} ${todo.text}`);
const idOf = (text: string, index: number) => parsePlan(text).todos[index]?.id ?? "missing";

const CURRENT = `## Title

Login

## TODO

- [x] first
- [ ] second
- [b] third
  reason: no key
- [ ] asked <!-- from e-1 by ann -->

## Approach

The old way.

## Progress Log

- did first
`;

test("what was done stays, what is new comes, what vanished goes, and the rest follows the incoming text", () => {
  const incoming =
    "## Title\n\nLogin page\n\n## TODO\n\n- [ ] zero\n- [ ] first\n- [ ] fourth\n\n## Approach\n\nThe new way.\n";
  assert.equal(
    mergeUpsert(CURRENT, incoming),
    `## Title

Login page

## TODO

- [ ] zero
- [x] first
- [ ] fourth
- [ ] asked <!-- from e-1 by ann -->

## Approach

The new way.

## Progress Log

- did first
`,
  );
});

const tables: [name: string, current: string, incoming: string, todos: string[]][] = [
  ["a ticked one that vanished", "## TODO\n- [x] a\n- [ ] b\n", "## TODO\n- [ ] b\n", ["open b", "done a"]],
  ["[b] on both sides", "## TODO\n- [b] a\n", "x\n## TODO\n- [ ] a\n", ["blocked a"]],
  ["[b] that vanished", "## TODO\n- [b] a\n- [ ] b\n", "## TODO\n- [ ] b\n", ["open b"]],
  ["ticked outside", "## TODO\n- [ ] a\n", "## TODO\n- [x] a\n", ["done a"]],
  ["another bullet and case", "## TODO\n* [x] A  b\n", "## TODO\n- [ ] a b\n", ["done a b"]],
  ["equals", "## TODO\n- [ ] a\n- [x] a\n", "## TODO\n- [ ] b\n- [ ] a\n", ["open b", "open a", "done a"]],
  [
    "provenance and no comment outside",
    "## TODO\n- [x] a <!-- from e by f -->\n",
    "## TODO\n- [ ] a\n",
    ["done a <!-- from e by f -->"],
  ],
  [
    "asked for, and not outside",
    "## TODO\n- [x] a\n- [ ] b\n  <!-- from e by f -->\n",
    "## TODO\n- [ ] c\n",
    ["open c", "done a", "open b"],
  ],
  ["an empty TODO section", "## TODO\n- [ ] a\n- [x] b\n", "## TODO\n\ntext\n", ["done b"]],
  ["no TODO section", "## TODO\n- [ ] a\n- [x] b\n", "only words\n", ["open a", "done b"]],
  ["numbers", "## TODO\n1. [x] a\n2. [ ] b\n", "## TODO\n1. [ ] c\n", ["open c", "done a"]],
  ["an open fence outside", "## TODO\n- [x] a\n", "## TODO\n- [ ] b\n\n```\nopen\n", ["open b", "done a"]],
];
for (const [name, current, incoming, todos] of tables) {
  test(`merged TODOs: ${name}`, () => {
    const result = mergeUpsert(current, incoming);
    assert.deepEqual(todosOf(result), todos);
    assert.equal(mergeUpsert(result, incoming), result);
  });
}

test("`after: 2` still means the second TODO of the incoming text", () => {
  const incoming = "## TODO\n- [ ] one\n- [ ] two\n- [ ] three\n  after: 2\n";
  const doc = parsePlan(mergeUpsert("## TODO\n- [x] old\n", incoming));
  assert.deepEqual(doc.todos[2]?.settings.after, [2]);
  assert.equal(doc.todos[1]?.text, "two");
});

test("what a person said to a TODO stays with it", () => {
  const plan = "## TODO\n- [ ] a\n  old words\n- [ ] b\n";
  const said = addTodoContext(plan, idOf(plan, 0), ["Comment by ann:", "> blue", "> please"], "local-1");
  const twice = addTodoContext(said, idOf(said, 0), ["Comment by bob:", "> no, red"], "local-2");
  const result = mergeUpsert(twice, "## TODO\n1. [ ] a\n   new words\n2. [ ] c\n");
  assert.equal(
    parsePlan(result).todos[0]?.context,
    "new words\n\nComment by ann:\n> blue\n> please\n<!-- local-1 -->\n\nComment by bob:\n> no, red\n<!-- local-2 -->",
  );
  assert.deepEqual(todosOf(result), ["open a", "open c"]);
  assert.equal(mergeUpsert(result, "## TODO\n1. [ ] a\n   new words\n2. [ ] c\n"), result);
});

test("logs stay as they are, wherever the incoming text has them or not", () => {
  const current = "## Decision Log\n\n- chose x\n\n## TODO\n- [ ] a\n\n## Progress Log\n- new line\n";
  const incoming = "## Progress Log\n- stale\n\n## TODO\n- [ ] a\n\n## Implementation Notes\n\nfrom outside\n";
  assert.equal(
    mergeUpsert(current, incoming),
    "## Progress Log\n- new line\n\n## TODO\n- [ ] a\n\n## Implementation Notes\n\nfrom outside\n\n## Decision Log\n\n- chose x\n",
  );
});

test("a log that leaves a code fence open swallows nothing", () => {
  const current = "## TODO\n- [x] a\n\n## Decision Log\n\n```\nopen\n";
  const incoming = "## Decision Log\n\nx\n\n## TODO\n\n- [ ] a\n- [ ] b\n";
  const result = mergeUpsert(current, incoming);
  assert.deepEqual(todosOf(result), ["done a", "open b"]);
  assert.match(sectionBody(result, "Decision Log") ?? "", /^```\nopen/);
});

test("the line breaks and the byte order mark of the current text are kept", () => {
  const current = "\uFEFF## TODO\r\n- [x] a\r\n";
  assert.equal(mergeUpsert(current, "## TODO\n- [ ] a\n"), current);
  assert.equal(mergeUpsert(current, "## TODO\n- [ ] b\n"), "\uFEFF## TODO\r\n- [ ] b\r\n- [x] a\r\n");
  const mixed = "## TODO\r\n- [x] a\n- [ ] b\r\n";
  assert.equal(mergeUpsert(mixed, "## TODO\n- [ ] a\n- [ ] b\n"), mixed);
});

test("a title is reworded where it stands, and only there", () => {
  assert.equal(
    retitled("## Title\r\n\r\nOld\r\n\r\n## TODO\r\n", "New  one"),
    "## Title\r\n\r\nNew one\r\n\r\n## TODO\r\n",
  );
  assert.equal(retitled("## Title\n\nOld\n", "# hash"), "## Title\n\n\\# hash\n");
  assert.equal(retitled("# Old\n\n## TODO\n", "New"), "# New\n\n## TODO\n");
  assert.equal(retitled("Intro\n\nOld\nname\n===\n", "New"), "Intro\n\nNew\n===\n");
  assert.equal(retitled("# Old #\n# Other\n", "New # 2"), "# New # 2 #\n# Other\n");
  assert.equal(retitled("words\n", "New"), "words\n");
});

const todoPlan = fc
  .record({
    intro: fc.constantFrom("", "Words\n\n", "## Title\n\nT\n\n"),
    todos: fc.array(
      fc.tuple(
        fc.constantFrom("- [ ]", "- [x]", "- [b]", "* [ ]", "* [X]", "1. [ ]", "2. [x]"),
        fc.constantFrom("a", "b", "c", "d <!-- from e-1 by ann -->", "d", "e <!-- from e-2 by bob -->", "f"),
        fc.constantFrom(
          "",
          "\n   <!-- from e-3 by cat -->",
          "\n   <!-- from e-4 by dan -->\n   more",
          "\n  context",
          "\n\n   more\n   lines",
          "\n  Comment by x:\n  > y\n  <!-- c-1 -->",
        ),
      ),
      { maxLength: 7 },
    ),
    logs: fc.subarray(["## Progress Log\n\n- p\n", "## Decision Log\n- d\n", "## Implementation Notes\n\nn\n"]),
    crlf: fc.boolean(),
  })
  .map(({ intro, todos, logs, crlf }) => {
    const items = todos.map(([mark, text, context]) => `${mark} ${text}${context}\n`).join("");
    const text = `${intro}${items === "" ? "" : `## TODO\n\n${items}\n`}${logs.join("\n")}`;
    return crlf ? text.replaceAll("\n", "\r\n") : text;
  });

function orRefused(merge: () => string): string | undefined {
  try {
    return merge();
  } catch (error) {
    assert.ok(error instanceof PrloomError && error.code === "plan-invalid", String(error));
    return undefined;
  }
}

/** How many ticked TODOs there are of each text; equal ones are interchangeable. */
function ticked(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const todo of parsePlan(text).todos) {
    const hash = todo.id.split("-")[0] ?? "";
    if (todo.state === "done") counts.set(hash, (counts.get(hash) ?? 0) + 1);
  }
  return counts;
}

function holds(current: string, incoming: string, result: string): void {
  assert.equal(mergeUpsert(result, incoming), result, "merging the same again changes nothing");
  const now = ticked(result);
  for (const [hash, count] of ticked(current)) assert.ok((now.get(hash) ?? 0) >= count, "a tick was lost");
  const ids = new Set(parsePlan(result).todos.map((todo) => todo.id));
  for (const todo of parsePlan(incoming).todos) assert.ok(ids.has(todo.id), `TODO "${todo.text}" is missing`);
  for (const heading of LOG_HEADINGS) {
    const log = sectionBody(current, heading)?.replace(/\r\n?/g, "\n");
    if (log !== undefined) assert.ok(sectionBody(result, heading)?.replace(/\r\n?/g, "\n").startsWith(log), heading);
  }
  const texts = new Set(parsePlan(result).todos.map((todo) => todo.text));
  for (const { text } of parsePlan(current).todos) {
    if (/<!-- from \S+ by \S+ -->$/.test(text)) assert.ok(texts.has(text), "a TODO of triage was lost");
  }
  const asked = new Set(parsePlan(result).todos.filter(hasProvenance).map(todoTitle));
  for (const todo of parsePlan(current).todos.filter(hasProvenance)) {
    assert.ok(asked.has(todoTitle(todo)), "where a TODO came from was lost");
  }
}

test("property: plans as people write them can always be merged", () => {
  fc.assert(
    fc.property(todoPlan, todoPlan, (current, incoming) => {
      const result = mergeUpsert(current, incoming);
      holds(current, incoming, result);
      assert.equal(mergeUpsert(current, current), current);
      if (/\r\n/.test(current) && result !== current) assert.doesNotMatch(result, /[^\r]\n/);
    }),
    { numRuns: samples(200) },
  );
});

test("property: whatever the texts are, a merge keeps its promises or is refused", () => {
  let refused = 0;
  let merged = 0;
  fc.assert(
    fc.property(anyPlan, anyPlan, (current, incoming) => {
      assert.equal(mergeUpsert(current, current), current);
      const result = orRefused(() => mergeUpsert(current, incoming));
      if (result === undefined) {
        refused += 1;
        return;
      }
      merged += 1;
      holds(current, incoming, result);
    }),
    { numRuns: samples(500) },
  );
  assert.ok(refused * 20 < merged, `${refused} of ${merged + refused} were refused`);
});

test("TODOs that triage adds after a merge are there once", () => {
  const todo = { text: "new", from: [{ eventId: "e-9", author: "ann" }] };
  const once = mergeUpsert(appendTracedTodos(CURRENT, [todo]), "## TODO\n- [ ] first\n");
  assert.equal(appendTracedTodos(once, [todo]), once);
});
