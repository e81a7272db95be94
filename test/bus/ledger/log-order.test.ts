import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { createDue } from "../../../src/bus/ledger/due.ts";
import { createLogOrder } from "../../../src/bus/ledger/log-order.ts";

const step = fc.record({ item: fc.nat(200), at: fc.nat(50), remove: fc.boolean() });

it("keeps items in the order of the log, whatever comes and goes", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 900, size: "max" }), (steps) => {
      const order = createLogOrder<number>();
      const model = new Map<number, number>();
      for (const { item, at, remove } of steps) {
        const before = model.get(item);
        if (remove) order.delete(item);
        else order.put(item, `1:${at}`);
        if (remove || before !== at) model.delete(item);
        if (!remove && before !== at) model.set(item, at);
        const sorted = [...model].toSorted((a, b) => a[1] - b[1]).map(([one]) => one);
        assert.equal(order.first(), sorted[0]);
        assert.equal(order.size, sorted.length);
        assert.deepEqual([...order.items()], sorted);
      }
    }),
    { numRuns: 30, interruptAfterTimeLimit: 4000 },
  );
});

it("shows an item that moved before those that were first", () => {
  const order = createLogOrder<string>();
  for (const [index, item] of ["a", "b", "c"].entries()) order.put(item, `1:${index + 5}`);
  order.delete("a");
  assert.equal(order.first(), "b");
  order.put("c", "1:1");
  assert.deepEqual([order.first(), ...order.items()], ["c", "c", "b"]);
});

it("gives what came due in another order in that of the log, after changes too", () => {
  const due = createDue<string>();
  for (const [index, item] of ["a", "b", "c", "d"].entries()) due.put(item, 100 - index, `1:${index}`);
  assert.deepEqual(due.look(100, 9), ["a", "b", "c", "d"]);
  due.put("b", 200, "1:1");
  assert.deepEqual(due.look(100, 9), ["a", "c", "d"]);
  assert.deepEqual([...due.all()], ["a", "b", "c", "d"]);
  assert.deepEqual(due.look(200, 2), ["a", "b"]);
});
