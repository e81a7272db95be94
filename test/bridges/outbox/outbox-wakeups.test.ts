import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createCircuits } from "../../../src/bridges/circuit.ts";
import type { DeliveryResult } from "../../../src/bridges/contract.ts";
import { Outbox } from "../../../src/bridges/outbox/outbox.ts";
import { comment, loadedBridge, onBench, pending } from "../bridge-fixture.ts";

const OK: DeliveryResult = { success: true };
const DOWN: DeliveryResult = { success: false, error: "503", retryable: true };

/** Waits for what real timers bring. */
async function becomes(isSo: () => boolean): Promise<void> {
  for (let look = 0; look < 200 && !isSo(); look += 1) await sleep(10);
  assert.ok(isSo(), "it did not happen by itself");
}

describe("an outbox that is not woken", () => {
  it("tries again although the time of a broken way comes between its look and its timer", () =>
    onBench(async (bench) => {
      const got: string[] = [];
      let answer: DeliveryResult = DOWN;
      const loaded = loadedBridge({
        actions: (_ctx, { id }) => {
          got.push(id);
          return answer;
        },
      });
      bench.retryLimits = { minMs: 1000, maxMs: 1000 };
      bench.put(comment("a1"));
      const outbox = await bench.deliver([loaded]);
      answer = OK;
      // Each question for the time moves it by what a busy machine needs between two of them.
      const opensAt = outbox.nextAt() ?? 0;
      bench.now = opensAt - 1;
      let asked = 0;
      bench.clock.now = () => bench.now + (asked++ > 0 ? 1 : 0);
      outbox.wake();
      await becomes(() => got.length === 2);
      await becomes(() => bench.settlements("a1").includes("deliver:desk handled"));
    }));

  it("learns that the way is broken again when another one tried it", () =>
    onBench(async (bench) => {
      const probe = pending<DeliveryResult>();
      const circuits = createCircuits();
      const answers: (DeliveryResult | Promise<DeliveryResult>)[] = [DOWN, probe.promise];
      const got: string[] = [];
      const loaded = loadedBridge({
        actions: (_ctx, { id }) => {
          got.push(id);
          return answers.shift() ?? OK;
        },
      });
      bench.put(comment("a1"));
      await bench.deliver([loaded], { circuits });
      await onBench(async (other) => {
        other.put(comment("b1"));
        const outbox = new Outbox({
          bus: other.bus,
          scope: {},
          bridgeFor: () => loaded,
          circuits,
          services: bench.services,
          route: async ({ target }) => ({ kind: "deliver", target }),
        });
        other.outbox = outbox;
        outbox.wake();
        await outbox.settled();
        bench.now += 1000;
        bench.outbox?.wake();
        await becomes(() => got.length === 2);
        // It looks while the other one's call is under way, and may not try itself.
        outbox.wake();
        await sleep(20);
        bench.retryLimits = { minMs: 30, maxMs: 30 };
        probe.resolve(DOWN);
        await sleep(20);
        assert.equal(outbox.idle(), true, "it knows that it has to wait");
        assert.ok((outbox.nextAt() ?? 0) > bench.now);
        // The other one says nothing any more.
        bench.outbox?.stop();
        bench.now += 5000;
        await becomes(() => got.includes("b1"));
      });
    }));
});
