import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { removeView } from "../../../src/dispatcher/enclosure/run-view.ts";

test("of a view that a kill left half made, nothing stays", async (t) => {
  const runDir = mkdtempSync(join(tmpdir(), "prloom-view-"));
  t.after(() => rmSync(runDir, { recursive: true }));
  mkdirSync(join(runDir, "view"));
  for (const file of ["view/a.txt", "view.index", "view.index.lock", "exit.json"])
    writeFileSync(join(runDir, file), "");
  await removeView(runDir);
  assert.deepEqual(readdirSync(runDir), ["exit.json"]);
});
