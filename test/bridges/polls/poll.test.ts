import assert from "node:assert/strict";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { Bridge, BridgeContext, PollResult } from "../../../src/bridges/contract.ts";
import { type PollOutcome, pollBridge } from "../../../src/bridges/polls/poll.ts";
import { type Bench, loadedBridge, onBench } from "../bridge-fixture.ts";
import { event, upsert } from "./polled.ts";

function poll(bench: Bench, events: Bridge["events"] | (() => unknown), kind: "plan" | "global" = "plan") {
  const loaded = loadedBridge({ events: events as NonNullable<Bridge["events"]> }, { name: "tracker", kind });
  const { bus, services } = bench;
  return pollBridge(services, { bus, ...bench.scope }, loaded);
}

const onBus = (bench: Bench): string =>
  bench.bus
    .newEvents(99)
    .map(({ event: one }) => `${one.id}:${one.source}`)
    .join();
const stateOf = (bench: Bench) => bench.stores.read({ kind: "bridge", planId: "login", name: "tracker" });

describe("a poll", () => {
  it("puts events on the bus, then saves the cursor and the actions", () =>
    onBench(async (bench) => {
      const outcome = await poll(bench, (_ctx, state) => {
        assert.equal(state, undefined);
        return { events: [event("e1"), event("e2")], state: { since: 7 }, actions: [upsert("1"), upsert("2")] };
      });
      assert.deepEqual(outcome, { events: 2, actions: 2, refused: [] });
      assert.equal(onBus(bench), "e1:tracker,e2:tracker");
      assert.deepEqual(stateOf(bench), { state: { since: 7 }, seq: 1 });
      assert.deepEqual(bench.settlements("poll-tracker-1"), ["poll:tracker handled"]);
      const actions = bench.bus.freshActions(9, () => true).map(({ action }) => action);
      assert.equal(actions.length, 2);
      assert.match(actions[0]?.id ?? "", /^act-/);
      bench.reopen();
      await poll(bench, (_ctx, state) => {
        assert.deepEqual(state, { since: 7 }, "after a kill too");
        return { events: [], state: { since: 8 } };
      });
      assert.deepEqual(stateOf(bench), { state: { since: 8 }, seq: 2 });
    }));

  it("that brings nothing new writes nothing at all", () =>
    onBench(async (bench) => {
      const result: PollResult = { events: [event("e1")], state: { seen: ["e1"] } };
      await poll(bench, () => result);
      const files = () => [readdirSync(bench.dir).toSorted(), bench.lines("events"), bench.lines("settled")];
      const before = files();
      assert.deepEqual(await poll(bench, () => structuredClone(result)), { events: 0, actions: 0, refused: [] });
      assert.deepEqual(await poll(bench, () => ({ events: [] })), { events: 0, actions: 0, refused: [] });
      assert.deepEqual(files(), before);
    }));

  it("takes duplicates once, in a batch and over polls", () =>
    onBench(async (bench) => {
      const twice = [event("e1"), event("e2"), event("e1", { title: "again" })];
      assert.equal((await poll(bench, () => ({ events: twice }))).events, 2);
      assert.equal((await poll(bench, () => ({ events: [event("e2"), event("e3")] }))).events, 1);
      assert.equal(onBus(bench), "e1:tracker,e2:tracker,e3:tracker");
    }));

  it("refuses what is malformed one by one, by name, and takes the rest", () =>
    onBench(async (bench) => {
      const bad = Object.defineProperty({}, "id", { enumerable: true, get: () => assert.fail("a trap") });
      const events = [
        event("good"),
        { id: "half" },
        event("loud", { severity: "loud" }),
        event("dated", { context: { at: new Date(0) } }),
        event("stranger", { context: { author: { login: "eve", permission: "owner" } } }),
        "text",
        null,
        bad,
        event("fine", { context: { labels: ["a"], gone: undefined } }),
      ];
      const actions = [upsert("1"), { target: { target: "x" } }, { ...upsert("2"), id: "mine", author: {} }, 5];
      const outcome = await poll(bench, () => ({ events, actions }));
      assert.equal(outcome.events, 2);
      assert.equal(outcome.actions, 1);
      assert.deepEqual(
        outcome.refused.map((reason) => /^[a-z]+\[\d\]/.exec(reason)?.[0]),
        [1, 2, 3, 4, 5, 6, 7].map((n) => `events[${n}]`).concat(["actions[1]", "actions[2]", "actions[3]"]),
      );
      assert.match(outcome.refused[2] ?? "", /context\.at is a Date/);
      assert.deepEqual(outcome.refused.slice(0, 2), [
        'events[1]: "half": type is missing; severity is missing; title is missing; body is missing',
        'events[2]: "loud": severity must be one of "info", "warning", "error"; it is "loud"',
      ]);
      assert.match(outcome.refused[4] ?? "", /^events\[5\]: it must be an object; it is "text"$/);
      assert.match(outcome.refused[7] ?? "", /^actions\[1\]: payload is/);
      assert.match(outcome.refused[8] ?? "", /there is no field author/);
      assert.equal(onBus(bench), "good:tracker,fine:tracker");
      assert.match(
        bench.reports.join("\n"),
        /warn: bridge tracker: not taken: events\[3\]: "dated": event\.context\.at is a Date/,
      );
    }));

  it("copies the author of the event that an action answers, and takes no other's word for it", () =>
    onBench(async (bench) => {
      const author = { login: "eve", permission: "read" };
      await poll(bench, () => ({ events: [event("old", { context: { author } })] }));
      const outcome = await poll(bench, () => ({
        events: [
          event("new", { context: { author } }),
          event("old", { context: { author: { login: "eve", permission: "admin" } } }),
          event("bad", { severity: "loud" }),
          event("ours"),
        ],
        actions: [
          upsert("1", "new"),
          upsert("2", "old"),
          upsert("3", "bad"),
          upsert("4", "ours"),
          upsert("5", "never"),
        ],
      }));
      assert.deepEqual(
        outcome.refused.map((reason) => reason.slice(0, 10)),
        ["events[2]:", "actions[2]", "actions[4]"],
      );
      const authors = bench.bus.freshActions(9, () => true).map(({ action }) => action.author?.permission);
      assert.deepEqual(authors, ["read", "read", undefined]);
    }));
});

