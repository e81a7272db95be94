import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { planFromIssue, withTodos } from "../../../src/plan/checklists/as-plan.ts";
import {
  type Checklist,
  checklistUnder,
  misspeltBoxes,
  readChecklist,
  unticked,
} from "../../../src/plan/checklists/checklist.ts";
import { headingKind } from "../../../src/plan/checklists/heading-words.ts";
import { parsePlan } from "../../../src/plan/markdown/markdown.ts";
import { BODIES_WITH_TODOS } from "./bodies.ts";
import { BODIES_OF_FORMS } from "./bodies-of-forms.ts";
import { BODIES_OF_LABELS } from "./bodies-of-labels.ts";
import { BODIES_WITHOUT } from "./bodies-without.ts";

const BODIES = [...BODIES_WITH_TODOS, ...BODIES_OF_FORMS, ...BODIES_OF_LABELS, ...BODIES_WITHOUT];

const boxesIn = (found: Checklist): string[] =>
  found.kind === "none" ? [] : found.groups.flatMap(({ boxes }) => boxes.map(({ text }) => text));

describe("the checkboxes of an issue", () => {
  for (const { name, text, kind, found: expected, leftOut } of BODIES) {
    it(`${kind}: ${name}`, () => {
      const found = readChecklist(text);
      assert.equal(found.kind, kind, JSON.stringify(found));
      const words = found.kind === "unclear" ? found.groups.map(({ heading }) => heading) : boxesIn(found);
      assert.deepEqual(words, expected);
      assert.deepEqual(
        found.leftOut.map(({ heading, count, why }) => [heading, count, why]),
        leftOut,
      );
    });
  }

  for (const [kind, headings] of [
    [
      "out-of-scope",
      "Not needed, What not to do, No changes needed, What we don't do, Not in this PR, No longer needed, Excluded, Cancelled tasks, Pas à faire, Nicht zu tun, やらないこと",
    ],
    [
      "criteria",
      "Done if, Fertig wenn, Closing criteria, Definición de terminado, Définition du fini, Критерии готовности, 完了の定義",
    ],
    ["other", "Not done yet, Don't forget, Tests that do not pass, Things that don't work, Ready for review"],
  ] as const)
    it(`below headings that say ${kind} are just that`, () => {
      for (const heading of headings.split(", ")) assert.equal(headingKind(heading), kind, heading);
    });

  it("are the TODOs of the plan that it becomes, with their ticks, and once", () => {
    for (const { text, kind } of BODIES) {
      const plan = planFromIssue(text);
      const found = readChecklist(text);
      if (kind === "unclear" || kind === "none") {
        assert.equal(plan, text);
        continue;
      }
      const { todos } = parsePlan(plan);
      assert.deepEqual(
        todos.map((todo) => [todo.text, todo.state]),
        found.kind === "none" ? [] : found.groups.flatMap(({ boxes }) => boxes.map((box) => [box.text, box.state])),
      );
      assert.equal(planFromIssue(plan), plan, "a plan stays what it is");
      for (const box of boxesIn(found)) assert.equal(plan.split(`] ${box}`).length, 2, `${box} once`);
    }
  });

  it("keep what only looks like a comment", () => {
    const found = readChecklist("## Tasks\n- [ ] Show `<!-- x -->`\n- [ ] Take <!-- as text\n");
    assert.deepEqual(boxesIn(found), ["Show `<!-- x -->`", "Take <!-- as text"]);
  });

  it("tell which part they belong to", () => {
    const plan = planFromIssue(
      "## Tasks\n\n### Server\n1. API\n   - [ ] Route\n     as JSON\n\n### Page\n- [ ] Button\n",
    );
    const { todos, sections } = parsePlan(plan);
    assert.deepEqual(
      todos.map(({ context }) => context),
      ["Part of: Server › API\nas JSON", "Part of: Page"],
    );
    assert.deepEqual(sections.map(({ heading }) => heading).at(-1), "TODO");
  });

  it("leave everything else as it is, and no heading that is empty then", () => {
    const plan = planFromIssue(
      "# Export\n\nAs CSV.\n\n### Tasks\n\n- [ ] Header line\n- [x] Quotes\n\n### Notes\n\nSee RFC 4180.\n",
    );
    assert.equal(
      plan,
      "# Export\n\nAs CSV.\n\n### Notes\n\nSee RFC 4180.\n\n## TODO\n\n- [ ] Header line\n- [x] Quotes\n",
    );
  });

  it("leave no label that is empty then, whatever follows it", () => {
    for (const after of ["**Notes**\n\nSee RFC 4180.", "Thanks!"])
      assert.equal(
        planFromIssue(`As CSV.\n\n**Tasks**\n\n- [ ] Quotes\n\n${after}\n`),
        `As CSV.\n\n${after}\n\n## TODO\n\n- [ ] Quotes\n`,
      );
  });

  it("that are almost some are found, by their lines, and no links and no code", () => {
    const almost = ["- []  a", "- [ ]b", "-[ ] c", "- [ x ] d", "- [*] e", "1. []", "  - [ ]f"];
    for (const line of almost) assert.deepEqual(misspeltBoxes(`- [ ] good\n\n${line}\n`), [3], line);
    for (const line of ["- [ ] x", "- [](x)", "- [x](y)", "```\n- []\n```", "a [ ] b", "- word"])
      assert.deepEqual(misspeltBoxes(`- [x] good\n\n${line}\n`), [], line);
  });

  it("of several headings are taken together, in the order of the text", () => {
    const body = "## Backend\n- [ ] Route\n\n## Frontend\n- [ ] Button\n";
    const both = checklistUnder(body, "frontend", "Backend", "Frontend");
    assert.deepEqual(both && boxesIn(both), ["Route", "Button"]);
    assert.equal(checklistUnder(body, "Backend", "Middle"), undefined);
  });

  it("leave a label or heading that says more than that there is work", () => {
    for (const said of [
      "Uploads fail when the disk is full. To fix it:",
      "## Never share the cache",
      "## Tasks (only in src)",
      "**Do not change the API**",
    ])
      assert.equal(planFromIssue(`${said}\n\n- [ ] Retry\n`), `${said}\n\n## TODO\n\n- [ ] Retry\n`);
    const parts = ["[Server](https://example.org/spec)", "Page", "Guide"];
    const plan = planFromIssue(parts.map((part) => `## ${part}\n- [ ] Do ${part.length}\n`).join("\n"));
    assert.match(plan, /^## \[Server\]\(https:\/\/example\.org\/spec\)\n\n## TODO\n/);
  });

  it("leave the title where it is", () => {
    assert.equal(parsePlan(planFromIssue("# Dark mode\n\n- [ ] Colours\n")).title, "Dark mode");
  });

  it("are those that a person names", () => {
    const text = "## Goals\n- [ ] Be fast\n\n## Acceptance criteria\n- [ ] Has a test\n";
    const named = checklistUnder(text, "acceptance criteria:");
    assert.deepEqual([named?.kind, named && boxesIn(named)], ["todos", ["Has a test"]]);
    assert.equal(checklistUnder(text, "Chores"), undefined);
    const nested =
      "## Plan\n\n### First tasks\n- [ ] One\n\n### Second tasks\n- [ ] Two\n\n### Acceptance\n- [ ] Three\n";
    const all = checklistUnder(nested, "plan");
    assert.deepEqual([all?.kind, all && boxesIn(all)], ["todos", ["One", "Two"]]);
    const plain = "## Plan\n\n1. Parse it\n   line by line\n2. Print it\n";
    const listed = checklistUnder(plain, "plan");
    assert.deepEqual([listed?.kind, listed && boxesIn(listed)], ["todos", ["Parse it", "Print it"]]);
    const made = listed?.kind === "todos" ? withTodos(plain, listed.groups) : undefined;
    assert.equal(made, "## TODO\n\n- [ ] Parse it\n  line by line\n- [ ] Print it\n");
    assert.deepEqual(unticked(plain), [{ heading: "Plan", count: 2 }]);
  });

  it("are those of a single part of the work that a person names", () => {
    const text = "## Tasks\n\n### Backend\n- [ ] Route\n- [x] Table\n\n### Frontend\n- [ ] Button\n";
    const under = (...headings: string[]) => {
      const found = checklistUnder(text, ...headings);
      const groups = found?.kind === "todos" ? found.groups : [];
      return { boxes: groups.map((group) => [group.heading, ...group.boxes.map((box) => box.text)]), found, groups };
    };
    const { boxes, found, groups } = under("backend");
    assert.deepEqual(boxes, [["Backend", "Route", "Table"]]);
    assert.deepEqual(found?.leftOut, [{ heading: "Tasks", count: 1, why: "another group" }]);
    const made = withTodos(text, groups);
    assert.equal(
      made,
      "## Tasks\n\n### Backend\n\n### Frontend\n- [ ] Button\n\n## TODO\n\n- [ ] Route\n- [x] Table\n",
    );
    // What is named twice is taken once.
    assert.deepEqual(under("Frontend", "Tasks").boxes.flat().sort(), ["Button", "Frontend", "Route", "Table", "Tasks"]);
    assert.deepEqual(under("Frontend", "Tasks").found?.leftOut, []);
    const plain = checklistUnder("## Plan\n### First\n- Parse\n### Then\n- Print\n", "then");
    assert.deepEqual(plain && boxesIn(plain), ["Print"]);
    assert.equal(checklistUnder(text, "Chores"), undefined);
  });

  it("do not waive what is checked, nor hide what follows", () => {
    const plan = planFromIssue("## Tasks\n- [ ] Route\n  expects: none\n- [ ] Button\n\n```\nnever closed\n");
    const { todos } = parsePlan(plan);
    assert.deepEqual(
      todos.map(({ text, settings }) => [text, settings]),
      [
        ["Route", {}],
        ["Button", {}],
      ],
    );
  });

  it("say the words above them only in part where these are long", () => {
    const long = "word ".repeat(20_000);
    const boxes = (count: number, indent: string) =>
      Array.from({ length: count }, (_unused, at) => `${indent}- [ ] Do ${at}\n`).join("");
    for (const text of [
      `## ${long}\n${boxes(900, "")}\n## Page\n- [ ] Button\n\n## Guide\n- [ ] Chapter\n`,
      `## Tasks\n\n${long}:\n\n${boxes(900, "")}`,
      `## Tasks\n- ${long}\n${boxes(900, "  ")}`,
    ]) {
      const plan = planFromIssue(text);
      assert.ok(plan.length < 3 * text.length, `${plan.length}`);
      assert.ok(plan.includes(long.trim()) && parsePlan(plan).todos.length >= 900);
    }
    assert.doesNotMatch(planFromIssue(`## Tasks\n\n${long}:\n\n${boxes(5000, "")}`), /## TODO/);
  });

  it("of a text that swallows everything stay where they are", () => {
    const open = "- [ ] Route\n<!--";
    const found = readChecklist(open);
    assert.ok(found.kind === "todos");
    const plan = withTodos(open, found.groups);
    assert.ok(plan === undefined || parsePlan(plan).todos.length === 1);
  });
});
