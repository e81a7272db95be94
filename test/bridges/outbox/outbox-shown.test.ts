import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { DeliveryResult } from "../../../src/bridges/contract.ts";
import { comment, loadedBridge, onBench, pending } from "../bridge-fixture.ts";

const OK: DeliveryResult = { success: true };
const LOST: DeliveryResult = { success: false, error: "502", retryable: true };
const SHOWN_AFTER = 30_000;

/** An outside that shows what it took after half a minute; the first answer to `a1` is given. */
function slowlyShowing(first: () => DeliveryResult | Promise<DeliveryResult>) {
  const sent: string[] = [];
  const asked: string[] = [];
  const loaded = loadedBridge({
    shownAfterMs: SHOWN_AFTER,
    actions: (_ctx, { id }) => {
      sent.push(id);
      return id === "a1" && sent.filter((one) => one === "a1").length === 1 ? first() : OK;
    },
    delivered: (_ctx, { id }) => {
      asked.push(id);
      return sent.includes(id);
    },
  });
  return { sent, asked, loaded };
}

describe("an outside that shows late what it took", () => {
  for (const [how, first] of [
    ["a lost answer", () => LOST],
    [
      "a throw",
      () => {
        throw new Error("lost its answer");
      },
    ],
  ] as const) {
    it(`is asked no sooner after ${how}, and only what may be there waits`, () =>
      onBench(async (bench) => {
        const { sent, asked, loaded } = slowlyShowing(first);
        bench.put(comment("a1", "a"), comment("a2", "a"));
        const outbox = await bench.deliver([loaded]);
        bench.put(comment("b1", "b"));
        await bench.later(1000);
        assert.deepEqual(sent, ["a1", "b1"], "the other address goes on as soon as the bridge is reachable");
        assert.equal(outbox.nextAt(), bench.now + SHOWN_AFTER - 1000);
        await bench.later(SHOWN_AFTER - 1001);
        assert.deepEqual(asked, []);
        await bench.later(1);
        assert.deepEqual([asked, sent], [["a1"], ["a1", "b1", "a2"]]);
      }));
  }

  it("is asked no sooner after a restart, counted from when it was sent", () =>
    onBench(async (bench) => {
      const begun = pending<void>();
      const { sent, asked, loaded } = slowlyShowing(() => {
        begun.resolve();
        return new Promise(() => undefined);
      });
      bench.put(comment("a1", "a"), comment("b1", "b"));
      void bench.deliver([loaded]);
      await begun.promise;
      for (const saved of [false, true]) {
        if (saved) bench.bus.save();
        bench.reopen();
        bench.now += 10_000;
        const outbox = await bench.deliver([loaded]);
        assert.deepEqual([asked, sent.toSorted()], [[], ["a1", "b1"]]);
        assert.equal(outbox.nextAt(), bench.now + (saved ? 10_000 : 20_000));
      }
      await bench.later(10_000);
      assert.deepEqual([asked, sent.toSorted()], [["a1"], ["a1", "b1"]]);
    }));

  it("keeps that over a restart when the failure is on record", () =>
    onBench(async (bench) => {
      const { asked, loaded } = slowlyShowing(() => LOST);
      bench.put(comment("a1"));
      await bench.deliver([loaded]);
      bench.reopen();
      bench.now += 10_000;
      const outbox = await bench.deliver([loaded]);
      assert.equal(outbox.nextAt(), bench.now + 20_000);
      await bench.later(20_000);
      assert.deepEqual(asked, ["a1"]);
    }));

  it("is sent again at once, and not asked, what surely did not arrive", () =>
    onBench(async (bench) => {
      const { sent, asked, loaded } = slowlyShowing(() => ({ ...LOST, arrived: false }));
      bench.put(comment("a1"));
      await bench.deliver([loaded]);
      await bench.later(1000);
      assert.deepEqual([asked, sent], [[], ["a1", "a1"]]);
    }));
});
