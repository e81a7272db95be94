import assert from "node:assert/strict";
import { it } from "node:test";
import { retryDelay } from "../../src/bus/limits.ts";

it("doubles the delay from one second to five minutes", () => {
  assert.deepEqual(
    [1, 2, 3, 9, 10, 1000].map((n) => retryDelay(n)),
    [1000, 2000, 4000, 256_000, 300_000, 300_000],
  );
  assert.equal(retryDelay(0), 1000);
  assert.equal(retryDelay(3, { minMs: 10, maxMs: 25 }), 25);
});
