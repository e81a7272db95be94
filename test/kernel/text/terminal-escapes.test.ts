import assert from "node:assert/strict";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { withoutEscapes } from "../../../src/kernel/text/terminal-escapes.ts";

const LINK = "\u001b]8;;https://example.com/?a=b&c\u0007words\u001b]8;;\u0007";

test("what programs print for terminals is left out, as Node does it", () => {
  const lines = [
    "plain [1;2] text",
    "\u001b[31mred\u001b[0m \u001b[38;5;196mand\u001b[39;49m \u001b[1;31;42mmore\u001b[m",
    "\u001b[2K\u001b[1Aup \u001b[?25lhidden\u001b[?25h \u001b(Bset \u001b7kept\u001b8 \u009b1mC1",
    "\u001b]0;a title\u0007shown \u001b]2;another\u001b\\shown",
    LINK,
    LINK.replaceAll("\u0007", "\u001b\\"),
  ];
  for (const line of lines) assert.equal(withoutEscapes(line), stripVTControlCharacters(line));
  assert.equal(withoutEscapes(LINK), "words");
});

test("a title that never ends takes no line after it along", () => {
  assert.equal(withoutEscapes("\u001b]0;a\nwhat others print\nb\u0007"), ";a\nwhat others print\nb\u0007");
});

test("it costs what it is long", () => {
  const before = process.cpuUsage();
  for (const begun of ["\u001b]", "\u001b]0;a", "\u001b[1;", "\u001b;", "\u009b[[", "\u001b[1;;;"])
    withoutEscapes(begun.repeat(100_000));
  for (const run of [";", "1;", "1", "["]) withoutEscapes(`\u001b[${run.repeat(200_000)}!`);
  const { user, system } = process.cpuUsage(before);
  assert((user + system) / 1000 < 1000);
});
