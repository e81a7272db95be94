import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parsePlan } from "../src/plan/markdown/markdown.ts";
import { appendTodos, type EventAuthor, mayWrite, type PluginEvent } from "../src/plugin.ts";

const base = { id: "e1", source: "local", severity: "info", title: "", body: "" } as const;
const comment = (author: EventAuthor): PluginEvent => ({ ...base, type: "comment", context: { author } });

describe("mayWrite", () => {
  for (const [permission, may] of Object.entries({
    none: false,
    read: false,
    triage: false,
    write: true,
    maintain: true,
    admin: true,
  }) as [EventAuthor["permission"], boolean][]) {
    it(`is ${may} for an author with ${permission}`, () => {
      assert.equal(mayWrite(comment({ login: "ann", permission })), may);
    });
  }

  it("is false for what prloom wrote itself, and where no author is named", () => {
    assert.equal(mayWrite(comment({ login: "bot", permission: "admin", self: true })), false);
    assert.equal(mayWrite({ ...base, type: "build.failed" }), false);
    assert.equal(mayWrite({ ...base, type: "build.failed", context: { branch: "main" } }), false);
    const author = { login: "bot", permission: "admin" } as const;
    assert.equal(mayWrite({ ...base, type: "comment", context: { author, ownLogin: "bot" } }), false);
    assert.equal(mayWrite({ ...base, type: "tracker.comment", context: { author, ownLogin: "bot" } }), false);
    assert.equal(mayWrite(comment({ login: "odd", permission: "owner" as never })), false);
  });
});

describe("appendTodos", () => {
  const PLAN =
    "# A plan\n\n## TODO\n\n- [x] One\n  ```\n  ## not a section\n  ```\n\n## Notes\n\n- [ ] none of the TODOs\n";

  it("adds TODOs at the end of the TODO section, with what is to stand below them", () => {
    const plan = appendTodos(PLAN, ["Two", { text: "Three", context: "Mind the gap." }]);
    const { todos } = parsePlan(plan);
    assert.deepEqual(
      todos.map(({ text, state, context }) => [text, state, context]),
      [
        ...parsePlan(PLAN).todos.map(({ context }) => ["One", "done", context]),
        ["Two", "open", ""],
        ["Three", "open", "Mind the gap."],
      ],
    );
    assert.ok(plan.endsWith(PLAN.slice(PLAN.indexOf("## Notes"))));
  });

  it("adds no TODO that the plan has, ticked or not, nor one twice", () => {
    assert.equal(appendTodos(PLAN, ["One", "- [ ] One"]), PLAN);
    const once = appendTodos(PLAN, ["Two", "  Two "]);
    assert.equal(parsePlan(once).todos.length, 2);
    assert.equal(appendTodos(once, ["Two"]), once);
  });

  it("makes the section where there is none, and leaves a plan alone that gets nothing", () => {
    assert.equal(appendTodos("# A plan\n", ["One"]), "# A plan\n\n## TODO\n\n- [ ] One\n");
    assert.equal(appendTodos(PLAN, []), PLAN);
  });
});
