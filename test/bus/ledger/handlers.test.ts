import assert from "node:assert/strict";
import { it } from "node:test";
import type { Bus } from "../../../src/bus/bus.ts";
import { START } from "../../../src/bus/ports.ts";
import type { Settlement } from "../../../src/bus/types.ts";
import { readAll } from "../../testing/contracts/bus-contract.ts";
import { action, done, emit, event, eventIds, events, fresh, LIMITS, onEveryBus } from "../bus-fixture.ts";

onEveryBus("handlers", (bench) => {
  it("keeps what handlers decided until the record is closed", () =>
    bench(({ open }) => {
      const bus = open();
      bus.appendEvents([event("a")]);
      bus.newEvents(1);
      const result = { list: [1, null], text: "é" };
      bus.settle({ record: "a", handler: "one", outcome: "handled", result });
      bus.settle({ record: "a", handler: "one", outcome: "handled", result: "late" });
      bus.settle({ record: "a", handler: "two", outcome: "passed", result: null });
      bus.settle({ record: "a", handler: "three", outcome: "threw", result: 3 });
      result.list.push(2);
      const kept = [
        ["one", { list: [1, null], text: "é" }],
        ["two", null],
      ];
      for (const each of [bus, open()]) assert.deepEqual([...each.results("a")], kept);
      assert.equal(bus.results("b").size, 0);
      bus.settle({ record: "a", handler: "one", outcome: "handled", marks: { closed: true } });
      for (const each of [bus, open()]) assert.equal(each.results("a").size, 0);
      assert.equal(bus.handlerStatus("a", "one"), "settled");
    }));

  it("refuses what does not survive JSON, and changes nothing", () =>
    bench(({ open, log, address }) => {
      const bus = open();
      const circle: Record<string, unknown> = {};
      circle.again = circle;
      for (const result of [Number.NaN, new Date(0), () => 1, circle, [undefined], 1n]) {
        const settlement = { record: "a", handler: "h", outcome: "handled", result } as unknown as Settlement;
        assert.throws(() => bus.settle(settlement), /is not JSON/);
      }
      assert.equal(readAll(log, address("settled")).length, 0);
      bus.settle({ record: "a", handler: "h", outcome: "handled", result: { gone: undefined } });
      assert.deepEqual(bus.results("a").get("h"), {});
    }));

  it("says that a call may have been made before, until that is known", () =>
    bench(({ open, clock }) => {
      const uncertain = (bus: Bus): boolean => bus.attempt("x", "deliver:b").uncertain;
      const first = open();
      emit(first, "x");
      first.freshActions(1, () => true);
      assert.equal(uncertain(first), false);
      const second = open();
      second.freshActions(1, () => true);
      assert.equal(uncertain(second), true, "begun, and never settled");
      second.settle({ record: "x", handler: "deliver:b", outcome: "deferred", until: clock.now() + 5000 });
      assert.equal(uncertain(second), true, "asking how it ended told nothing");
      const known = { uncertain: false };
      second.settle({ record: "x", handler: "deliver:b", outcome: "deferred", marks: known });
      const third = open();
      assert.equal(third.attempt("x", "deliver:b").uncertain, false);
      third.settle({ record: "x", handler: "deliver:b", outcome: "threw", marks: { uncertain: true, dead: true } });
      third.revive("x");
      assert.equal(uncertain(open()), true);
    }));

  it("loses nothing that was settled without sync when the process is killed", () =>
    bench(({ open }) => {
      const bus = open();
      bus.appendEvents([event("a")]);
      bus.newEvents(1);
      bus.attempt("a", "h");
      const settlement: Settlement = {
        record: "a",
        handler: "h",
        outcome: "handled",
        actions: [action("x")],
        result: 1,
      };
      assert.equal(bus.settle(settlement, { sync: false }), "settled");
      const again = open();
      assert.equal(again.handlerStatus("a", "h"), "settled");
      assert.equal(fresh(again), "x");
      assert.equal(again.results("a").get("h"), 1);
      bus.sync();
      bus.sync();
      again.sync();
      assert.equal(fresh(open()), "x");
    }));

  it("folds what another bus over the same journals has settled", () =>
    bench(({ open }) => {
      const one = open();
      const other = open();
      one.settle({ record: "a", handler: "h", outcome: "handled", result: 1 });
      other.settle({ record: "b", handler: "h", outcome: "handled" });
      assert.equal(other.handlerStatus("a", "h"), "settled");
      assert.equal(other.results("a").get("h"), 1);
    }));

  it("tells who waits for a record, for how long and why", () =>
    bench(({ open, clock }) => {
      const bus = open();
      bus.appendEvents([event("a")]);
      bus.newEvents(1);
      const since = clock.now();
      assert.equal(bus.waitOf("a", "h"), undefined);
      assert.deepEqual(bus.waitingHandlers("a"), []);
      bus.settle({ record: "a", handler: "h", outcome: "deferred", reason: "Friday", until: since + 50 });
      clock.advance(10);
      bus.settle({ record: "a", handler: "g", outcome: "threw", reason: "boom", marks: done });
      for (const each of [bus, open()]) {
        assert.deepEqual(each.waitOf("a", "h"), { until: since + 50, attempts: 0, since, reason: "Friday" });
        assert.deepEqual(each.waitingHandlers("a"), ["h", "g"]);
        assert.equal(each.handlerStatus("a", "h"), "waiting");
        assert.equal(each.nextRetryAt("event"), since + 50);
        assert.equal(each.nextRetryAt("action"), undefined);
        assert.equal(each.nextRetryAt(), since + 50);
      }
    }));

  it("passes many records with one line", () =>
    bench(({ open, log, address }) => {
      const bus = open();
      bus.appendEvents(events(101));
      const [first, ...rest] = bus.newEvents(100).map((one) => one.event.id);
      bus.settle({ record: first ?? "", handler: "dispatcher", outcome: "passed", also: rest, marks: done });
      assert.equal(readAll(log, address("settled")).length, 1);
      assert.equal(eventIds(bus), "e100");
      const again = open();
      assert.equal(eventIds(again), "e100");
      assert.equal(again.handlerStatus("e57", "dispatcher"), "settled");
      assert.equal(again.newEvents(1)[0]?.event.id, "e100");
      assert.notEqual(again.state().eventsOffset, START);
      assert.deepEqual(again.state().ahead, {});
    }));

  it("passes those of many that it may when one before them is not done", () =>
    bench(({ open }) => {
      const bus = open();
      bus.appendEvents(events(5));
      bus.newEvents(5);
      const also = ["e3", "e4"];
      bus.settle({ record: "e1", handler: "dispatcher", outcome: "passed", also, marks: done });
      assert.equal(eventIds(bus), "e0,e2");
      assert.equal(eventIds(open()), "e0,e2");
      bus.settle({ record: "e0", handler: "dispatcher", outcome: "passed", marks: done });
      assert.equal(eventIds(open()), "e2");
    }));

  it("offers a record until all were asked, though its only wait is over", () =>
    bench(({ open, clock }) => {
      const bus = open();
      bus.appendEvents([event("a")]);
      bus.newEvents(1);
      bus.settle({ record: "a", handler: "plugin", outcome: "deferred", marks: done });
      clock.advance(1000);
      assert.equal(eventIds(bus), "a");
      bus.settle({ record: "a", handler: "plugin", outcome: "passed" });
      const again = open();
      assert.equal(eventIds(again), "a", "the dispatcher was not asked before the crash");
      assert.deepEqual(again.waitingHandlers("a"), []);
      again.settle({ record: "a", handler: "dispatcher", outcome: "handled", marks: done });
      for (const each of [again, open()]) {
        assert.equal(eventIds(each), "");
        assert.equal(each.nextRetryAt(), undefined);
      }
    }));

  it("lets the same handler pass over a record that comes back twice", () =>
    bench(({ open, clock }) => {
      const bus = open();
      bus.appendEvents([event("a")]);
      bus.newEvents(1);
      for (const handler of ["one", "two"]) {
        bus.settle({ record: "a", handler, outcome: "deferred", marks: done });
        clock.advance(1000);
        bus.settle({ record: "a", handler, outcome: "passed" });
        bus.settle({ record: "a", handler: "pass-over", outcome: "passed", marks: done });
        assert.equal(eventIds(bus), "");
        assert.equal(eventIds(open()), "");
      }
    }));

  it("takes a call back that was broken off, and makes no handler wait for its record", () =>
    bench(({ open }) => {
      const bus = open();
      bus.attempt("in-no-journal", "h");
      for (let stop = 1; stop <= LIMITS.maxAttempts; stop += 1) {
        assert.deepEqual(bus.attempt("in-no-journal", "h"), { attempts: 2, allowed: true, uncertain: true });
        bus.uncount("in-no-journal", "h");
      }
      assert.equal(bus.attempt("another", "h").attempts, 1);
      bus.uncount("another", "h");
      bus.uncount("never called", "h");
      for (const each of [bus, open()]) {
        assert.equal(each.handlerStatus("in-no-journal", "h"), "ready");
        assert.equal(each.nextRetryAt(), undefined);
        assert.deepEqual(Object.values(each.state().attempts), [1], "the one before, which was not taken back");
        assert.deepEqual(each.deadLetters(), []);
      }
      bus.settle({ record: "a", handler: "h", outcome: "threw" });
      bus.attempt("a", "h");
      bus.uncount("a", "h");
      assert.equal(bus.waitOf("a", "h")?.attempts, 1);
      assert.equal(bus.attempt("a", "h").attempts, 2);
    }));
});
