import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { pollBridge } from "../../../src/bridges/polls/poll.ts";
import { type Bench, loadedBridge, onBench } from "../bridge-fixture.ts";

async function failureOf(bench: Bench, events: () => unknown): Promise<unknown> {
  const loaded = loadedBridge({ events: events as () => never }, { name: "tracker" });
  const { failed, retryAfterMs } = await pollBridge(bench.services, { bus: bench.bus, planId: "login" }, loaded);
  return { failed, retryAfterMs };
}

describe("a poll that did not get through", () => {
  it("says why and how long to wait, and takes nothing", () =>
    onBench(async (bench) => {
      const event = { id: "e1", type: "card.moved", severity: "info", title: "", body: "" };
      const limited = { success: false, error: "rate limit", retryAfterMs: 60_000, events: [event], state: 1 };
      assert.deepEqual(await failureOf(bench, () => limited), { failed: "rate limit", retryAfterMs: 60_000 });
      assert.deepEqual(bench.bus.newEvents(9), []);
      assert.deepEqual(bench.stores.read({ kind: "bridge", planId: "login", name: "tracker" }), {});
      assert.match(bench.reports.join("\n"), /warn: the poll of bridge tracker failed: rate limit/);
    }));

  it("may throw an error that has it", () =>
    onBench(async (bench) => {
      const failure = await failureOf(bench, () => {
        throw Object.assign(new Error("403"), { retryAfterMs: 5000 });
      });
      assert.deepEqual(failure, { failed: "403", retryAfterMs: 5000 });
    }));

  it("is taken for an ordinary failure where the wait makes no sense", () =>
    onBench(async (bench) => {
      for (const retryAfterMs of [-1, "soon", Number.NaN, undefined]) {
        const failure = await failureOf(bench, () => ({ success: false, retryAfterMs }));
        assert.deepEqual(failure, { failed: "it gave no reason", retryAfterMs: undefined });
      }
      const trap = Object.defineProperty(new Error("trap"), "retryAfterMs", {
        enumerable: true,
        get: () => assert.fail("sprung"),
      });
      const failure = await failureOf(bench, () => {
        throw trap;
      });
      assert.deepEqual(failure, { failed: "trap", retryAfterMs: undefined });
    }));
});
