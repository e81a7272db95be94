import assert from "node:assert/strict";
import { test } from "node:test";
import type { Nodes } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { plainText } from "../../../src/plan/markdown/plain-text.ts";

function shown(node: Nodes): string {
  if (node.type === "text" || node.type === "inlineCode") return node.value;
  return "children" in node ? node.children.map(shown).join("") : "";
}

const LINES = [
  "TODO",
  "**TODO**",
  "***TODO***",
  "*TODO*:",
  "__Depends__ on",
  "`add-login`",
  "``a ` b``",
  "` x `",
  "[Other plan](https://example.com)",
  '[a](b "title") and [c](<d e>)',
  "[a](b(c)d)",
  "[**bold** link](x)",
  "[no link]",
  "[no] (link)",
  "![picture](x.png) words",
  "snake_case_name",
  "2 * 3 * 4",
  "a \\* b \\[c\\]",
  "R&amp;D &lt;x&gt;",
  "AT&T &bogus",
  "<https://example.com>",
  "a <b>c</b> d",
  "a < b > c",
  "*open",
  "close*",
  "`open",
  "**a** *b*",
  "a*b*c",
  "",
];
for (const line of LINES)
  test(`plain text of ${line}`, () => assert.equal(plainText(line), shown(fromMarkdown(`# ${line}`)).trim()));

test("a line that is too long for a name is taken as it is written", () => {
  const line = `**${"a".repeat(1000)}**`;
  assert.equal(plainText(line), line);
});
