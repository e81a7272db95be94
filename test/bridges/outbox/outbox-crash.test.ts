import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { DeliveryResult } from "../../../src/bridges/contract.ts";
import { comment, loadedBridge, onBench, pending } from "../bridge-fixture.ts";

const OK: DeliveryResult = { success: true };

/** An outside that keeps what arrived, and a bridge that can look there. */
function outside(send: (id: string) => DeliveryResult | Promise<DeliveryResult>, look?: () => boolean) {
  const arrived: string[] = [];
  const asked: string[] = [];
  const loaded = loadedBridge({
    actions: (_ctx, { id }) => {
      arrived.push(id);
      return send(id);
    },
    delivered: (_ctx, { id }) => {
      asked.push(id);
      return look ? look() : arrived.includes(id);
    },
  });
  return { arrived, asked, loaded };
}

describe("a call of which it is unknown how it ended", () => {
  it("is looked for after a kill, and not made again when it arrived", () =>
    onBench(async (bench) => {
      const sent = pending<void>();
      const { arrived, asked, loaded } = outside((id) => {
        sent.resolve();
        return id === "a1" ? new Promise(() => undefined) : OK;
      });
      bench.put(comment("a1"), comment("a2"));
      void bench.deliver([loaded]);
      await sent.promise;
      bench.reopen();
      await bench.deliver([loaded]);
      assert.deepEqual(arrived, ["a1", "a2"]);
      assert.deepEqual(asked, ["a1"]);
      const [line] = bench.lines("settled").filter(({ data }) => data.record === "a1" && data.outcome === "handled");
      assert.equal(line?.data.reason, "found again");
    }));

  it("is made again when it did not arrive", () =>
    onBench(async (bench) => {
      bench.put(comment("a1"));
      bench.bus.freshActions(1, () => true);
      bench.bus.attempt("a1", "deliver:desk");
      bench.reopen();
      const { arrived, asked, loaded } = outside(() => OK);
      await bench.deliver([loaded]);
      assert.deepEqual([asked, arrived], [["a1"], ["a1"]]);
    }));

  it("is looked for after a throw and after a broken way, but not after an answer", () =>
    onBench(async (bench) => {
      const { arrived, asked, loaded } = outside((id) => {
        if (id === "a1") throw new Error("lost its answer");
        return { success: false, error: "reset", retryable: true };
      });
      bench.put(comment("a1", "a"), comment("b1", "b"));
      await bench.deliver([loaded]);
      assert.deepEqual(asked, []);
      await bench.later(1000);
      assert.deepEqual(asked.toSorted(), ["a1", "b1"]);
      assert.deepEqual(arrived.toSorted(), ["a1", "b1"]);
      assert.deepEqual(bench.bus.deferredSummary().count, 0);
    }));

  it("is not made while the bridge cannot look it up, and that counts no attempt", () =>
    onBench(async (bench) => {
      let canLook = false;
      const { arrived, loaded } = outside(
        () => {
          if (arrived.length === 1) throw new Error("lost");
          return OK;
        },
        () => {
          if (!canLook) throw new Error("offline");
          return false;
        },
      );
      bench.put(comment("a1"));
      const outbox = await bench.deliver([loaded]);
      for (let n = 0; n < 10; n += 1) {
        bench.now = outbox.nextAt() ?? bench.now;
        await bench.settle();
      }
      assert.deepEqual(arrived, ["a1"]);
      assert.deepEqual(bench.dead(), []);
      canLook = true;
      bench.now = outbox.nextAt() ?? bench.now;
      await bench.settle();
      assert.deepEqual(arrived, ["a1", "a1"]);
    }));

  it("is made again without a look where the bridge cannot look", () =>
    onBench(async (bench) => {
      let calls = 0;
      const loaded = loadedBridge({
        actions: () => {
          calls += 1;
          if (calls === 1) throw new Error("who knows");
          return OK;
        },
      });
      bench.put(comment("a1"));
      await bench.deliver([loaded]);
      await bench.later(1000);
      assert.equal(calls, 2);
    }));

  it("kills the process three times and is then a dead letter", () =>
    onBench(async (bench) => {
      const { arrived, loaded } = outside(() => OK);
      bench.put(comment("a1"), comment("a2"));
      for (let n = 0; n < 3; n += 1) {
        bench.bus.freshActions(1, () => true);
        assert.equal(bench.bus.attempt("a1", "deliver:desk").allowed, true);
        bench.reopen();
      }
      await bench.deliver([loaded]);
      assert.deepEqual(arrived, ["a2"]);
      assert.match(bench.dead()[0] ?? "", /^a1 deliver:desk: .*never came back/);
    }));
});

describe("the end of the dispatcher", () => {
  it("lets a call end, begins no other, and does not count a call that it broke off", () =>
    onBench(async (bench) => {
      const begun = pending<void>();
      const got: string[] = [];
      const loaded = loadedBridge({
        actions: (ctx, { id }) => {
          got.push(id);
          begun.resolve();
          return new Promise((_resolve, reject) => {
            ctx.signal.addEventListener("abort", () => reject(new Error("aborted")));
          });
        },
      });
      bench.put(comment("a1"), comment("a2"));
      const working = bench.deliver([loaded]);
      await begun.promise;
      bench.stop.abort();
      await working;
      assert.deepEqual(got, ["a1"]);
      const wait = bench.bus.waitOf("a1", "deliver:desk");
      assert.equal(wait?.attempts, 0);
      assert.equal(bench.bus.attempt("a1", "deliver:desk").uncertain, true);
    }));

  it("comes to rest when others wait to be routed", () =>
    onBench(async (bench) => {
      const got: string[] = [];
      const loaded = loadedBridge({ actions: (_ctx, { id }) => ({ success: got.push(id) > 0 }) as DeliveryResult });
      const asked = pending<void>();
      const route = pending<{ kind: "handled"; by: string }>();
      bench.put(comment("a1", "a"), comment("b1", "b"), comment("c1", "c"));
      const working = bench.deliver([loaded], {
        route: () => {
          asked.resolve();
          return route.promise;
        },
      });
      await asked.promise;
      bench.stop.abort();
      route.resolve({ kind: "handled", by: "somebody" });
      for (let n = 0; n < 20; n += 1) await new Promise((resolve) => setImmediate(resolve));
      assert.equal(bench.outbox?.idle(), true, "it looks for work that it must not begin");
      await working;
      assert.deepEqual(got, []);
    }));

  it("writes nothing after stop", () =>
    onBench(async (bench) => {
      const call = pending<DeliveryResult>();
      const begun = pending<void>();
      const loaded = loadedBridge({
        actions: () => {
          begun.resolve();
          return call.promise;
        },
      });
      bench.put(comment("a1"));
      const working = bench.deliver([loaded]);
      await begun.promise;
      bench.outbox?.stop();
      await working;
      const before = bench.lines("settled").length;
      call.resolve(OK);
      for (let n = 0; n < 20; n += 1) await new Promise((resolve) => setImmediate(resolve));
      assert.equal(bench.lines("settled").length, before);
    }));
});
