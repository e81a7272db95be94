import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { createDue } from "../../../src/bus/ledger/due.ts";
import { createLogOrder } from "../../../src/bus/ledger/log-order.ts";
import { samples } from "../../testing/sample.ts";

const item = fc.constantFrom("a", "b", "c", "d", "e", "f", "g");
const move = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("put" as const), item, until: fc.nat(20), at: fc.nat(9) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("delete" as const), item }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("look" as const), now: fc.nat(20), limit: fc.nat(8) }) },
);

it("looks at what is due in the order of the log, whatever was put, moved and deleted, and however the clock jumps", () => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
      const due = createDue<string>();
      const model = new Map<string, { until: number; at: number }>();
      const inOrder = (now: number): number[] =>
        [...model.values()].filter(({ until }) => until <= now).map(({ at }) => at);
      for (const one of moves) {
        if (one.do === "put") {
          due.put(one.item, one.until, `1:${one.at}`);
          model.set(one.item, one);
        }
        if (one.do === "delete") {
          due.delete(one.item);
          model.delete(one.item);
        }
        if (one.do === "look") {
          const found = due.look(one.now, one.limit);
          const places = found.map((name) => model.get(name)?.at ?? assert.fail(`${name} does not wait`));
          const wanted = inOrder(one.now).toSorted((a, b) => a - b);
          assert.deepEqual(places, wanted.slice(0, one.limit));
          assert.equal(new Set(found).size, found.length);
        }
        assert.equal(due.size, model.size);
        const first = Math.min(...[...model.values()].map(({ until }) => until));
        const next = due.next();
        if (model.size === 0) assert.equal(next, undefined);
        else assert.ok(next !== undefined && [...model.values()].some(({ until }) => until === next) && next >= first);
        assert.deepEqual([...due.all()].toSorted(), [...model.keys()].toSorted());
      }
    }),
    { numRuns: samples(1000), interruptAfterTimeLimit: 4000 },
  );
});

it("tells the very next time while nothing is due", () => {
  const due = createDue<number>();
  for (let n = 0; n < 500; n += 1) due.put(n, 1000 + ((n * 7919) % 500), undefined);
  due.look(999, 10);
  for (let time = 1000; time < 1400; time += 1) {
    assert.equal(due.next(), time);
    const [only, ...others] = due.look(time, 10);
    assert.deepEqual(others, []);
    due.delete(only ?? assert.fail());
  }
  assert.equal(due.size, 100);
});

it("keeps items that lie at one place in the order in which they came", () => {
  const order = createLogOrder<string>();
  for (const name of ["c", "a", "b"]) order.put(name, "1:5");
  order.put("z", undefined);
  order.put("y", "2:0");
  order.put("a", "1:5");
  assert.deepEqual([...order.items()], ["z", "c", "a", "b", "y"]);
  order.put("c", "3:0");
  order.delete("b");
  assert.deepEqual([...order.items()], ["z", "a", "y", "c"]);
  assert.equal(order.first(), "z");
});
