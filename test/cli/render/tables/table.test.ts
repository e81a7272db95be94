import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import stringWidth from "string-width";
import { coloured } from "../../../../src/cli/render/colour.ts";
import { onlyColour, visible, visibleLines } from "../../../../src/cli/render/safe-text.ts";
import { type Column, cutToWidth, progressBar, renderTable } from "../../../../src/cli/render/tables/table.ts";
import { displayWidth } from "../../../../src/cli/render/tables/width.ts";
import { ageOf, shortDuration } from "../../../../src/cli/render/time.ts";
import { samples } from "../../../testing/sample.ts";

describe("displayWidth", () => {
  const texts = [
    "",
    "abc",
    "é ß ø",
    "e\u0301",
    "日本語",
    "ｱﾞ",
    "👨‍👩‍👧",
    "👍🏽",
    "🇩🇪",
    "1️⃣",
    "✔️",
    "한글".normalize("NFD"),
    "█░…",
  ];
  for (const text of texts) {
    it(`measures ${JSON.stringify(text)} as a terminal does`, () =>
      assert.equal(displayWidth(text), stringWidth(text)));
  }

  it("never measures less than a terminal draws", () => {
    const text = fc.oneof(fc.string({ unit: "grapheme" }), fc.string({ unit: "binary" })).map(visible);
    fc.assert(fc.property(text, (some) => assert.ok(displayWidth(some) >= stringWidth(some))));
  });
});

describe("cutToWidth", () => {
  const cases: [string, number, string][] = [
    ["hello", 5, "hello"],
    ["hello", 4, "hel…"],
    ["hello", 1, "…"],
    ["hello", 0, ""],
    ["日本語", 6, "日本語"],
    ["日本語", 5, "日本…"],
    ["日本語", 4, "日…"],
    ["👨‍👩‍👧 family", 4, "👨‍👩‍👧 …"],
    ["e\u0301te\u0301s", 4, "e\u0301te\u0301s"],
  ];
  for (const [text, width, expected] of cases) {
    it(`cuts ${JSON.stringify(text)} to ${width}`, () => assert.equal(cutToWidth(text, width), expected));
  }
});

describe("a table", () => {
  const columns: Column[] = [
    { header: "PLAN" },
    { header: "AGE", align: "right" },
    { header: "WAITS FOR", flexible: true },
  ];

  it("lines its columns up", () => {
    const rows = [
      ["add-login", "3m", ""],
      ["日本", "12m", "a review"],
    ];
    assert.deepEqual(renderTable(columns, rows, { width: 80 }), [
      "PLAN       AGE  WAITS FOR",
      "add-login   3m",
      "日本       12m  a review",
    ]);
  });

  it("cuts the flexible column first", () => {
    const lines = renderTable(columns, [["add-login", "3m", "a very long reason that does not fit at all"]], {
      width: 40,
    });
    assert.equal(lines[1], "add-login   3m  a very long reason that…");
  });

  it("cuts a whole column last, after the others are gone", () => {
    const whole: Column[] = [
      { header: "PLAN", whole: true },
      { header: "STATUS" },
      { header: "WAITS FOR", flexible: true },
    ];
    const row = ["a-plan-with-a-long-name", "active, blocked", "a very long reason that does not fit at all"];
    const at = (width: number) => renderTable(whole, [row], { width })[1];
    assert.equal(at(50), "a-plan-with-a-long-name  active, bl…  a very long…");
    assert.equal(at(40), "a-plan-with-a-long-name  activ…  a very…");
    assert.equal(at(31), "a-plan-with-a-long-name  activ…");
    assert.equal(at(23), "a-plan-with-a-long-name");
    assert.equal(at(10), "a-plan-wi…");
  });

  it("is as wide as it likes where there is no terminal", () => {
    const long = "x".repeat(5000);
    const lines = renderTable(columns, [["a", "1s", long]], { width: Number.POSITIVE_INFINITY });
    assert.ok(lines[1]?.endsWith(long));
  });

  it("is never wider than the terminal, whatever is in it, and has one line per row", () => {
    const text = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.string({ unit: "binary" }),
      fc.constantFrom("日本語の計画", "👩‍🚀🚀", "x".repeat(300)),
    );
    const row = fc.array(text.map(visible), { maxLength: 5 });
    const made = fc.array(
      fc.record({ header: fc.constantFrom("A", "STATUS", "名前"), flexible: fc.boolean(), right: fc.boolean() }),
      { minLength: 1, maxLength: 5 },
    );
    fc.assert(
      fc.property(made, fc.array(row, { maxLength: 5 }), fc.integer({ min: 1, max: 120 }), (heads, rows, width) => {
        const some = heads.map(
          ({ header, flexible, right }): Column => ({ header, flexible, ...(right ? { align: "right" } : {}) }),
        );
        const lines = renderTable(some, rows, { width });
        assert.equal(lines.length, rows.length + 1);
        for (const line of lines) assert.ok(stringWidth(line) <= width, `${stringWidth(line)} > ${width}: ${line}`);
      }),
      { numRuns: samples(300) },
    );
  });

  it("has the same text with colours as without", () => {
    const rows = [[{ text: "blocked", style: "red" as const }, "1s", "why"]];
    const plain = renderTable(columns, rows, { width: 30 });
    const painted = renderTable(columns, rows, { width: 30, paint: coloured });
    assert.notDeepEqual(painted, plain);
    assert.deepEqual(painted.map(stripVTControlCharacters), plain);
  });
});

describe("text that came from elsewhere", () => {
  it("cannot steer the terminal", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        assert.doesNotMatch(visible(text), /\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u);
      }),
    );
    assert.equal(visible("a\u001b[2Jb\nc"), "a\\u{1b}[2Jb\\nc");
    assert.deepEqual(visibleLines("a\r\nb\u0007"), ["a", "b\\u{7}"]);
  });

  it("keeps an agent's colours and nothing else", () => {
    assert.equal(onlyColour("\u001b[31mred\u001b[0m"), "\u001b[31mred\u001b[0m");
    assert.equal(onlyColour("a\u001b[2J\u001b[1;1Hb"), "ab");
    assert.equal(onlyColour("\u001b]0;title\u0007text"), "text");
    assert.equal(onlyColour("tab\tstays\u0007"), "tab\tstays");
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("\u001b", "[", "]", "3", "1", "m", "J", ";", "\u0007", "\u009b", "x"), {
          maxLength: 30,
        }),
        (parts) => {
          // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are escape sequences
          const rest = onlyColour(parts.join("")).replace(/\u001b\[[0-9;:]*m/g, "");
          assert.doesNotMatch(rest, /\p{Cc}/u);
        },
      ),
    );
  });
});

describe("times", () => {
  const cases: [number, string][] = [
    [-5, "0s"],
    [0, "0s"],
    [59_999, "59s"],
    [60_000, "1m"],
    [3_599_999, "59m"],
    [3_600_000, "1h"],
    [47 * 3_600_000, "47h"],
    [48 * 3_600_000, "2d"],
  ];
  for (const [ms, text] of cases) it(`${ms} ms is ${text}`, () => assert.equal(shortDuration(ms), text));
  it("does not know the age of what is not a time", () => assert.equal(ageOf("soon", 0), "?"));
});

describe("a bar", () => {
  it("is full only when all is done", () => {
    assert.equal(progressBar(0, 4, 4), "░░░░");
    assert.equal(progressBar(99, 100, 5), "████░");
    assert.equal(progressBar(4, 4, 4), "████");
    assert.equal(progressBar(0, 0, 4), "");
  });
});
