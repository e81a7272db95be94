import assert from "node:assert/strict";
import { test } from "node:test";
import { measurePairs, type Pairs, percentile } from "../../bench/harness/measure.ts";
import { verdict } from "../../bench/harness/result.ts";

const at = (median: number, p99 = median) => ({ median, low: median, high: median, p99 });
const pairs = (ours: number, floor: number): Pairs => ({
  ours: at(ours),
  floor: at(floor),
  ratio: ours / floor,
  noise: { low: 1, high: 1 },
});

test("floor and ours take turns, and the first pair does not count", async () => {
  const calls: string[] = [];
  const sample = (name: string, ms: number[]) => () => {
    calls.push(name);
    return ms.shift() ?? Number.NaN;
  };
  const floor = sample("floor", [99, 10, 10, 20, 10]);
  const ours = sample("ours", [99, 20, 30, 40]);
  const measured = await measurePairs({ floor, ours, pairs: 3 });
  assert.deepEqual(calls, ["floor", "ours", "floor", "ours", "floor", "ours", "floor", "ours", "floor"]);
  assert.equal(measured.ours.median, 30);
  assert.equal(measured.ratio, 2);
  assert.ok(measured.noise.low < 1 && measured.noise.high > 1);
});

test("a percentile lies between two samples in proportion", () => {
  assert.equal(percentile([3, 1, 2], 0.5), 2);
  assert.equal(percentile([1, 2], 0.5), 1.5);
  assert.equal(percentile([7], 0.9), 7);
});

test("a verdict says by how much a budget was missed", () => {
  assert.equal(verdict({ ratio: 1.5 }, pairs(15, 10)), "met");
  assert.equal(verdict({ ratio: 1.5 }, pairs(30, 10)), "missed by 100 %");
  assert.equal(verdict({ ms: 10 }, pairs(11, 1)), "missed by 10 %");
  assert.equal(verdict({ above: 15 }, pairs(30, 10)), "missed by 5.0 ms");
  assert.equal(verdict({ ms: 10, p99: 100 }, { ...pairs(9, 1), ours: at(9, 150) }), "missed by 50 % (p99)");
  assert.equal(verdict({ ms: 10, p99: 100 }, { ...pairs(9, 1), ours: at(9, 99) }), "met");
  assert.equal(verdict({ ms: 10, ratio: 20 }, pairs(9, 1)), "met");
  assert.equal(verdict({}, pairs(1000, 1)), "none");
});
