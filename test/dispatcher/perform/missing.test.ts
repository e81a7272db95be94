import assert from "node:assert/strict";
import { test } from "node:test";
import { nextRun } from "../../../src/dispatcher/perform/begin.ts";
import { missingIn } from "../../../src/dispatcher/perform/review.ts";
import { type CurrentTodo, type PlanRecord, planRecordSchema } from "../../../src/plan/record.ts";

const current: CurrentTodo = { todoId: "t", attempt: 1, baseSha: "0", stage: "verified", run: 1, reviews: 1 };
const at = "2026-01-01T00:00:00Z";

function record(fields: Partial<PlanRecord>): PlanRecord {
  const flags = { hidden: false, paused: false, worktreeReady: true, inInbox: false };
  const rest = { runs: 1, createdAt: at, updatedAt: at, revision: 0, metadata: {} };
  return planRecordSchema.parse({
    schemaVersion: 2,
    uid: "01",
    id: "p",
    status: "active",
    ...flags,
    ...rest,
    ...fields,
  });
}

test("what a reviewer found is kept apart from what an attempt lacked", () => {
  const sentBack = record({ current: { ...current, findings: "> Say hello." } });
  assert.match(missingIn(sentBack) ?? "", /^A reviewer looked .*\n\n> Say hello\.$/s);
  // Interrupted, it is still the reviewer who waits for an answer.
  const again = record(nextRun(sentBack, {}));
  assert.equal(again.current?.findings, "> Say hello.");
  // A person who repeats the words with which a reviewer is quoted is not a reviewer.
  const failed = record(nextRun(sentBack, { attempt: 2, missing: missingIn(sentBack) ?? "" }));
  assert.equal(failed.current?.findings, undefined);
  assert.equal(missingIn(failed), missingIn(sentBack));
});

test("a side run is told what it lacked itself", () => {
  const side = { stage: "reviewer" as const, run: 2, attempt: 2, baseSha: "0", missing: "No result." };
  assert.equal(missingIn(record({ side, current: { ...current, findings: "> Say hello." } })), "No result.");
});
