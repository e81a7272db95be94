import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { countCalls } from "../../../bench/harness/counts.ts";
import type { Routed } from "../../../src/bridges/outbox/outbox.ts";
import type { Action } from "../../../src/bus/types.ts";
import { type Bench, comment, loadedBridge, onBench, pending } from "../bridge-fixture.ts";

function desk(name = "desk") {
  const got: string[] = [];
  const loaded = loadedBridge(
    {
      actions: (_ctx, action) => {
        got.push(`${action.id}@${action.target.token}`);
        return { success: true };
      },
    },
    { name },
  );
  return { got, loaded };
}

/** beforeRoute as the dispatcher asks it: its answer is a settlement, and a throw is a wait on the bus. */
function policy(bench: Bench, answer: (action: Action) => Routed | "throw") {
  const asked: string[] = [];
  const handler = "beforeRoute:policy";
  const route = async (action: Action): Promise<Routed> => {
    const { bus } = bench;
    const record = action.id;
    const status = bus.handlerStatus(record, handler);
    const waiting = (): Routed => ({ kind: "waiting", until: bus.waitOf(record, handler)?.until ?? 0 });
    if (status === "waiting") return waiting();
    if (status === "settled") return bus.results(record).get(handler) as unknown as Routed;
    asked.push(record);
    const routed = answer(action);
    if (routed === "throw") {
      if (bus.settle({ record, handler, outcome: "threw", reason: "no" }, { sync: false }) !== "dead") return waiting();
      return { kind: "dead", by: "policy", reason: "no" };
    }
    const outcome = routed.kind === "handled" ? "handled" : "passed";
    bus.settle({ record, handler, outcome, result: JSON.parse(JSON.stringify(routed)) }, { sync: false });
    return routed;
  };
  return { asked, route };
}

const to = (target: string, token: string): Routed => ({ kind: "deliver", target: { target, token } });

