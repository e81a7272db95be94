import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { hasConflict, mergeLines } from "../../src/plan/merge-lines.ts";
import { samples } from "../testing/sample.ts";

const BASE = "# Plan\n\n## TODO\n\n- [ ] one\n- [ ] two\n- [ ] three\n";

describe("two texts made from one", () => {
  const clean: [name: string, mine: string, theirs: string, merged: string][] = [
    ["only mine changed", `${BASE}more\n`, BASE, `${BASE}more\n`],
    ["only theirs changed", BASE, `${BASE}more\n`, `${BASE}more\n`],
    ["both changed the same", `${BASE}more\n`, `${BASE}more\n`, `${BASE}more\n`],
    [
      "a tick, and the next TODO reworded",
      BASE.replace("two", "second"),
      BASE.replace("[ ] one", "[x] one"),
      BASE.replace("two", "second").replace("[ ] one", "[x] one"),
    ],
    [
      "a tick, and a TODO added below it",
      BASE.replace("- [ ] two", "- [ ] one and a half\n- [ ] two"),
      BASE.replace("[ ] one", "[x] one"),
      BASE.replace("[ ] one", "[x] one").replace("- [ ] two", "- [ ] one and a half\n- [ ] two"),
    ],
    [
      "one removed, a log added at the end",
      BASE.replace("- [ ] three\n", ""),
      `${BASE}\n## Progress Log\n\n- did it\n`,
      `${BASE.replace("- [ ] three\n", "")}\n## Progress Log\n\n- did it\n`,
    ],
  ];
  for (const [name, mine, theirs, merged] of clean)
    it(name, () => assert.deepEqual(mergeLines(BASE, mine, theirs), { kind: "merged", text: merged }));

  it("that change the same line have both there, and the rest merged", () => {
    const mine = BASE.replace("two", "second").replace("# Plan", "# My plan");
    const theirs = BASE.replace("[ ] two", "[x] two");
    const { kind, text } = mergeLines(BASE, mine, theirs);
    assert.equal(kind, "conflict");
    assert.equal(
      text,
      "# My plan\n\n## TODO\n\n- [ ] one\n<<<<<<< your text\n- [ ] second\n=======\n- [x] two\n>>>>>>> what arrived meanwhile\n- [ ] three\n",
    );
    assert.ok(hasConflict(text) && !hasConflict(mine));
  });

  it("that add at the same place, or one of which has no last newline, lose nothing", () => {
    const { kind, text } = mergeLines("a", "a\nb", "a\nc");
    assert.equal(kind, "conflict");
    assert.match(text, /a\nb\n=======\na\nc\n>>>>>>>/);
  });

  it("lose no line that either side wrote, whatever they are", () => {
    const lines = fc.array(fc.constantFrom("a\n", "b\n", "c\n", "\n"), { maxLength: 8 });
    const edits = fc.array(fc.tuple(fc.nat(8), fc.nat(2), fc.constantFrom("", "1\n", "2\n", "1\n2\n")), {
      maxLength: 3,
    });
    const edited = (base: readonly string[], changes: readonly [number, number, string][], side: string): string => {
      const text = [...base];
      for (const [at, removed, added] of changes) text.splice(at, removed, ...(added === "" ? [] : [side + added]));
      return text.join("");
    };
    fc.assert(
      fc.property(lines, edits, edits, (base, one, other) => {
        const [mine, theirs] = [edited(base, one, "mine"), edited(base, other, "theirs")];
        const { kind, text } = mergeLines(base.join(""), mine, theirs);
        const written = (side: string): string[] => side.split("\n").filter((line) => /\d/.test(line));
        for (const line of [...written(mine), ...written(theirs)]) assert.ok(text.includes(line), `${line} in ${text}`);
        assert.equal(hasConflict(text), kind === "conflict");
        assert.equal(mergeLines(base.join(""), mine, mine).text, mine);
      }),
      { numRuns: samples(500) },
    );
  });
});
