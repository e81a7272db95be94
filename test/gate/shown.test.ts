import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { difference, gatePost, revealed } from "../../src/gate/shown.ts";
import { blocksOf } from "../../src/plan/markdown/blocks.ts";
import { THOROUGH } from "../testing/thorough.ts";

const post = (text: string, since?: string): string =>
  gatePost({
    ...{ planId: "shop", gateId: "G", digest: "0123456789abcdef", isFirst: true, isAdvisory: false, text },
    ...(since === undefined ? {} : { since: { text: since, what: "the last time" } }),
  });

test("what cannot be seen is written out", () => {
  assert.equal(revealed("a\u200bb\u202ec\u0000\u001b[1m\r\n\tx"), "a\\u{200b}b\\u{202e}c\\u{0}\\u{1b}[1m\n\tx");
});

test("what is hidden in variants of a letter, fillers, odd spaces and halves of characters is written out, too", () => {
  const hidden = [
    "\u034f",
    "\ufe0f",
    "\u{e0100}",
    "\u17b4",
    "\u2800",
    "\u2028",
    "\u2029",
    "\u00a0",
    "\u2003",
    "\ud800",
    "\ue000",
    "\u{1d159}",
    "\u{13441}",
  ];
  for (const char of hidden) assert.match(revealed(`a${char}b`), /^a\\u\{[0-9a-f]+\}b$/);
  assert.equal(revealed("Grüße, 你好 👍 é\n\tx"), "Grüße, 你好 👍 é\n\tx");
});

test("blanks that would push words out of sight are written out, and others are not", () => {
  for (const row of [" ".repeat(80), "\t".repeat(10), " \t".repeat(9)]) {
    const seen = revealed(`- [ ] fix a word${row}and delete the tests`);
    assert.match(seen, /^- \[ \] fix a word(?:\\u\{(?:20|9)\})+and delete the tests$/);
  }
  const table = `| a${" ".repeat(60)}| b |${" ".repeat(300_000)}\n${"\t".repeat(4)}c`;
  assert.equal(revealed(table), table);
});

test("the settings that are approved with the plan are shown", () => {
  const shown = { planId: "shop", gateId: "G", digest: "0", text: "a", isFirst: true, isAdvisory: false };
  assert.match(
    gatePost({ ...shown, settings: { agent: "wild" } }),
    /Its own settings:\n\n```json\n\{\n {2}"agent": "wild"\n\}\n```/,
  );
  assert.doesNotMatch(gatePost({ ...shown, settings: {} }), /settings/);
});

test("comments, addresses and fences of the plan are shown as source, whatever is in it", () => {
  const hostile = fc.string({
    unit: fc.constantFrom("`", "```", "~~~", "\n", "<!--", "-->", "a", "- [ ] x", "\u200b", "> ", "    "),
    maxLength: 60,
  });
  fc.assert(
    fc.property(hostile, (text) => {
      const body = post(text);
      const [lead, plan, ...rest] = blocksOf(body);
      assert.equal(lead?.type, "paragraph");
      assert.equal(plan?.type, "code");
      const inside = body.slice(plan?.start, plan?.end).split("\n").slice(1, -1).join("\n");
      assert.equal(inside, revealed(text).replace(/\n+$/, ""));
      assert.ok(rest.every(({ type }) => type === "paragraph" || type === "code"));
    }),
  );
});

test("what changed is shown line by line, and not at all where nothing did", () => {
  assert.match(
    post("a\nb\n", "a\nc\n"),
    /What changed since the last time:\n\n```diff\n@@ -1,2 \+1,2 @@\n a\n-c\n\+b\n```/,
  );
  assert.doesNotMatch(post("a\n", "a\n"), /What changed/);
  const lines = THOROUGH ? 20_000 : 1000;
  assert.equal(difference("x\n".repeat(lines), "y\n".repeat(lines)).split("\n").length > lines, true);
});

test("a plan may have as many rows of backticks as fit into it", () => {
  assert.match(post("`a``b".repeat(90_000)), /\n````?markdown\n`a``b`a/);
});

test("texts that have little in common are compared within a second, and nothing that went is passed over", () => {
  const text = "## TODO\n\n- [ ] a\n".repeat(9900);
  const [was, is] = [`first\n${text}last\n`, `first\n${text.split("\n").reverse().join("\n")}\nlast\n`];
  const begun = process.cpuUsage();
  const [head, ...lines] = difference(was, is).split("\n");
  const { user, system } = process.cpuUsage(begun);
  assert.equal((user + system) / 1e6 < 1, true, `${(user + system) / 1e6} s`);
  const marked = (mark: string) => lines.flatMap((line) => (line.startsWith(mark) ? [line.slice(1)] : []));
  assert.equal(head, "@@ -2,29700 +2,29701 @@");
  assert.equal(["first", ...marked("-"), "last", ""].join("\n"), was);
  assert.equal(["first", ...marked("+"), "last", ""].join("\n"), is);
});

test("a character that is written out is told from words that look like it", () => {
  const [words, character] = ["a\\u{200b}b", "a\u200bb"];
  assert.deepEqual([words, character].map(revealed), ["a\\u{5c}u{200b}b", "a\\u{200b}b"]);
  assert.equal(
    difference(words, character),
    "@@ -1,1 +1,1 @@\n-a\\u{5c}u{200b}b\n\\ No newline at end of file\n+a\\u{200b}b\n\\ No newline at end of file",
  );
  assert.equal(revealed("\\u and \\u{here}"), "\\u and \\u{here}");
});