describe("routing", () => {
  it("takes place in the order of the log, and order then holds where actions go", () =>
    onBench(async (bench) => {
      const { got, loaded } = desk();
      const { asked, route } = policy(bench, (action) => to("desk", action.id === "x1" ? "a" : "b"));
      bench.put(comment("x1", "one", "elsewhere"), comment("y1", "two"), comment("x2", "one", "elsewhere"));
      await bench.deliver([loaded], { route });
      assert.deepEqual(asked, ["x1", "y1", "x2"]);
      assert.deepEqual(got.toSorted(), ["x1@a", "x2@b", "y1@b"]);
      assert.ok(got.indexOf("y1@b") < got.indexOf("x2@b"));
      assert.equal(bench.bus.results("x1").size, 0, "what hooks said is forgotten");
    }));

  it("blocks, refuses, and says which targets there are", () =>
    onBench(async (bench) => {
      const { got, loaded } = desk();
      const answers: Record<string, Routed> = {
        a1: { kind: "handled", by: "friday" },
        a2: { kind: "refused", reason: "eve may not write" },
        a3: to("dusk", "x"),
      };
      const { route } = policy(bench, ({ id }) => answers[id] ?? to("desk", "x"));
      bench.put(comment("a1"), comment("a2"), comment("a3"), comment("a4"));
      await bench.deliver([loaded, desk("attic").loaded], { route });
      assert.deepEqual(got, ["a4@x"]);
      assert.deepEqual(bench.dead(), ["a3 dispatcher: no bridge has the target dusk; configured targets: attic, desk"]);
      const refused = bench
        .lines("settled")
        .filter(({ data }) => data.record === "a2" && data.handler === "dispatcher");
      assert.deepEqual(
        refused.map(({ data }) => [data.outcome, data.reason]),
        [["handled", "eve may not write"]],
      );
      assert.doesNotMatch(bench.reports.join("\n"), /a2|eve/, "the part that refuses tells it");
      bench.reopen();
      await bench.deliver([loaded], { route });
      assert.deepEqual(got, ["a4@x"], "also after a restart");
    }));

  it("of actions that no hook is asked about is one pass, and what it leads to is synced together", () =>
    onBench(async (bench) => {
      const { got, loaded } = desk();
      const ids = Array.from({ length: 60 }, (_, at) => `a${at}`);
      bench.put(...ids.map((id) => comment(id, id)));
      const { synced } = await countCalls(() =>
        bench.deliver([loaded], { route: ({ target }) => ({ kind: "deliver", target }), callsAtOnce: () => 100 }),
      );
      assert.deepEqual(
        got,
        ids.map((id) => `${id}@${id}`),
      );
      assert.ok(synced <= 6, `${synced} syncs`);
    }));

  it("that fails at once is tried again, and keeps no other action waiting", () =>
    onBench(async (bench) => {
      const { got, loaded } = desk();
      let isUp = false;
      const route = ({ id, target }: Action): Routed => {
        if (id === "a1" && !isUp) throw new Error("no proposal can be written");
        return { kind: "deliver", target };
      };
      bench.put(comment("a1", "a"), comment("b1", "b"), comment("a2", "a"));
      await bench.deliver([loaded], { route });
      assert.deepEqual(got, ["b1@b"]);
      assert.match(bench.reports.join("\n"), /bad: routing a1 failed: no proposal can be written/);
      isUp = true;
      await bench.later(1000);
      assert.deepEqual(got, ["b1@b", "a1@a", "a2@a"]);
    }));

  it("that waits keeps only its own address waiting, and loses nothing over a restart", () =>
    onBench(async (bench) => {
      const { got, loaded } = desk();
      let isUp = false;
      const answer = (action: Action): Routed | "throw" =>
        action.target.token === "a" && !isUp ? "throw" : to("desk", action.target.token ?? "");
      const first = policy(bench, answer);
      bench.put(comment("a1", "a"), comment("b1", "b"), comment("a2", "a"), comment("a3", "a"));
      const outbox = await bench.deliver([loaded], first);
      assert.deepEqual(got, ["b1@b"]);
      assert.deepEqual(first.asked, ["a1", "b1"], "those behind it are not asked about");
      assert.equal(outbox.nextAt(), bench.now + 1000);
      const before = bench.lines("settled").length;
      await bench.later(500);
      assert.equal(bench.lines("settled").length, before);
      await bench.later(500);
      assert.deepEqual(first.asked, ["a1", "b1", "a1"]);
      isUp = true;
      bench.reopen();
      const second = policy(bench, answer);
      await bench.deliver([loaded], second);
      await bench.later(5000);
      assert.deepEqual(second.asked, ["a1", "a2", "a3"]);
      assert.deepEqual(got, ["b1@b", "a1@a", "a2@a", "a3@a"]);
      assert.equal(bench.bus.deferredSummary().count, 0);
    }));

  it("that was answered just before a kill is not lost and not asked again", () =>
    onBench(async (bench) => {
      const { got, loaded } = desk();
      let isUp = false;
      const { asked, route } = policy(bench, () => (isUp ? to("desk", "there") : "throw"));
      bench.put(comment("a1", "a"));
      await bench.deliver([loaded], { route });
      isUp = true;
      bench.now += 1000;
      // The hook answers, and its answer is the last thing that is written.
      bench.outbox?.stop();
      assert.deepEqual(await route(comment("a1", "a")), to("desk", "there"));
      bench.reopen();
      await bench.deliver([loaded], { route });
      assert.deepEqual(asked, ["a1", "a1"]);
      assert.deepEqual(got, ["a1@there"]);
    }));

  it("that is given up frees its address, and a revived action is asked about again", () =>
    onBench(async (bench) => {
      const { got, loaded } = desk();
      const { asked, route } = policy(bench, ({ id }) => (id === "a1" && asked.length < 4 ? "throw" : to("desk", "a")));
      bench.put(comment("a1"), comment("a2"));
      await bench.deliver([loaded], { route });
      await bench.later(1000);
      await bench.later(2000);
      assert.deepEqual(bench.dead(), ["a1 beforeRoute:policy: no"]);
      assert.deepEqual(got, ["a2@a"]);
      assert.equal(bench.bus.revive("a1"), 1);
      await bench.settle();
      assert.deepEqual(got, ["a2@a", "a1@a"]);
    }));

  it("that was given up and revived is not lost by a kill after the hook agreed", () =>
    onBench(async (bench) => {
      const { got, loaded } = desk();
      let isUp = false;
      const { route } = policy(bench, () => (isUp ? to("desk", "there") : "throw"));
      bench.put(comment("a1"));
      const giveUp = async () => {
        await bench.deliver([loaded], { route });
        for (const wait of [1000, 2000]) await bench.later(wait);
        assert.deepEqual(bench.dead(), ["a1 beforeRoute:policy: no"]);
        bench.outbox?.stop();
        bench.bus.revive("a1");
      };
      await giveUp();
      // Twice: a name that it waited under once is used up.
      await giveUp();
      isUp = true;
      const killed = pending<void>();
      void bench.deliver([loaded], {
        route: async (action) => {
          await route(action);
          bench.outbox?.stop();
          killed.resolve();
          return { kind: "waiting", until: 0 };
        },
      });
      await killed.promise;
      bench.reopen();
      await bench.deliver([loaded], { route });
      assert.deepEqual(got, ["a1@there"]);
      assert.equal(bench.bus.deferredSummary().count, 0);
      assert.deepEqual(bench.dead(), []);
    }));

  it("that another hook gave up is asked about again when it is revived", () =>
    onBench(async (bench) => {
      const { got, loaded } = desk();
      const careful = policy(bench, () => (careful.asked.length < 2 ? "throw" : { kind: "handled", by: "policy" }));
      bench.put(comment("a1"));
      await bench.deliver([loaded], careful);
      bench.outbox?.stop();
      // A plugin that was put before it in the config gives up.
      const marks = { about: "action", dead: true } as const;
      bench.bus.settle({ record: "a1", handler: "beforeRoute:first", outcome: "threw", reason: "no", marks });
      await bench.deliver([loaded], { route: async () => ({ kind: "dead", by: "first", reason: "no" }) });
      assert.equal(bench.bus.deferredSummary().count, 0);
      bench.outbox?.stop();
      bench.bus.revive("a1");
      const first = { record: "a1", handler: "beforeRoute:first", outcome: "passed" as const };
      bench.bus.settle({ ...first, marks: { about: "action" } });
      await bench.deliver([loaded], careful);
      assert.deepEqual(careful.asked, ["a1", "a1"]);
      assert.deepEqual(got, [], "nothing passes a hook that never answered");
    }));

  it("that throws by our own fault delivers nothing, and is tried again", () =>
    onBench(async (bench) => {
      const { got, loaded } = desk();
      bench.retryLimits = { minMs: 20, maxMs: 50 };
      let calls = 0;
      const route = async ({ target }: Action): Promise<Routed> => {
        calls += 1;
        if (calls === 1) throw new Error("a bug");
        return { kind: "deliver", target };
      };
      bench.put(comment("a1"));
      await bench.deliver([loaded], { route });
      assert.deepEqual(got, []);
      assert.match(bench.reports.join("\n"), /routing a1 failed: a bug/);
      await bench.later(20);
      assert.deepEqual(got, ["a1@a"]);
    }));
});