describe("a poll that fails takes nothing", () => {
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  const bad: Record<string, [() => unknown, RegExp]> = {
    "a throw": [() => assert.fail("no network"), /no network/],
    "a rejection": [() => Promise.reject(new Error("no network")), /no network/],
    "a string thrown": [
      () => {
        throw "just text";
      },
      /just text/,
    ],
    nothing: [() => undefined, /returned nothing/],
    "a list": [() => [event("e1")], /returned a list/],
    "no list of events": [() => ({ events: { e1: event("e1") } }), /`events`/],
    "no list of actions": [() => ({ events: [], actions: "all" }), /`actions`/],
    "more than 10,000 events": [
      () => ({ events: Array.from({ length: 10_001 }, (_one, n) => event(`e${n}`)) }),
      /10001 events/,
    ],
    "a circular state": [() => ({ events: [event("e1")], state: circular }), /state\.self/],
    "a BigInt": [() => ({ events: [event("e1")], state: { n: 1n } }), /state\.n is a bigint/],
    "a function": [() => ({ events: [event("e1")], state: () => 1 }), /state is a function/],
    "a Map": [() => ({ events: [event("e1")], state: new Map() }), /state is a Map/],
    "a Date": [() => ({ events: [event("e1")], state: { since: new Date() } }), /state\.since is a Date/],
    "a NaN": [() => ({ events: [event("e1")], state: [Number.NaN] }), /state\[0\] is NaN/],
    "a huge state": [() => ({ events: [event("e1")], state: "x".repeat(1_000_000) }), /state is larger/],
  };
  for (const [what, [events, expected]] of Object.entries(bad)) {
    it(what, () =>
      onBench(async (bench) => {
        const outcome: PollOutcome = await poll(bench, events);
        assert.match(outcome.failed ?? "", expected);
        assert.equal(outcome.events + outcome.actions, 0);
        assert.equal(onBus(bench), "");
        assert.deepEqual(stateOf(bench), {});
        assert.match(bench.reports.join("\n"), /warn: the poll of bridge tracker failed: /);
      }),
    );
  }

  it("one that takes a minute: it is told to stop, and what it brings later is ignored", () =>
    onBench(async (bench) => {
      bench.timeoutMs = 20;
      const late = Promise.withResolvers<PollResult>();
      let signal: AbortSignal | undefined;
      const outcome = await poll(bench, (ctx) => {
        signal = ctx.signal;
        return late.promise;
      });
      assert.match(outcome.failed ?? "", /did not return within 0.02 s/);
      assert.equal(signal?.aborted, true);
      late.resolve({ events: [event("e1")], state: 1 });
      await late.promise;
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal(onBus(bench), "");
    }));

  it("one that changes the state it was given changes nothing by that", () =>
    onBench(async (bench) => {
      await poll(bench, () => ({ events: [], state: { n: 1 } }));
      await poll(bench, (_ctx, state) => {
        Object.assign(state as object, { n: 2 });
        throw new Error("after all");
      });
      assert.deepEqual(stateOf(bench).state, { n: 1 });
      await poll(bench, (_ctx, state) => {
        Object.assign(state as object, { n: 3 });
        return { events: [], state } as PollResult;
      });
      assert.deepEqual(stateOf(bench).state, { n: 3 });
    }));

  it("a state file that was lost does not make polls count as settled", () =>
    onBench(async (bench) => {
      await poll(bench, () => ({ events: [], state: 1 }));
      bench.stores.flush();
      bench.bus.save();
      rmSync(join(bench.dir, "state", "bridge.tracker.json"));
      bench.reopen();
      const outcome = await poll(bench, () => ({ events: [], state: 5, actions: [upsert("1")] }));
      assert.deepEqual(outcome, { events: 0, actions: 1, refused: [] });
      assert.deepEqual(stateOf(bench), { state: 5, seq: 2 });
      assert.equal(bench.bus.freshActions(9, () => true).length, 1);
    }));
});

