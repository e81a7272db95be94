import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { DeliveryResult } from "../../../src/bridges/contract.ts";
import { type Bench, comment, loadedBridge, onBench, pending } from "../bridge-fixture.ts";

const OK: DeliveryResult = { success: true };
const DOWN: DeliveryResult = { success: false, error: "down", retryable: true };

async function afterRestart(bench: Bench): Promise<string[]> {
  bench.reopen();
  const got: string[] = [];
  const loaded = loadedBridge({
    actions: (_ctx, { id }) => {
      got.push(id);
      return OK;
    },
  });
  await bench.deliver([loaded]);
  await bench.later(5000);
  return got;
}

describe("order over a restart", () => {
  it("holds for one that was put off behind one that was under way", () =>
    onBench(async (bench) => {
      const begun = pending<void>();
      const loaded = loadedBridge({
        actions: (_ctx, { id }) => {
          if (id === "c1") return begun.promise.then(() => DOWN);
          begun.resolve();
          return new Promise(() => undefined);
        },
      });
      bench.put(comment("a1", "a"), comment("a2", "a"), comment("c1", "c"));
      void bench.deliver([loaded]);
      while (!bench.settlements("a2").includes("outbox deferred"))
        await new Promise((resolve) => setImmediate(resolve));
      assert.deepEqual(bench.settlements("a1"), [], "it is under way");
      assert.deepEqual(
        (await afterRestart(bench)).filter((id) => id.startsWith("a")),
        ["a1", "a2"],
      );
    }));

  it("holds for one that a hook put off behind one that was under way, and for new ones", () =>
    onBench(async (bench) => {
      bench.put(comment("a1", "a"), comment("a2", "a"), comment("a3", "a"), comment("a4", "a"));
      // It is offered, so that the bus knows where it lies.
      assert.equal(bench.bus.freshActions(9, () => true).length, 4);
      for (const record of ["a2", "a4"]) {
        bench.bus.settle({
          record,
          handler: "beforeRoute:x",
          outcome: "threw",
          reason: "no",
          marks: { about: "action" },
        });
      }
      bench.put(comment("a5", "a"));
      assert.deepEqual(await afterRestart(bench), ["a1", "a2", "a3", "a4", "a5"]);
    }));
});
