import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { copyJson, deepFreeze, isJson, parseJson } from "../../src/kernel/json.ts";

const nested = (depth: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
};

describe("what a JSON value is", () => {
  const good: unknown[] = [null, true, 0, -1.5, "", [], {}, [1, { a: [null] }], { a: undefined }, Object.create(null)];
  const bad: unknown[] = [
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1n,
    Symbol("a"),
    () => 1,
    new Date(0),
    new Map(),
    [new Date(0)],
  ];

  it("is the same for what is kept and for what is copied", () => {
    for (const value of good) {
      assert.equal(isJson(value), true);
      assert.deepEqual(copyJson(value, "it"), JSON.parse(JSON.stringify(value)));
    }
    for (const value of bad) {
      assert.equal(isJson(value), false);
      assert.throws(() => copyJson(value, "it"), { code: "hook-misuse" });
    }
  });

  it("names the place of what cannot be copied", () => {
    assert.throws(
      () => copyJson({ a: [1, new Date(0)] }, "it"),
      /^PrloomError: it\.a\[1\] is a Date, which JSON cannot hold\.$/,
    );
    const circular: unknown[] = [];
    circular.push(circular);
    assert.throws(() => copyJson(circular, "it"), /it\[0\] is a reference/);
  });

  it("may be as deep as a copy when it is kept with something around it, and as deep as that when it is read", () => {
    const deepest = nested(100);
    copyJson(deepest, "it");
    assert.throws(() => copyJson(nested(101), "it"), /nested more than 100 deep/);
    assert.equal(isJson({ result: { payload: deepest } }), true);
    assert.equal(isJson(nested(200)), true);
    assert.equal(isJson(nested(201)), false);
    assert.deepEqual(parseJson(JSON.stringify({ data: { result: nested(200) } })), { data: { result: nested(200) } });
  });
});

describe("parsing", () => {
  it("refuses what is nested too deep, and counts no bracket of a string", () => {
    parseJson(JSON.stringify(nested(500)));
    assert.throws(() => parseJson(JSON.stringify(nested(501))), /nested deeper than 500/);
    assert.throws(() => parseJson("[".repeat(1_000_000)), SyntaxError);
    const brackets = `\\"${"[".repeat(1000)}`;
    assert.equal(parseJson(JSON.stringify(brackets)), brackets);
  });
});

it("freezes everything in a value", () => {
  const value = deepFreeze({ a: [{ b: 1 }] });
  assert.ok(Object.isFrozen(value) && Object.isFrozen(value.a) && Object.isFrozen(value.a[0]));
});
