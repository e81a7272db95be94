import assert from "node:assert/strict";
import { it } from "node:test";
import type { Bus } from "../../../src/bus/bus.ts";
import { MAX_PROCESSED } from "../../../src/bus/bus-state.ts";
import type { Settlement } from "../../../src/bus/types.ts";
import { readAll } from "../../testing/contracts/bus-contract.ts";
import { action, done, emit, event, eventIds, fresh, onEveryBus } from "../bus-fixture.ts";

/** So many other records that an ordinary one is forgotten. */
function crowdOut(bus: Bus, about: "event" | "action"): void {
  const [first = "", ...also] = Array.from({ length: MAX_PROCESSED + 200 }, (_, n) => `other-${n}`);
  bus.settle({ record: first, also, handler: "h", outcome: "handled", marks: { about } }, { sync: false });
}

onEveryBus("dead letters", (bench) => {
  it("remembers who is done with a record as long as a dead letter of it lives", () =>
    bench(({ open, log, address }) => {
      const bus = open();
      bus.appendEvents([event("a"), event("forgotten")]);
      bus.newEvents(2);
      const emitting: Settlement = { record: "a", handler: "one", outcome: "handled", actions: [action("x")] };
      bus.settle(emitting);
      bus.settle({ record: "a", handler: "two", outcome: "threw", marks: { dead: true, ...done } });
      bus.settle({ record: "forgotten", handler: "one", outcome: "handled", marks: done });
      crowdOut(bus, "event");
      const again = open();
      assert.equal(again.handlerStatus("forgotten", "one"), "ready");
      assert.equal(again.revive("a"), 1);
      for (const each of [again, open()]) {
        assert.equal(eventIds(each), "a");
        assert.equal(each.handlerStatus("a", "one"), "settled");
        assert.equal(each.handlerStatus("a", "two"), "ready");
        assert.equal(each.attempt("a", "one").allowed, false);
        assert.equal(each.settle(emitting), "ignored");
      }
      assert.equal(readAll(log, address("actions")).length, 1);
    }));

  it("does not deliver an action again when the letter of another handler is tried again", () =>
    bench(({ open }) => {
      const bus = open();
      emit(bus, "x");
      fresh(bus);
      bus.settle({ record: "x", handler: "beforeRoute:p", outcome: "threw", marks: { dead: true } });
      bus.settle({ record: "x", handler: "deliver:b", outcome: "handled", marks: { closed: true } });
      crowdOut(bus, "action");
      bus.revive("x");
      for (const each of [bus, open()]) {
        assert.equal(each.deferredActions()[0]?.action.id, "x");
        assert.equal(each.attempt("x", "deliver:b").allowed, false);
      }
    }));

  it("drops the letters of a record for good", () =>
    bench(({ open, clock }) => {
      const bus = open();
      bus.appendEvents([event("a"), event("b")]);
      bus.newEvents(2);
      bus.settle({ record: "a", handler: "kept", outcome: "handled", result: 1 });
      const dead = { dead: true, ...done };
      for (const handler of ["one", "two", "triage"]) {
        bus.settle({ record: "a", handler, outcome: "threw", reason: "no", marks: dead });
      }
      bus.settle({ record: "b", handler: "one", outcome: "threw", reason: "no", marks: dead });
      assert.equal(bus.drop("a", "nobody"), 0);
      assert.equal(bus.drop("c"), 0);
      assert.equal(bus.drop("a", "one"), 1);
      const handlers = (each: Bus): string =>
        each
          .deadLetters()
          .map(({ record, handler }) => `${record} ${handler}`)
          .join();
      for (const each of [bus, open()]) {
        assert.equal(handlers(each), "a triage,a two,b one");
        assert.equal(each.results("a").size, 1);
      }
      assert.equal(bus.drop("a"), 2);
      assert.equal(bus.drop("a"), 0);
      clock.advance(9_000_000);
      for (const each of [bus, open()]) {
        assert.equal(handlers(each), "b one");
        assert.equal(each.revive("a"), 0);
        assert.equal(each.handlerStatus("a", "one"), "settled");
        assert.equal(each.results("a").size, 0, "what was decided is of no use any more");
        assert.equal(eventIds(each) + each.pendingTriage().join(), "");
      }
    }));

  it("says in the journal that a person dropped it", () =>
    bench(({ open, log, address }) => {
      const bus = open();
      emit(bus, "x");
      fresh(bus);
      bus.settle({ record: "x", handler: "deliver:b", outcome: "threw", marks: { dead: true } });
      bus.drop("x");
      const { record, handler, outcome, reason } = readAll(log, address("settled")).at(-1) as Record<string, unknown>;
      const expected = ["x", "deliver:b", "handled", "dropped by a person"];
      assert.deepEqual([record, handler, outcome, reason], expected);
    }));

  it("delivers no action that was dropped, though a kill left a wait for it", () =>
    bench(({ open }) => {
      const bus = open();
      emit(bus, "x");
      fresh(bus);
      bus.settle({ record: "x", handler: "outbox", outcome: "deferred" });
      bus.settle({ record: "x", handler: "beforeRoute:p", outcome: "threw", marks: { dead: true } });
      const again = open();
      assert.equal(again.deferredActions().length, 1);
      assert.equal(again.drop("x"), 1);
      for (const each of [again, open()])
        assert.deepEqual([...each.deferredActions(), ...each.freshActions(9, () => true)], []);
    }));

  it("lists what waits, soonest first", () =>
    bench(({ open, clock }) => {
      const bus = open();
      bus.appendEvents([event("a")]);
      bus.newEvents(1);
      emit(bus, "x");
      fresh(bus);
      const since = clock.now();
      assert.deepEqual(bus.deferredList(9), []);
      bus.settle({ record: "a", handler: "late", outcome: "deferred", reason: "Friday", until: since + 9000 });
      bus.settle({ record: "a", handler: "soon", outcome: "threw", reason: "boom", marks: done });
      bus.settle({ record: "x", handler: "outbox", outcome: "deferred", reason: "place", until: since + 10 });
      bus.settle({ record: "x", handler: "deliver:b", outcome: "deferred", reason: "way", until: since + 4000 });
      clock.advance(3000);
      const list = [
        { record: "a", handler: "soon", about: "event", reason: "boom", until: since + 1000, since, attempts: 1 },
        { record: "x", handler: "deliver:b", about: "action", reason: "way", until: since + 4000, since, attempts: 0 },
        { record: "a", handler: "late", about: "event", reason: "Friday", until: since + 9000, since, attempts: 0 },
      ];
      for (const each of [bus, open()]) {
        assert.deepEqual(each.deferredList(9), list);
        assert.deepEqual(each.deferredList(2), list.slice(0, 2));
        assert.deepEqual(each.deferredSummary(), { count: 2, oldestMs: 3000 });
        assert.deepEqual(each.deferredSummary("action"), { count: 1, oldestMs: 3000 });
      }
      bus.settle({ record: "x", handler: "deliver:b", outcome: "handled" });
      bus.settle({ record: "x", handler: "outbox", outcome: "handled" });
      assert.deepEqual(bus.deferredSummary("action"), { count: 0, oldestMs: 0 });
      assert.equal(bus.deferredSummary("event").count, 1);
    }));
});
