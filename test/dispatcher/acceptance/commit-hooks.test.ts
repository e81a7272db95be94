import assert from "node:assert/strict";
import { test } from "node:test";
import { refusingHook } from "../../../src/dispatcher/acceptance/commit-hooks.ts";

const line = (event: Record<string, unknown>): string => JSON.stringify({ ...event, sid: "one", child_id: 0 });
const started = line({ event: "child_start", hook_name: "pre-commit" });

test("the hook that did not end with 0 is the one that refused", () => {
  assert.equal(refusingHook(`${started}\n${line({ event: "child_exit", code: 1 })}\n`), "pre-commit");
  assert.equal(refusingHook(`${started}\n`), "pre-commit");
  assert.equal(refusingHook(`${started}\n${line({ event: "child_exit", code: 0 })}\n`), undefined);
});

test("a hook that floods git's trace is named, and does not hold up the dispatcher", () => {
  const floods = ["", '{"event":"child_'];
  for (const flood of floods) {
    const trace = `${started}\n${`${flood}\n`.repeat((4 * 1024 ** 2) / (flood.length + 1))}`;
    // Time on the processor: the load of the machine is not the text's fault.
    const before = process.cpuUsage();
    assert.equal(refusingHook(trace), "pre-commit");
    const { user, system } = process.cpuUsage(before);
    assert((user + system) / 1e6 < 2, `${JSON.stringify(flood)} took ${(user + system) / 1e6} s`);
  }
});
