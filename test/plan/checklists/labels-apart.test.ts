import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readChecklist } from "../../../src/plan/checklists/checklist.ts";
import { withLabelsApart } from "../../../src/plan/checklists/labels-apart.ts";

describe("labels that follow an item right away", () => {
  it("begin groups", () => {
    const table: [text: string, todos: string[], why: string][] = [
      ["Tasks:\n- [ ] one\n- [ ] two\nOut of scope:\n- [ ] three\n", ["one", "two"], "out of scope"],
      ["**Tasks**\r\n- [ ] one\r\n**Acceptance criteria**\r\n- [ ] two\r\n", ["one"], "conditions"],
      ["**Tasks**\n1. [ ] one\n**Won't do:**\n2. [ ] two\n", ["one"], "out of scope"],
      ["Tasks:\n- [ ] one\n  - with care\nOut of scope:\n- [ ] two\n", ["one"], "out of scope"],
      ["**Tasks**\n- [ ] one\n\n  with care\n**Won't do**\n- [ ] two\n", ["one"], "out of scope"],
      ["Tasks\n- [ ] one\nAcceptance criteria\n- [ ] two\n", ["one"], "conditions"],
      ["Out of scope\n- [ ] two\nTasks\n- [ ] one\n", ["one"], "out of scope"],
      ["Out of scope:\n- [ ] two\n- mobile\nTasks:\n- [ ] one\n", ["one"], "out of scope"],
      ["Tasks:\n- [ ] one\n  - [ ] inner\nLater:\n- [ ] two\n", ["one"], "out of scope"],
    ];
    for (const [text, todos, why] of table) {
      const found = readChecklist(withLabelsApart(text));
      assert.ok(found.kind === "todos", text);
      assert.deepEqual(
        found.groups.flatMap(({ boxes }) => boxes.map((box) => box.text)),
        todos,
      );
      assert.deepEqual(
        found.leftOut.map((left) => left.why),
        [why],
      );
    }
  });

  it("begin groups behind items that are no tasks", () => {
    for (const label of [
      "Steps to reproduce:\n1. open",
      "**Acceptance criteria**\n- it is fast",
      "Out of scope:\n- mobile",
    ]) {
      const found = readChecklist(withLabelsApart(`${label}\n**Tasks**\n- [ ] one\n`));
      assert.deepEqual([found.kind, found.leftOut], ["todos", []], label);
    }
  });

  it("are what they were where they are none", () => {
    for (const text of [
      "- [ ] one\n  Note:\n- [ ] two\n",
      "- [ ] one\nSubtasks:\n  - [ ] a\n  - [ ] b\n- [ ] two\n",
      "- [ ] one\n**Files:**\n  - a.ts\n- [ ] two\nFiles:\n  - b.ts\n",
      "- [ ] one\n  - a.ts\nTests:\n  - a.test.ts\n- [ ] two\n",
      "- [ ] one\nthanks\n- [ ] two\n",
      "- [ ] one\nThanks\n- [ ] two\n",
      "- [ ] split the\ntasks\n- [ ] move the rest\nout of scope\n- [ ] two\n",
      "- [ ] one\nwhich is to be done before any of these:\n- [ ] two\n",
      "```\n- [ ] one\nLater:\n- [ ] two\n```\n",
      "## TODO\n- [ ] one\nLater:\n- [ ] two\n",
    ])
      assert.equal(withLabelsApart(text), text);
  });
});
