import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { DeliveryResult } from "../../../src/bridges/contract.ts";
import { Outbox } from "../../../src/bridges/outbox/outbox.ts";
import { comment, HOUR, loadedBridge, onBench, pending } from "../bridge-fixture.ts";

const OK: DeliveryResult = { success: true };
const DOWN: DeliveryResult = { success: false, error: "503", retryable: true };

/** A connection that the test breaks and repairs. */
function way() {
  const state = { answer: DOWN as DeliveryResult, got: [] as string[] };
  const loaded = loadedBridge({
    actions: (_ctx, action) => {
      state.got.push(action.id);
      return state.answer;
    },
  });
  return { state, loaded };
}

describe("a broken way", () => {
  it("is tried with one call at a time, later and later, and all goes out when it is free again", () =>
    onBench(async (bench) => {
      const { state, loaded } = way();
      const others = loadedBridge({ actions: () => OK }, { name: "other" });
      for (let n = 0; n < 6; n += 1) bench.put(comment(`a${n}`, `token-${n}`));
      bench.put(comment("o1", "x", "other"));
      const outbox = await bench.deliver([loaded, others]);
      const first = state.got.length;
      assert.ok(first <= 4, "calls under way when it broke");
      assert.equal(outbox.nextAt(), bench.now + 1000);
      assert.deepEqual(bench.settlements("o1"), ["deliver:other handled"]);
      for (const [wait, next] of [
        [1000, 2000],
        [2000, 4000],
        [4000, 8000],
      ] as const) {
        const before = state.got.length;
        await bench.later(wait - 1);
        assert.equal(state.got.length, before);
        await bench.later(1);
        assert.equal(state.got.length, before + 1, "half-open: one call");
        assert.equal(outbox.nextAt(), bench.now + next);
      }
      state.answer = OK;
      state.got.length = 0;
      await bench.later(8000);
      assert.deepEqual(state.got.toSorted(), ["a0", "a1", "a2", "a3", "a4", "a5"]);
      assert.deepEqual(bench.dead(), []);
      assert.match(
        bench.reports.join("\n"),
        /warn: deliver:desk: comment to desk\/token-\d waits: 503; next try in 4 s/,
      );
      assert.equal(bench.reports.filter((line) => line === "info: bridge desk is reachable again").length, 1);
      assert.equal(bench.bus.deferredSummary().count, 0);
    }));

  it("waits for as long as the other side asks", () =>
    onBench(async (bench) => {
      const { state, loaded } = way();
      state.answer = { success: false, error: "rate limit", retryable: true, retryAfterMs: 90_000 };
      bench.put(comment("a1"));
      const outbox = await bench.deliver([loaded]);
      assert.equal(outbox.nextAt(), bench.now + 90_000);
      assert.equal(bench.bus.waitOf("a1", "deliver:desk")?.attempts, 0);
    }));

  it("is not an attempt when how long the other side asks to wait makes no sense", () =>
    onBench(async (bench) => {
      const { state, loaded } = way();
      bench.put(comment("a1"));
      for (const retryAfterMs of [Number.NaN, -1, Number.POSITIVE_INFINITY, null, "60"]) {
        state.answer = { ...DOWN, retryAfterMs } as DeliveryResult;
        if (state.got.length === 0) await bench.deliver([loaded]);
        else await bench.later(HOUR);
        assert.deepEqual(bench.bus.waitOf("a1", "deliver:desk")?.attempts, 0, String(retryAfterMs));
      }
      assert.equal(state.got.length, 5);
    }));

  it("is not tried without pause when the other side says 0, and as often as the config says", () =>
    onBench(async (bench) => {
      const { state, loaded } = way();
      bench.retryLimits = { minMs: 20, maxMs: 50 };
      state.answer = { success: false, error: "busy", retryable: true, retryAfterMs: 0 };
      bench.put(comment("a1"));
      const outbox = await bench.deliver([loaded]);
      for (const wait of [20, 40, 50, 50]) {
        assert.equal(outbox.nextAt(), bench.now + wait);
        await bench.later(wait);
      }
      assert.equal(state.got.length, 5);
    }));

  it("is written down once for each action that waits before it", () =>
    onBench(async (bench) => {
      const { state, loaded } = way();
      bench.put(comment("a1", "a"), comment("a2", "a"));
      await bench.deliver([loaded]);
      bench.put(comment("b1", "b"), comment("a3", "a"));
      await bench.settle();
      assert.deepEqual(state.got, ["a1"]);
      const lines = () => bench.lines("settled").length;
      const before = lines();
      for (const id of ["a2", "a3", "b1"]) assert.deepEqual(bench.settlements(id), ["outbox deferred"]);
      for (let n = 0; n < 50; n += 1) await bench.later(10);
      assert.equal(lines(), before, "waiting writes nothing");
      assert.equal(bench.bus.freshActions(10, () => true).length, 0, "the cursor went on");
      bench.reopen();
      await bench.deliver([loaded]);
      for (const id of ["a2", "a3"]) assert.deepEqual(bench.settlements(id), ["outbox deferred"]);
    }));

  it("makes dead letters after 72 h, also of those that were never tried", () =>
    onBench(async (bench) => {
      const { loaded } = way();
      for (let n = 0; n < 20; n += 1) bench.put(comment(`a${n}`, `token-${n}`));
      const outbox = await bench.deliver([loaded]);
      for (let hours = 0; hours < 71; hours += 1) await bench.later(HOUR);
      assert.deepEqual(bench.dead(), []);
      await bench.later(HOUR);
      assert.equal(bench.dead().length, 20);
      assert.match(bench.dead()[0] ?? "", /503 \(.*(72 h|bus\.maxAge)\)/);
      assert.equal(outbox.nextAt(), undefined);
      assert.equal(bench.bus.deferredSummary().count, 0);
    }));

  it("is broken for all buses, and one of them tries it", () =>
    onBench(async (bench) => {
      const { state, loaded } = way();
      const probe = pending<DeliveryResult>();
      bench.put(comment("a1"));
      await bench.deliver([loaded]);
      await onBench(async (other) => {
        other.put(comment("b1"));
        const outbox = new Outbox({
          bus: other.bus,
          scope: {},
          bridgeFor: () => loaded,
          circuits: bench.circuits,
          services: bench.services,
          route: async ({ target }) => ({ kind: "deliver", target }),
        });
        other.outbox = outbox;
        outbox.wake();
        await outbox.settled();
        assert.deepEqual(state.got, ["a1"], "the other bus does not try");
        state.answer = probe.promise as unknown as DeliveryResult;
        bench.now += 1000;
        other.now += 1000;
        bench.outbox?.wake();
        outbox.wake();
        while (state.got.length < 2) await new Promise((resolve) => setImmediate(resolve));
        for (let n = 0; n < 20; n += 1) await new Promise((resolve) => setImmediate(resolve));
        assert.equal(state.got.length, 2, "half-open: one call over all buses");
        probe.resolve(OK);
        state.answer = OK;
        await Promise.all([outbox.settled(), bench.outbox?.settled()]);
        assert.deepEqual(state.got.slice(1).toSorted(), ["a1", "b1"]);
      }, {});
    }));
});
