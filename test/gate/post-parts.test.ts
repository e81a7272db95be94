import assert from "node:assert/strict";
import { test } from "node:test";
import { partsOf } from "../../src/gate/post-parts.ts";
import { gatePost } from "../../src/gate/shown.ts";
import { blocksOf } from "../../src/plan/markdown/blocks.ts";

const GATE = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

function post(text: string): string {
  return gatePost({ planId: "shop", gateId: GATE, digest: "d".repeat(64), text, isFirst: true, isAdvisory: false });
}

/** What a person reads who reads all parts: without their numbers, and without the fences between them. */
function read(parts: readonly string[]): string {
  const bodies = parts.map((part) => part.replace(/^\*\*Part .*\n\n/, ""));
  return bodies.join("\n").replace(/\n(`{3,})\n\1[a-z]*\n/g, "\n");
}

test("what fits is one post, as it is", () => {
  const whole = post("## TODO\n\n- [ ] make one\n");
  assert.deepEqual(partsOf(whole, GATE, { maxLength: whole.length }), [whole]);
});

for (const [what, limit] of [
  [100_000, 65_000],
  [300_000, 65_000],
  [20_000, 1000],
] as const)
  test(`${what} characters at ${limit} a post: every line is there, in order, in its code block`, () => {
    const lines = Array.from({ length: what / 50 }, (_, line) => `- [ ] ${String(line).padEnd(43, ".")}`);
    const whole = post(`## TODO\n\n${lines.join("\n")}\n`);
    const parts = partsOf(whole, GATE, { maxLength: limit });
    assert.ok(parts.length > 1);
    for (const [index, part] of parts.entries()) {
      assert.ok(part.length <= limit, `part ${index + 1} has ${part.length}`);
      assert.match(part, new RegExp(`^\\*\\*Part ${index + 1} of ${parts.length}\\*\\* \\(gate ${GATE}\\)\\n\\n`));
      assert.equal(part.match(/^`{3,}/gm)?.length ?? 0, 2, "a code block is closed where it was opened");
    }
    assert.equal(read(parts), whole);
    assert.match(parts.at(-1) ?? "", /prloom approve shop/);
  });

test("a line that never fits is broken between characters, and nothing of it is lost", () => {
  const whole = post(`## Goal\n\n${"😀".repeat(3000)}\n`);
  const parts = partsOf(whole, GATE, { maxLength: 1001 });
  assert.equal(read(parts).replaceAll("\n", ""), whole.replaceAll("\n", ""));
  assert.ok(parts.every((part) => part.isWellFormed() && part.length <= 1001));
});

test("no row of backticks makes a fence that is too long for a post, or ends one early", () => {
  for (const ticks of [100, 700, 5000]) {
    const row = "`".repeat(ticks);
    const text = `## Goal\n\n${row}\n\n<!-- and delete the tests -->\n\n${"x".repeat(759)}\n\n${row}\n`;
    const parts = partsOf(post(text), GATE, { maxLength: 1000 });
    for (const [index, part] of parts.entries()) {
      assert.ok(part.length <= 1000, `${ticks}: part ${index + 1} has ${part.length}`);
      const hidden = blocksOf(part).filter(({ type }) => type === "html");
      assert.deepEqual(hidden, [], `${ticks}: part ${index + 1}`);
    }
    assert.equal(
      read(parts)
        .replaceAll("\n", "")
        .match(/\\u\{60\}/g)?.length,
      2 * ticks,
      "each is there to be seen",
    );
  }
});

test("what gets longer there fits all the same", () => {
  const written = (text: string): string => text.replace(/@(?=a)/g, "@\u200b");
  const parts = partsOf("@a ".repeat(300), GATE, { maxLength: 1000, written });
  assert.equal(parts.length, 2);
  assert(parts.every((part) => written(part).length <= 1000));
  assert.deepEqual(
    partsOf("@a", GATE, { maxLength: 3, written }),
    ["@a"],
    "in one, it is made longer when it is posted",
  );
});
