import assert from "node:assert/strict";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { existsNoFollow } from "../../src/kernel/files.ts";
import { lstatIfThere } from "../../src/kernel/lstat.ts";

test("nothing lies below a file, and a link that leads nowhere is there", (t) => {
  const dir = mkdtempSync(join(tmpdir(), "prloom-lstat-"));
  t.after(() => rmSync(dir, { recursive: true }));
  writeFileSync(join(dir, "file"), "");
  symlinkSync("nowhere", join(dir, "link"));
  const there = ["file", "link", "absent", "file/below", "absent/below"].map((name) => join(dir, name));
  assert.deepEqual(there.map(existsNoFollow), [true, true, false, false, false]);
  assert.equal(lstatIfThere(join(dir, "link"))?.isSymbolicLink(), true);
});
