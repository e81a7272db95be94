import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { DeliveryResult, OutgoingAction } from "../../../src/bridges/contract.ts";
import type { Action } from "../../../src/bus/types.ts";
import { comment, loadedBridge, onBench } from "../bridge-fixture.ts";

const keyed = (id: string, key: string, token = "a"): Action => {
  const action = comment(id, token);
  return { ...action, payload: { type: "comment", message: id, key } };
};

/** A system that gives each comment a number, and edits the one that a ref names. */
function tracker(answer: (action: OutgoingAction, ref: string) => DeliveryResult | undefined = () => undefined) {
  const got: string[] = [];
  let comments = 0;
  const loaded = loadedBridge({
    actions: (_ctx, action) => {
      const ref = action.ref ?? `c${++comments}`;
      got.push(`${action.id} ${action.ref === undefined ? "adds" : "edits"} ${ref}`);
      return answer(action, ref) ?? { success: true, ref };
    },
    delivered: (_ctx, action) => ({ ref: `found-${action.id}` }),
  });
  return { got, loaded };
}

describe("what a bridge calls a comment", () => {
  it("is handed back with the next comment of the same key at the same address, also after a kill", () =>
    onBench(async (bench) => {
      const { got, loaded } = tracker();
      bench.put(keyed("a1", "status"), keyed("a2", "status"), keyed("a3", "other"), comment("a4"));
      bench.put(keyed("b1", "status", "b"));
      await bench.deliver([loaded]);
      const at = (token: string) => got.filter((line) => line.startsWith(token));
      assert.equal(at("a2")[0], at("a1")[0]?.replace("a1 adds", "a2 edits"));
      assert.match([...at("a3"), ...at("a4"), ...at("b1")].join(), /^a3 adds c\d,a4 adds c\d,b1 adds c\d$/);
      bench.reopen();
      bench.put(keyed("a5", "status"));
      await bench.deliver([loaded]);
      assert.equal(at("a5")[0], at("a1")[0]?.replace("a1 adds", "a5 edits"));
      const written = bench.lines("settled").filter(({ data }) => data.record === "a4" && data.outcome === "handled");
      assert.match(JSON.stringify(written[0]?.data.result), /^{"ref":"c\d"}$/, "recorded without a key too");
    }));

  it("belongs to the plugin that emitted it: two may use the same key", () =>
    onBench(async (bench) => {
      const { got, loaded } = tracker();
      const by = (plugin: string, id: string): Action => ({ ...keyed(id, "status"), emitter: `plugin:${plugin}` });
      bench.put(by("lint", "a1"), by("size", "a2"), by("lint", "a3"), by("size", "a4"), keyed("a5", "status"));
      await bench.deliver([loaded]);
      assert.deepEqual(got, ["a1 adds c1", "a2 adds c2", "a3 edits c1", "a4 edits c2", "a5 adds c3"]);
    }));

  it("is the newer one where the bridge returns another, and the old one where it returns none", () =>
    onBench(async (bench) => {
      const { got, loaded } = tracker(({ id }) => {
        if (id === "a2") return { success: true, ref: "moved" };
        return id === "a3" ? { success: true } : undefined;
      });
      bench.put(keyed("a1", "k"), keyed("a2", "k"), keyed("a3", "k"), keyed("a4", "k"));
      await bench.deliver([loaded]);
      assert.deepEqual(got, ["a1 adds c1", "a2 edits c1", "a3 edits moved", "a4 edits moved"]);
    }));

  it("is learnt from `delivered` where a call never came back", () =>
    onBench(async (bench) => {
      const { got, loaded } = tracker(({ id }) => {
        if (id === "a1") throw new Error("lost its answer");
        return undefined;
      });
      bench.put(keyed("a1", "k"), keyed("a2", "k"));
      await bench.deliver([loaded]);
      await bench.later(1000);
      assert.deepEqual(got, ["a1 adds c1", "a2 edits found-a1"]);
    }));

  it("leaves the cursor of its polls alone, and the oldest are forgotten", () =>
    onBench(async (bench) => {
      const { got, loaded } = tracker();
      const state = { "bridge:desk": { seq: { value: 7 }, state: { value: "here" } } };
      bench.bus.settle({ record: "poll-desk-7", handler: "poll:desk", outcome: "handled", state });
      for (let n = 0; n <= 1000; n += 1) bench.put(keyed(`x${n}`, `key-${n}`));
      await bench.deliver([loaded]);
      const values = bench.stores.read({ kind: "bridge", planId: "login", name: "desk" });
      assert.deepEqual([values.seq, values.state, Object.keys(values).length], [7, "here", 1002]);
      bench.put(keyed("again", "key-0"), keyed("newest", "key-1000"));
      await bench.settle();
      assert.deepEqual(got.slice(-2), ["again adds c1002", "newest edits c1001"]);
    }));
});
