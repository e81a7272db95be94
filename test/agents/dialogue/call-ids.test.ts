import assert from "node:assert/strict";
import { test } from "node:test";
import { asCallId, CallIds } from "../../../src/agents/dialogue/call-ids.ts";

test("a long id is a short one, and another for each", () => {
  const [one = "", other = ""] = ["a", "b"].map((end) => asCallId(`${"x".repeat(1_000_000)}${end}`));
  assert.ok(one.length < 200 && one !== other);
  assert.deepEqual([asCallId("toolu_1"), asCallId(1), asCallId(undefined)], ["toolu_1", undefined, undefined]);
});

test("of calls without end the oldest are forgotten", () => {
  const calls = new CallIds();
  for (let at = 0; at <= 100_000; at += 1) calls.add(`${at}`);
  assert.deepEqual([calls.has("0"), calls.has("1"), calls.has("100000")], [false, true, true]);
  calls.delete("1");
  assert.equal(calls.has("1"), false);
});
