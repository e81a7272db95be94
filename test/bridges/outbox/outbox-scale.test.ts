import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { DeliveryResult } from "../../../src/bridges/contract.ts";
import type { Action } from "../../../src/bus/types.ts";
import { THOROUGH } from "../../testing/thorough.ts";
import { type Bench, comment, loadedBridge, onBench, pending } from "../bridge-fixture.ts";

const OK: DeliveryResult = { success: true };
/** What is counted does not depend on it. */
const COUNT = THOROUGH ? 10_000 : 1000;

function counted() {
  const counts = { calls: 0, routes: 0 };
  const state = { answer: { success: false, error: "down", retryable: true } as DeliveryResult };
  const loaded = loadedBridge({
    actions: () => {
      counts.calls += 1;
      return state.answer;
    },
  });
  const route = async ({ target }: Action) => {
    counts.routes += 1;
    return { kind: "deliver" as const, target };
  };
  return { counts, state, loaded, route };
}

function putMany(bench: Bench, tokenOf: (n: number) => string): void {
  for (let from = 0; from < COUNT; from += 1000) {
    bench.put(...Array.from({ length: 1000 }, (_one, n) => comment(`a${from + n}`, tokenOf(from + n))));
  }
}

describe(`${COUNT} actions that wait`, () => {
  for (const [where, tokenOf] of [
    ["at as many addresses", (n: number) => String(n)],
    ["at one address", () => "a"],
  ] as const) {
    it(`cost nothing when it is woken, ${where}`, () =>
      onBench(async (bench) => {
        const { counts, state, loaded, route } = counted();
        putMany(bench, tokenOf);
        const outbox = await bench.deliver([loaded], { route });
        assert.equal(counts.routes, COUNT);
        assert.equal(bench.bus.deferredSummary().count, COUNT);
        bench.reopen();
        counts.routes = 0;
        const again = await bench.deliver([loaded], { route });
        await bench.later(1000);
        assert.equal(counts.routes, COUNT, "each is looked at once after a restart");
        assert.notEqual(again, outbox);
        // Now only the way is broken again: nothing else may happen at a wake-up.
        counts.routes = 0;
        counts.calls = 0;
        const lines = bench.lines("settled").length;
        const reads = { ...bench.reads };
        for (let n = 0; n < 100; n += 1) await bench.later(1);
        assert.deepEqual(counts, { calls: 0, routes: 0 });
        assert.equal(bench.lines("settled").length, lines);
        assert.ok((bench.reads.actions ?? 0) - (reads.actions ?? 0) <= 200, "two reads for each wake-up at most");
        assert.equal((bench.reads.settled ?? 0) - (reads.settled ?? 0), 0);
        await bench.later(3_600_000);
        assert.equal(counts.calls, 1, "one call shows whether the way is there");
        state.answer = OK;
        await bench.later(3_600_000);
        assert.equal(bench.bus.deferredSummary().count, 0);
        assert.equal(counts.calls, COUNT + 1);
      }));
  }

  it("at one slow address do not keep the next address from being read", () =>
    onBench(async (bench) => {
      const slow = pending<DeliveryResult>();
      const reached = pending<void>();
      const loaded = loadedBridge({
        actions: (_ctx, { target }) => {
          if (target.token === "b") reached.resolve();
          return target.token === "a" ? slow.promise : OK;
        },
      });
      for (let n = 0; n < 2000; n += 1) bench.put(comment(`a${n}`, "a"));
      bench.put(comment("b1", "b"));
      const working = bench.deliver([loaded]);
      await reached.promise;
      slow.resolve(OK);
      await working;
      assert.equal(bench.bus.deferredSummary().count, 0);
    }));
});
