import assert from "node:assert/strict";
import { it } from "node:test";
import type { Bus } from "../../../src/bus/bus.ts";
import { done, emit, event, eventIds, fresh, onEveryBus } from "../bus-fixture.ts";

const deferred = (bus: Bus): string =>
  bus
    .deferredActions()
    .map((one) => one.action.id)
    .join();

onEveryBus("actions", (bench) => {
  it("tells fresh actions from those that wait", () =>
    bench(({ open, clock }) => {
      const bus = open();
      emit(bus, "x", "y", "z");
      assert.equal(fresh(bus), "x,y,z");
      assert.equal(
        fresh(bus, (id) => id !== "x"),
        "y,z",
      );
      assert.equal(bus.freshActions(1, () => true)[0]?.action.id, "x");
      const since = clock.now();
      bus.settle({ record: "y", handler: "deliver:b", outcome: "deferred", until: since + 500 });
      bus.settle({ record: "z", handler: "beforeRoute:p", outcome: "threw" });
      clock.advance(2000);
      for (const each of [bus, open()]) {
        assert.equal(fresh(each), "x");
        assert.deepEqual(
          each.deferredActions().map(({ action: { id }, ...rest }) => ({ id, ...rest })),
          [
            { id: "y", attempts: 0, until: since + 500, since },
            { id: "z", attempts: 1, until: since + 1000, since },
          ],
        );
      }
      bus.settle({ record: "z", handler: "deliver:b", outcome: "deferred" });
      bus.settle({ record: "z", handler: "beforeRoute:p", outcome: "passed" });
      for (const each of [bus, open()]) assert.equal(deferred(each), "y,z");
      for (const id of ["z", "x", "y"]) bus.settle({ record: id, handler: "deliver:b", outcome: "handled" });
      for (const each of [bus, open()]) assert.equal(fresh(each) + deferred(each), "");
    }));

  it("offers what was revived: an event as one, an action as one that waits and is due", () =>
    bench(({ open, clock }) => {
      const bus = open();
      bus.appendEvents([event("a")]);
      bus.newEvents(1);
      emit(bus, "x");
      fresh(bus);
      for (const [record, handler] of [
        ["a", "onEvent:p"],
        ["x", "deliver:b"],
      ] as const) {
        bus.settle({ record, handler, outcome: "threw", reason: "refused", marks: { dead: true, ...done } });
      }
      const again = open();
      assert.equal(eventIds(again) + fresh(again) + deferred(again), "");
      assert.deepEqual(
        again.deadLetters().map(({ record, about }) => [record, about]),
        [
          ["a", "event"],
          ["x", "action"],
        ],
      );
      clock.advance(9000);
      assert.equal(again.revive("a") + again.revive("x"), 2);
      for (const each of [again, open()]) {
        assert.equal(eventIds(each), "a");
        assert.equal(deferred(each), "x");
        assert.equal(each.deferredActions()[0]?.until, clock.now());
        assert.equal(each.handlerStatus("x", "deliver:b"), "ready");
        assert.deepEqual(each.deadLetters(), []);
      }
    }));

  it("does not look at actions that wait when it looks for fresh ones", () =>
    bench(({ open }) => {
      const bus = open();
      const ids = Array.from({ length: 300 }, (_, n) => `x${n}`);
      emit(bus, ...ids);
      bus.freshActions(300, () => true);
      // The first one is under way, so the cursor stays before all the others.
      for (const id of ids.slice(1)) {
        bus.settle({ record: id, handler: "deliver:b", outcome: "deferred" }, { sync: false });
      }
      for (const each of [bus, open()]) {
        const asked: string[] = [];
        each.freshActions(9, (id) => asked.push(id) > 0);
        assert.deepEqual(asked, ["x0"]);
        assert.equal(each.deferredActions().length, 299);
      }
    }));
});
