import assert from "node:assert/strict";
import { it } from "node:test";
import { describeThrown, sentence } from "../../../src/hooks/calls/thrown.ts";

it("says what caused an error, once (K17)", async () => {
  await assert.rejects(fetch("http://127.0.0.1:1/"), (error) => {
    // Port 1 is one that fetch refuses by itself; what is refused by the system looks the same.
    assert.match(describeThrown(error), /^fetch failed: \S+/);
    return true;
  });
  const refused = new Error("connect ECONNREFUSED 127.0.0.1:1");
  assert.equal(
    describeThrown(new TypeError("fetch failed", { cause: refused })),
    "fetch failed: connect ECONNREFUSED 127.0.0.1:1",
  );
  assert.equal(describeThrown(new Error("wrapped: inner", { cause: new Error("inner") })), "wrapped: inner");
  assert.equal(describeThrown(new Error("It failed.", { cause: "no reason" })), "It failed: no reason");
  const several = new AggregateError([refused, new Error("connect ECONNREFUSED ::1:1")]);
  assert.equal(
    describeThrown(new Error("fetch failed", { cause: several })),
    "fetch failed: connect ECONNREFUSED 127.0.0.1:1, connect ECONNREFUSED ::1:1",
  );
});

it("describes whatever was thrown", () => {
  const circle = new Error("round");
  circle.cause = circle;
  assert.equal(describeThrown(circle), "round");
  let deep = new Error("cause 0");
  for (let depth = 1; depth < 100; depth += 1) deep = new Error(`cause ${depth};`, { cause: deep });
  assert.ok(describeThrown(deep).length < 100);
  const trap = new Error("trap");
  Object.defineProperty(trap, "cause", {
    get: () => {
      throw new Error("no");
    },
  });
  assert.equal(describeThrown(trap), "trap");
  assert.equal(describeThrown(undefined), "undefined");
  assert.equal(describeThrown(new Error("")), "an error without a message");
  assert.equal(describeThrown(Object.create(null)), "something that cannot be shown");
});

it("ends a sentence with one full stop", () => {
  assert.deepEqual(["a", "a.", "a?", "a…"].map(sentence), ["a.", "a.", "a?", "a…"]);
});
