import assert from "node:assert/strict";
import { it } from "node:test";
import type { Bus } from "../../src/bus/bus.ts";
import { compareCursors } from "../../src/bus/cursor.ts";
import type { BusOptions } from "../../src/bus/parts.ts";
import { START } from "../../src/bus/ports.ts";
import type { BusEvent, Settlement } from "../../src/bus/types.ts";
import { readAll } from "../testing/contracts/bus-contract.ts";
import { action, done, event, eventIds, fresh, onEveryBus } from "./bus-fixture.ts";

onEveryBus("events and actions", (bench) => {
  it("offers events in order until every handler was offered them", () =>
    bench(({ open }) => {
      const bus = open();
      assert.deepEqual(bus.appendEvents([event("a"), event("b"), event("a")]).duplicates, ["a"]);
      assert.equal(eventIds(bus), "a,b");
      bus.settle({ record: "a", handler: "one", outcome: "handled" });
      assert.equal(eventIds(bus), "a,b");
      assert.equal(bus.handlerStatus("a", "one"), "settled");
      assert.equal(bus.handlerStatus("a", "two"), "ready");
      bus.settle({ record: "a", handler: "two", outcome: "passed", marks: done });
      assert.equal(eventIds(bus), "b");
      assert.equal(eventIds(open()), "b");
    }));

  it("never moves the cursor past an event that is not done", () =>
    bench(({ open }) => {
      const bus = open();
      bus.appendEvents([event("a"), event("b"), event("c")]);
      bus.newEvents(9);
      bus.settle({ record: "c", handler: "h", outcome: "handled", marks: done });
      bus.settle({ record: "b", handler: "h", outcome: "handled", marks: done });
      assert.equal(eventIds(bus), "a");
      const again = open();
      assert.equal(eventIds(again), "a", "after a restart it is known what is done");
      assert.equal(again.handlerStatus("b", "h"), "settled");
      assert.equal(again.state().eventsOffset, START);
      again.appendEvents([event("d")]);
      again.settle({ record: "a", handler: "h", outcome: "handled", marks: done });
      assert.equal(again.settle({ record: "b", handler: "h", outcome: "handled", marks: done }), "ignored");
      assert.equal(eventIds(again), "d");
      assert.equal(eventIds(open()), "d");
      assert.deepEqual(again.state().ahead, {});
    }));

  it("tells what became of an action: a hook that let it pass is no delivery", () =>
    bench(({ open }) => {
      const bus = open();
      const actions = [action("one"), action("two"), action("three")];
      bus.settle({ record: "e", handler: "gate", outcome: "handled", actions, marks: { about: "event" } });
      assert.equal(bus.actionFate("one"), "open");
      bus.settle({ record: "one", handler: "beforeRoute:p", outcome: "passed", marks: { about: "action" } });
      assert.equal(bus.actionFate("one"), "open");
      bus.settle({ record: "one", handler: "deliver:b", outcome: "deferred", marks: { about: "action" } });
      assert.equal(bus.actionFate("one"), "open");
      const closed = { about: "action", closed: true } as const;
      bus.settle({ record: "one", handler: "deliver:b", outcome: "handled", marks: closed });
      const dead = { about: "action", dead: true } as const;
      bus.settle({ record: "two", handler: "deliver:b", outcome: "threw", reason: "410", marks: dead });
      bus.settle({ record: "three", handler: "dispatcher", outcome: "handled", marks: closed });
      for (const each of [bus, open()])
        assert.deepEqual(
          ["one", "two", "three", "four"].map((id) => each.actionFate(id)),
          ["done", "dead", "done", "open"],
        );
    }));

  it("keeps bad events out and good ones in", () =>
    bench(({ open }) => {
      const bus = open();
      const bad = { ...event("x"), severity: "loud" } as unknown as BusEvent;
      const result = bus.appendEvents([event("a"), bad, event("__proto__"), event("b")]);
      assert.deepEqual(
        result.refused.map(({ index }) => index),
        [1, 2],
      );
      assert.match(result.refused[0]?.message ?? "", /severity/);
      assert.equal(eventIds(bus), "a,b");
    }));

  it("retries what threw, later and later, and then shows it as a dead letter", () =>
    bench(({ open, clock }) => {
      const bus = open();
      bus.appendEvents([event("a")]);
      bus.newEvents(1);
      const start = clock.now();
      for (const [attempt, wait] of [
        [1, 1000],
        [2, 2000],
      ] as const) {
        assert.deepEqual(bus.attempt("a", "h"), { attempts: attempt, allowed: true, uncertain: false });
        const result = bus.settle({ record: "a", handler: "h", outcome: "threw", reason: "boom", marks: done });
        assert.equal(result, "deferred");
        assert.equal(eventIds(bus), "");
        assert.equal(bus.nextRetryAt(), clock.now() + wait);
        clock.advance(wait - 1);
        assert.equal(eventIds(bus), "");
        clock.advance(1);
        assert.equal(eventIds(open()), "a");
        assert.equal(eventIds(bus), "a");
      }
      assert.deepEqual(bus.deferredSummary(), { count: 1, oldestMs: clock.now() - start });
      bus.attempt("a", "h");
      assert.equal(bus.settle({ record: "a", handler: "h", outcome: "threw", reason: "boom", marks: done }), "dead");
      assert.equal(bus.nextRetryAt(), undefined);
      assert.deepEqual(bus.deferredSummary(), { count: 0, oldestMs: 0 });
      for (const each of [bus, open()]) {
        const [letter] = each.deadLetters();
        assert.deepEqual([letter?.record, letter?.handler, letter?.reason, letter?.attempts], ["a", "h", "boom", 3]);
        assert.equal(each.handlerStatus("a", "h"), "dead");
        assert.equal(each.attempt("a", "h").allowed, false);
      }
    }));

  it("revives a dead letter", () =>
    bench(({ open, log, address }) => {
      const bus = open();
      bus.appendEvents([event("a")]);
      bus.newEvents(1);
      bus.settle({
        record: "a",
        handler: "h",
        outcome: "threw",
        reason: "no bridge",
        marks: { dead: true, ...done },
      });
      assert.equal(readAll(log, address("dead")).length, 1);
      assert.equal(bus.revive("a"), 1);
      assert.equal(bus.revive("a"), 0);
      assert.equal(eventIds(bus), "a");
      bus.settle({ record: "a", handler: "h", outcome: "handled", marks: done });
      assert.equal(eventIds(open()), "");
      assert.deepEqual(bus.deadLetters(), []);
      assert.equal(readAll(log, address("dead")).length, 1);
    }));

  it("lets a handler defer forever, without a hot loop", () =>
    bench(({ open, clock }) => {
      const bus = open();
      bus.appendEvents([event("a")]);
      bus.newEvents(1);
      for (let n = 0; n < 20; n += 1) {
        assert.deepEqual(bus.attempt("a", "h"), { attempts: 1, allowed: true, uncertain: false });
        bus.settle({ record: "a", handler: "h", outcome: "deferred", until: clock.now(), marks: done });
        assert.equal(eventIds(bus), "");
        assert.ok((bus.nextRetryAt() ?? 0) >= clock.now() + 1000);
        clock.advance(300_000);
        assert.equal(eventIds(bus), "a");
      }
      assert.deepEqual(bus.deadLetters(), []);
    }));

  it("gives up a handler that ends the process each time", () =>
    bench(({ open }) => {
      open().appendEvents([event("a")]);
      for (const attempts of [1, 2, 3]) {
        const bus = open();
        assert.equal(eventIds(bus), "a");
        assert.deepEqual(bus.attempt("a", "h"), { attempts, allowed: true, uncertain: attempts > 1 });
      }
      const bus = open();
      bus.newEvents(1);
      assert.deepEqual(bus.attempt("a", "h"), { attempts: 3, allowed: false, uncertain: true });
      assert.equal(bus.deadLetters()[0]?.handler, "h");
    }));

  it("appends the actions of the first settlement, once, and of no other", () =>
    bench(({ open, log, address }) => {
      const bus = open();
      bus.appendEvents([event("a")]);
      bus.newEvents(1);
      const settle = (outcome: Settlement["outcome"], ...ids: string[]) =>
        bus.settle({ record: "a", handler: "h", outcome, actions: ids.map(action) });
      settle("threw", "x");
      settle("handled", "y", "z");
      assert.equal(settle("handled", "late"), "ignored");
      assert.equal(fresh(bus), "y,z");
      assert.equal(fresh(open()), "y,z");
      assert.equal(readAll(log, address("actions")).length, 2);
    }));

  it("delivers actions in order, and retries them", () =>
    bench(({ open, clock }) => {
      const bus = open();
      bus.settle({ record: "p", handler: "poll", outcome: "handled", actions: ["x", "y", "z"].map(action) });
      assert.equal(
        fresh(bus, () => true, 2),
        "x,y",
      );
      bus.settle({ record: "x", handler: "hook", outcome: "passed" });
      assert.equal(
        fresh(bus, () => true, 2),
        "x,y",
      );
      bus.attempt("x", "local");
      bus.settle({ record: "x", handler: "local", outcome: "threw", reason: "refused" });
      bus.settle({ record: "y", handler: "local", outcome: "handled" });
      assert.equal(fresh(bus), "z");
      assert.equal(bus.deferredActions()[0]?.action.id, "x");
      clock.advance(1000);
      for (const each of [bus, open()]) {
        const [x] = each.deferredActions();
        assert.deepEqual([x?.action.id, x?.attempts, x?.until], ["x", 1, clock.now()]);
        assert.equal(fresh(each), "z");
      }
      assert.deepEqual(bus.state().processedActionIds, ["y"]);
      assert.ok(bus.state().deferredActionIds.x);
      assert.deepEqual(bus.state().deferredEventIds, {});
    }));

  it("remembers what waits for triage, and forgets it when triage answered", () =>
    bench(({ open }) => {
      const bus = open();
      bus.appendEvents([event("a"), event("b"), event("c")]);
      bus.newEvents(9);
      for (const id of ["a", "b"]) {
        bus.settle({ record: id, handler: "dispatcher", outcome: "passed", marks: { pendingTriage: true, ...done } });
      }
      const ids = (one: Bus) =>
        one
          .pendingTriage()
          .map(({ id }) => id)
          .join();
      assert.equal(ids(bus), "a,b");
      const again = open();
      assert.equal(ids(again), "a,b");
      again.settle({ record: "a", handler: "triage", outcome: "handled", also: ["b"], marks: { triaged: true } });
      assert.equal(ids(again), "");
      assert.equal(ids(open()), "");
      assert.equal(eventIds(open()), "c");
    }));

  it("does not take in again an event that it has dealt with", () =>
    bench(({ open }) => {
      const bus = open();
      bus.appendEvents([event("a")]);
      bus.newEvents(1);
      bus.settle({ record: "a", handler: "h", outcome: "handled", marks: done });
      assert.deepEqual(open().appendEvents([event("a")]), { appended: [], duplicates: ["a"], refused: [] });
    }));

  it("tells each settlement that won, once per life at least", () =>
    bench(({ open }) => {
      const won: string[] = [];
      const places: string[] = [];
      const onWon: BusOptions["onWon"] = ({ record, state }, cursor) => {
        won.push(`${record}:${state?.["plan:h"]?.n?.value}`);
        places.push(cursor);
      };
      const bus = open({ onWon });
      const state = (n: number) => ({ "plan:h": { n: { value: n } } });
      bus.settle({ record: "a", handler: "h", outcome: "threw", state: state(0) });
      bus.settle({ record: "a", handler: "h", outcome: "handled", state: state(1) });
      bus.settle({ record: "a", handler: "h", outcome: "handled", state: state(2) });
      assert.deepEqual(won, ["a:1"]);
      assert.equal(places[0], bus.state().settledOffset);
      bus.settle({ record: "b", handler: "h", outcome: "passed", state: state(3) });
      assert.deepEqual(won, ["a:1", "b:3"]);
      assert.ok(compareCursors(places[1] ?? "", places[0] ?? "") > 0);
    }));
});
