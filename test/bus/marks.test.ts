import assert from "node:assert/strict";
import { it } from "node:test";
import { emptyBusState } from "../../src/bus/bus-state.ts";
import { readMarks } from "../../src/bus/marks.ts";
import type { Settlement } from "../../src/bus/types.ts";
import { event, foldSettlement, onEveryBus } from "./bus-fixture.ts";

onEveryBus("marks", (withBench) => {
  it("refuses a mark that it does not know, before anything is written", () =>
    withBench(({ open }) => {
      const bus = open();
      bus.appendEvents([event("a")]);
      for (const marks of [{ colour: "red" }, { moveCursor: "1:5" }, { wait: "later" }, { done: true }]) {
        const settlement = { record: "a", handler: "h", outcome: "passed", marks } as unknown as Settlement;
        assert.throws(() => bus.settle(settlement), /marks/);
      }
      assert.deepEqual(bus.state().settled, {});
    }));

  it("keeps what a wait is about, over a snapshot and over a replay", () =>
    withBench(({ open }) => {
      const bus = open();
      bus.appendEvents([event("a"), event("b")]);
      bus.settle({ record: "a", handler: "h", outcome: "deferred", reason: "x", marks: { wait: "at-work" } });
      bus.settle({ record: "b", handler: "h", outcome: "deferred", reason: "x" });
      for (const again of [bus, open(), open()]) {
        assert.equal(again.waitOf("a", "h")?.kind, "at-work");
        assert.equal(again.waitOf("b", "h")?.kind, undefined);
        again.save();
      }
      bus.settle({ record: "a", handler: "h", outcome: "deferred", reason: "x" });
      assert.equal(bus.waitOf("a", "h")?.kind, undefined);
    }));
});

it("reads journals of other versions: what is unknown or wrong is left out, the rest counts", () => {
  const told = { about: "action", dead: true, closed: "yes", wait: "for godot", moveCursor: "x", at: [], new: 1 };
  assert.deepEqual(JSON.parse(JSON.stringify(readMarks(told))), { about: "action", dead: true });
  assert.equal(readMarks("text"), undefined);
  const data = { record: "e", handler: "h", outcome: "deferred", reason: "still at work", marks: { until: 5 } };
  const state = foldSettlement(emptyBusState(), {
    ts: new Date(0).toISOString(),
    kind: "settlement",
    schemaVersion: 1,
    data,
  });
  assert.equal(state.deferredEventIds.e?.handlers.h?.reason, "still at work");
});
