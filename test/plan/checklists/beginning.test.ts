import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { beginningOf } from "../../../src/plan/checklists/beginning.ts";

const FORM = "---\nname: Feature request\nabout: Suggest an idea\ntitle: 'Dark mode'\nlabels:\n  - idea\n---\n";

describe("what a text begins with", () => {
  const table: readonly [name: string, text: string, title: string | undefined, rest: string][] = [
    ["front matter with a title", `${FORM}\n- [ ] a\n`, "Dark mode", "\n- [ ] a\n"],
    ["front matter above a heading", `${FORM}# Night\n\n- [ ] a\n`, undefined, "# Night\n\n- [ ] a\n"],
    [
      "a line by itself",
      "Users cannot log out\n\nThe button does nothing.\n",
      "Users cannot log out",
      "The button does nothing.\n",
    ],
    ["a bold line", "**The bug**\n\nText\n", undefined, "**The bug**\n\nText\n"],
    ["what names a list", "Shopping list\n\n- [ ] a\n", undefined, "Shopping list\n\n- [ ] a\n"],
    ["a sentence", "It crashes.\n\nOften.\n", undefined, "It crashes.\n\nOften.\n"],
    ["a label", "Steps:\n\n- [ ] a\n", undefined, "Steps:\n\n- [ ] a\n"],
    ["two lines", "It crashes\nand burns\n\nOften.\n", undefined, "It crashes\nand burns\n\nOften.\n"],
    ["one line alone", "Users cannot log out\n", undefined, "Users cannot log out\n"],
    ["a rule", "---\nwords of a person\n---\n\nText\n", undefined, "---\nwords of a person\n---\n\nText\n"],
    ["a plan of ours", `${FORM}\n## TODO\n\n- [ ] a\n`, undefined, `${FORM}\n## TODO\n\n- [ ] a\n`],
  ];
  for (const [name, text, title, rest] of table)
    it(name, () => {
      const found = beginningOf(text);
      assert.deepEqual([found.title, found.rest], [title, rest]);
    });

  it("is no title where there is another", () => {
    const text = "Hi everyone\n\nThe button does nothing.\n";
    assert.deepEqual(beginningOf(text, { hasTitle: true }), { rest: text, frontMatter: [] });
  });
});
