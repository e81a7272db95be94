import assert from "node:assert/strict";
import { test } from "node:test";
import { asCount, asFields, asFieldsList, asNumber, asString, jsonIn } from "../../src/kernel/json-fields.ts";

test("text is JSON or nothing, however it is broken or nested", () => {
  assert.deepEqual(jsonIn('{"a":[1]}'), { a: [1] });
  for (const text of ["", "{", "nope", "[".repeat(100_000)]) assert.equal(jsonIn(text), undefined, text.slice(0, 10));
});

test("a value is what is asked for, or something harmless", () => {
  const odd = [undefined, null, true, 1, "x", [1], { a: 1 }, Number.NaN, Number.POSITIVE_INFINITY, -1];
  assert.deepEqual(
    odd.map((value) => Object.keys(asFields(value)).length),
    [0, 0, 0, 0, 0, 0, 1, 0, 0, 0],
  );
  assert.deepEqual(asFieldsList([{ a: 1 }, "x"]), [{ a: 1 }, {}]);
  assert.deepEqual(asFieldsList({ a: 1 }), []);
  assert.deepEqual(odd.map(asString).filter(Boolean), ["x"]);
  assert.deepEqual(
    odd.map(asNumber).filter((value) => value !== undefined),
    [1, -1],
  );
  assert.deepEqual(odd.map(asCount), [0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
});
