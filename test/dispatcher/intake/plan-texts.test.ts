import assert from "node:assert/strict";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openTexts } from "../../../src/dispatcher/intake/plan-texts.ts";

test("of a file that is far too large only the start is read, and it is told as too large", (t) => {
  const dir = mkdtempSync(join(tmpdir(), "prloom-texts-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const texts = openTexts(join(dir, "cache.json"), (path, text) => writeFileSync(path, text));
  for (const start of ["## TODO\n\n- [ ] one\n", "\u20ac".repeat(3_000_000), "\u{1f600}".repeat(2_000_000)]) {
    const path = join(dir, "plan.md");
    writeFileSync(path, start);
    truncateSync(path, 3 * 1024 ** 3);
    const { doc } = texts.read(path) ?? {};
    assert.deepEqual([doc?.tooLarge, doc?.todos], ["The text is larger than 512 KB.", []]);
    assert.equal(texts.facts(path, "plan")?.total, 0);
  }
});
