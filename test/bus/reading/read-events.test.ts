import assert from "node:assert/strict";
import { it } from "node:test";
import type { Bus } from "../../../src/bus/bus.ts";
import { type Log, START } from "../../../src/bus/ports.ts";
import { hasCode } from "../../testing/contracts/bus-contract.ts";
import { done, event, eventIds, events, onEveryBus } from "../bus-fixture.ts";

onEveryBus("reading events", (bench) => {
  const page = (bus: Bus, query?: Parameters<Bus["readEvents"]>[0]): [string, string | undefined] => {
    const { events: found, lastId } = bus.readEvents(query);
    return [found.map(({ id }) => id).join(), lastId];
  };

  it("reads on from where it was told, without moving anything", () =>
    bench(({ open }) => {
      const bus = open();
      assert.deepEqual(page(bus), ["", undefined]);
      bus.appendEvents([event("a"), { ...event("b"), type: "other" }, event("c"), { ...event("d"), type: "other" }]);
      assert.deepEqual(page(bus), ["a,b,c,d", "d"]);
      assert.deepEqual(page(bus, { limit: 2 }), ["a,b", "b"]);
      assert.deepEqual(page(bus, { sinceId: "b", limit: 1 }), ["c", "c"]);
      assert.deepEqual(page(bus, { sinceId: "d" }), ["", undefined]);
      assert.deepEqual(page(bus, { types: ["other"] }), ["b,d", "d"]);
      assert.deepEqual(page(bus, { types: ["note"] }), ["a,c", "d"], "the last one was looked at too");
      assert.deepEqual(page(bus, { types: ["none"] }), ["", "d"]);
      assert.deepEqual(page(bus, { types: ["other"], sinceId: "b", limit: 1 }), ["d", "d"]);
      assert.deepEqual(page(bus, { types: [] }), ["", "d"]);
      assert.deepEqual(page(open(), { sinceId: "c" }), ["d", "d"], "a new process has to look for it");
      assert.equal(bus.state().eventsOffset, START);
      assert.equal(eventIds(bus), "a,b,c,d");
    }));

  it("names an event that it never had", () =>
    bench(({ open }) => {
      const bus = open();
      bus.appendEvents([event("a")]);
      for (const sinceId of ["b", "", '"id":"a"']) {
        assert.throws(() => bus.readEvents({ sinceId }), hasCode("event-not-found"));
      }
    }));

  it("gives at most a thousand, and a hundred unless asked", () =>
    bench(({ open }) => {
      const bus = open();
      bus.appendEvents(events(1050));
      assert.equal(bus.readEvents().events.length, 100);
      assert.equal(bus.readEvents({ limit: 5000 }).events.length, 1000);
      assert.equal(bus.readEvents({ limit: 0 }).events.length, 1);
    }));

  it("finds an event: a new one, one that waits, one that is done", () =>
    bench(({ open }) => {
      const bus = open();
      bus.appendEvents([event("new"), event("waits"), event("done")]);
      bus.newEvents(9);
      bus.settle({ record: "waits", handler: "h", outcome: "deferred", marks: done });
      bus.settle({ record: "done", handler: "h", outcome: "handled", marks: done });
      for (const each of [bus, open()]) {
        for (const id of ["new", "waits", "done"]) assert.deepEqual(each.findEvent(id), event(id));
        assert.equal(each.findEvent("never"), undefined);
      }
    }));

  it("finds the newest events without a search, as they were appended", () =>
    bench(({ open, log }) => {
      const searched: string[] = [];
      const find: Log["find"] = (address, id, how) => {
        searched.push(id);
        return log.find(address, id, how);
      };
      const bus = open({ log: { ...log, find } });
      const context = { labels: ["one"], gone: undefined };
      bus.appendEvents([...events(2100), { ...event("rich"), context }]);
      context.labels.push("two");
      for (const id of ["e2099", "e150"]) assert.deepEqual(bus.findEvent(id), event(id));
      const rich = { ...event("rich"), context: { labels: ["one"] } };
      assert.deepEqual(bus.findEvent("rich"), rich);
      const [first = "", ...also] = bus.newEvents(3000).map((one) => one.event.id);
      bus.settle({ record: first, also, handler: "h", outcome: "handled", marks: done });
      assert.deepEqual(bus.findEvent("rich"), rich);
      assert.deepEqual(searched, []);
      bus.findEvent("e3");
      assert.deepEqual(searched, ["e3"], "only the newest are remembered");
    }));
});