describe("what a bridge is told", () => {
  async function contextIn(bench: Bench, kind: "plan" | "global"): Promise<BridgeContext> {
    const seen = Promise.withResolvers<BridgeContext>();
    await poll(
      bench,
      (ctx) => {
        seen.resolve(ctx);
        return { events: [] };
      },
      kind,
    );
    return seen.promise;
  }

  it("is the plan, for a bridge of plans", () =>
    onBench(async (bench) => {
      const ctx = await contextIn(bench, "plan");
      assert.equal(ctx.planId, "login");
      assert.equal(ctx.worktree, "/worktrees/login");
      assert.equal(ctx.changeRequestRef, "local/login");
      assert.equal(ctx.repoRoot, bench.dir);
      assert.deepEqual(ctx.config, { colour: "red" });
      assert.equal((await ctx.readPlan("login"))?.content, "# Login");
      assert.deepEqual(await ctx.listPlans(), []);
      ctx.log.warn("careful");
      assert.deepEqual(bench.reports, ["warn: tracker: careful"]);
    }));

  it("is not a plan, for a global bridge; readPlan then needs an id and says so", () =>
    onBench(async (bench) => {
      const ctx = await contextIn(bench, "global");
      assert.equal(ctx.planId, undefined);
      assert.equal(ctx.worktree, undefined);
      const withoutId = ctx.readPlan as unknown as () => Promise<unknown>;
      await assert.rejects(withoutId(), { name: "PrloomError", code: "usage", message: /parameter planId/ });
      assert.equal(await ctx.readPlan("nobody"), undefined);
    }, {}));
});
