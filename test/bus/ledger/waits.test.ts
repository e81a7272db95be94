import assert from "node:assert/strict";
import { test } from "node:test";
import { deferredSummary } from "../../../src/bus/ledger/waits.ts";

test("where nothing waits nothing is old, however fast the clock goes", () => {
  let now = 0;
  const clock = { now: () => now++ };
  const none = { size: 0, all: () => [] };
  const core = { ledger: { waiting: { event: none, action: none } }, clock };
  assert.deepEqual(deferredSummary(core as never), { count: 0, oldestMs: 0 });
});
