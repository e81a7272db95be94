import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { readBeginning } from "../../../src/git/commits/write-diff.ts";

const dir = mkdtempSync(join(tmpdir(), "prloom-diff-"));
after(() => rmSync(dir, { recursive: true, force: true }));

test("the beginning of a file is whole lines, and tells how much there is", () => {
  const file = join(dir, "changes.diff");
  writeFileSync(file, "one\ntwo\nthrée\n");
  assert.deepEqual(readBeginning(file, 100), { text: "one\ntwo\nthrée\n", totalBytes: 15, isWhole: true });
  assert.deepEqual(readBeginning(file, 15), { text: "one\ntwo\nthrée\n", totalBytes: 15, isWhole: true });
  // In the middle of a character.
  assert.deepEqual(readBeginning(file, 12), { text: "one\ntwo\n", totalBytes: 15, isWhole: false });
  assert.deepEqual(readBeginning(file, 2), { text: "", totalBytes: 15, isWhole: false });
  writeFileSync(file, "");
  assert.deepEqual(readBeginning(file, 5), { text: "", totalBytes: 0, isWhole: true });
});
