import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ENCLOSURE_LEVELS } from "../../../src/agents/enclosure-level.ts";
import { readRunRecord, writeRunRecord } from "../../../src/dispatcher/runs/run-record.ts";

test("a run is told with each level at which it can be enclosed", (context) => {
  const folder = mkdtempSync(join(tmpdir(), "prloom-run-record-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  assert.deepEqual(ENCLOSURE_LEVELS, ["policy+sandbox", "policy", "sandbox", "none"]);
  for (const level of ENCLOSURE_LEVELS) {
    const record = { stage: "worker", agent: "a", attempt: 1, startedAt: "2026-01-01T00:00:00.000Z", level } as const;
    writeRunRecord(folder, record);
    assert.deepEqual(readRunRecord(folder), record, level);
  }
});
