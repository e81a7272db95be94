import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { it } from "node:test";
import type { EventContext } from "../../../src/hooks/contexts/context-types.ts";
import type { JsonValue } from "../../../src/kernel/json.ts";
import { gate, inGlobalHook, inHook, inTemporary, openWorld } from "../fixture.ts";

const values = (path: string): Record<string, JsonValue> => JSON.parse(readFileSync(path, "utf8")).values;
const ofPlan = { kind: "plan", planId: "p1", plugin: "one" } as const;
const ofAll = { kind: "global", plugin: "one" } as const;

it("keeps state per plan and for the repository, in one file per plugin", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    await inHook(world, "p1", (ctx) => {
      ctx.setState("mine", { n: 1 });
      ctx.setGlobalState("shared", [1, null, "x"]);
      assert.deepEqual(ctx.getState("mine"), { n: 1 });
      assert.equal(ctx.getState("shared"), undefined);
    });
    await inHook(world, "p2", (ctx) => {
      assert.equal(ctx.getState("mine"), undefined);
      assert.deepEqual(ctx.getGlobalState("shared"), [1, null, "x"]);
    });
    await inGlobalHook(world, (ctx) => {
      assert.deepEqual(ctx.getState("shared"), [1, null, "x"]);
      ctx.setState("global", true);
      assert.equal(ctx.getGlobalState("global"), true);
    });
    assert.equal(existsSync(world.fileOf(ofPlan)), false);
    world.stores.flush();
    assert.deepEqual(values(world.fileOf(ofPlan)), { mine: { n: 1 } });
    assert.deepEqual(values(world.fileOf(ofAll)), { shared: [1, null, "x"], global: true });
    await inHook(world, "p1", (ctx) => ctx.setState("mine", undefined));
    world.stores.flush();
    assert.deepEqual(values(world.fileOf(ofPlan)), {});
  }));

it("survives a kill right after the hook, without any file, and commits nothing of a hook that throws", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    await inHook(world, "p1", (ctx) => ctx.setState("a", 1));
    await inHook(world, "p1", (ctx) => {
      ctx.setState("a", 2);
      throw new Error("no");
    });
    const again = openWorld(dir);
    again.bus("p1");
    assert.deepEqual(again.stores.read(ofPlan), { a: 1 });
  }));

it("runs a hook again that met another's change, so that no count is lost", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    let runs = 0;
    const increment = async (ctx: EventContext): Promise<void> => {
      runs += 1;
      const before = Number(ctx.getGlobalState("n") ?? 0);
      await new Promise(setImmediate);
      ctx.setGlobalState("n", before + 1);
    };
    const work = async (planId: string): Promise<void> => {
      for (let index = 0; index < 50; index += 1) assert.equal(await inHook(world, planId, increment), "");
    };
    await Promise.all([work("p1"), work("p2")]);
    assert.deepEqual(world.stores.read(ofAll), { n: 100 });
    assert.ok(runs > 100, "the two never met");
    for (const planId of ["p1", "p2"]) assert.equal(world.settlements(planId).length, 50);
  }));

it("lets calls that write other keys go on side by side, and gives a call values that fit each other", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    await inHook(world, "p1", (ctx) => {
      ctx.setGlobalState("a", 1);
      ctx.setGlobalState("b", 1);
    });
    const waits = gate();
    let runs = 0;
    const seen: unknown[] = [];
    const slow = inHook(world, "p1", async (ctx) => {
      runs += 1;
      const a = ctx.getGlobalState("a");
      if (runs === 1) await waits.promise;
      seen.push([a, ctx.getGlobalState("b")]);
      ctx.setGlobalState("mine", 1);
    });
    await inHook(world, "p2", (ctx) => ctx.setGlobalState("other", 1));
    await inHook(world, "p2", (ctx) => {
      ctx.setGlobalState("a", 2);
      ctx.setGlobalState("b", 2);
    });
    waits.open();
    await slow;
    assert.deepEqual(seen, [
      [1, 2],
      [2, 2],
    ]);
    assert.deepEqual(world.stores.read(ofAll), { a: 2, b: 2, other: 1, mine: 1 });
  }));

/** Lets calls that were begun, and need nothing more, come to their end. */
async function rounds(count = 20): Promise<void> {
  for (let index = 0; index < count; index += 1) await new Promise(setImmediate);
}

const addTo = (ctx: EventContext, key: string): void =>
  ctx.setGlobalState(key, Number(ctx.getGlobalState(key) ?? 0) + 1);

it("lets a hook that met another's change win the next time, however many come in between", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    let runs = 0;
    const others: Promise<string>[] = [];
    const reason = await inHook(world, "p1", async (ctx) => {
      runs += 1;
      const before = Number(ctx.getGlobalState("n") ?? 0);
      for (let index = 0; index < 5; index += 1) {
        others.push(inHook(world, `p${others.length + 2}`, (other) => addTo(other, "n")));
      }
      await rounds();
      ctx.setGlobalState("n", before + 1);
    });
    assert.equal(reason, "");
    assert.equal(runs, 2);
    assert.deepEqual(
      await Promise.all(others),
      others.map(() => ""),
    );
    assert.deepEqual(world.stores.read(ofAll), { n: 11 }, "no change is lost");
  }));

it("wins with the third run at the latest when it touches other keys each time", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    let runs = 0;
    const others: Promise<string>[] = [];
    await inHook(world, "p1", async (ctx) => {
      runs += 1;
      const key = `k${runs}`;
      ctx.getGlobalState(key);
      others.push(inHook(world, `p${runs + 1}`, (other) => addTo(other, key)));
      await rounds();
      addTo(ctx, key);
    });
    assert.equal(runs, 3);
    assert.deepEqual(await Promise.all(others), ["", "", ""]);
    assert.deepEqual(world.stores.read(ofAll), { k1: 1, k2: 1, k3: 2 });
  }));

it("does not hold up calls that work on other keys, nor wait for itself when two run again", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const waits = gate();
    const runs = { a: 0, b: 0 };
    const swap = (name: "a" | "b", keys: readonly [string, string]) => async (ctx: EventContext) => {
      runs[name] += 1;
      addTo(ctx, keys[0]);
      await rounds();
      if (runs[name] === 2 && name === "a") await waits.promise;
      addTo(ctx, keys[1]);
    };
    const both = [inHook(world, "p1", swap("a", ["x", "y"])), inHook(world, "p2", swap("b", ["y", "x"]))];
    await inHook(world, "p3", (ctx) => {
      addTo(ctx, "x");
      addTo(ctx, "y");
    });
    await rounds(60);
    assert.equal(await inHook(world, "p4", (ctx) => addTo(ctx, "z")), "", "it has nothing to do with them");
    assert.deepEqual(world.stores.read(ofAll), { x: 1, y: 1, z: 1 });
    waits.open();
    await Promise.all(both);
    await rounds();
    assert.deepEqual(world.stores.read(ofAll), { x: 3, y: 3, z: 1 });
    assert.deepEqual(runs, { a: 2, b: 2 });
  }));

it("passes the lock on when a hook with it throws, or its time is over", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir, { timeoutMs: 300 });
    for (const [index, end] of ["throws", "hangs"].entries()) {
      let runs = 0;
      const reason = inHook(world, `p${10 * index + 1}`, async (ctx) => {
        runs += 1;
        addTo(ctx, "n");
        if (runs === 1) await inHook(world, `p${10 * index + 2}`, (other) => addTo(other, "n"));
        else if (end === "throws") throw new Error("no");
        else await new Promise(() => undefined);
      });
      assert.match(await reason, end === "throws" ? /^no$/ : /longer than|took|within/);
      assert.equal(await inHook(world, `p${10 * index + 3}`, (ctx) => addTo(ctx, "n")), "");
    }
    assert.deepEqual(world.stores.read(ofAll), { n: 4 });
  }));

it("does not run again with the turn when the dispatcher stops", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const holds = gate();
    let first = 0;
    const holder = inHook(world, "p1", async (ctx) => {
      first += 1;
      addTo(ctx, "n");
      if (first === 1) return void (await inHook(world, "p2", (other) => addTo(other, "n")));
      holds.open();
      await once(ctx.signal, "abort");
    });
    await holds.promise;
    let runs = 0;
    const lost = ["p3", "p4", "p5"].map((plan) =>
      inHook(world, plan, (ctx) => {
        runs += 1;
        addTo(ctx, "n");
      }),
    );
    await rounds();
    world.stop.abort();
    await Promise.all([holder, ...lost]);
    assert.equal(runs, 3, "each ran once, and waited for the turn");
    assert.deepEqual(world.stores.read(ofAll), { n: 2 });
    for (const plan of ["p3", "p4", "p5"])
      assert.deepEqual(
        world.settlements(plan).map(({ outcome, reason }) => [outcome, reason]),
        [["deferred", "the dispatcher was stopped"]],
      );
  }));

it("takes JSON only, by an error that names the key, and copies it", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const circular: unknown[] = [];
    circular.push(circular);
    let deep: unknown = 1;
    for (let level = 0; level < 5000; level += 1) deep = [deep];
    const bad: [value: unknown, pattern: RegExp][] = [
      [Number.NaN, /setState: k is NaN/],
      [Number.POSITIVE_INFINITY, /setState: k is Infinity/],
      [10n, /setState: k is a bigint/],
      [new Date(0), /setState: k is a Date/],
      [{ in: new Map() }, /setState: k\.in is a Map/],
      [[1, undefined], /setState: k\[1\] is undefined/],
      [new Array(2), /setState: k\[0\] is undefined/],
      [() => 1, /setState: k is a function/],
      [Symbol("s"), /setState: k is a symbol/],
      [circular, /setState: k\[0\] is a reference/],
      [deep, /nested more than 100 deep/],
      [JSON.parse('{"__proto__": 1}'), /__proto__/],
    ];
    for (const [value, pattern] of bad) {
      assert.match(await inHook(world, "p1", (ctx) => ctx.setState("k", value as JsonValue)), pattern);
    }
    for (const key of ["", "x".repeat(201), "__proto__", 5 as never]) {
      assert.match(await inHook(world, "p1", (ctx) => ctx.setState(key, 1)), /cannot be a key/);
    }
    assert.deepEqual(world.stores.read(ofPlan), {});
    const value = { list: [1], left: undefined };
    await inHook(world, "p1", (ctx) => {
      ctx.setState("constructor", value);
      value.list.push(2);
      (ctx.getState("constructor") as { list: number[] }).list.push(3);
    });
    await inHook(world, "p1", (ctx) => void (ctx.getState("constructor") as { list: number[] }).list.push(4));
    assert.deepEqual({ ...world.stores.read(ofPlan) }, { constructor: { list: [1] } });
  }));

it("holds one megabyte per store, and always lets go of keys", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const text = "x".repeat(400_000);
    const fill = (ctx: EventContext): void => {
      ctx.setState("a", text);
      ctx.setState("b", text);
    };
    assert.equal(await inHook(world, "p1", fill), "");
    assert.match(await inHook(world, "p1", (ctx) => ctx.setState("c", text)), /setState: with c .*1000000 is the most/);
    const swap = (ctx: EventContext): void => {
      ctx.setState("a", undefined);
      ctx.setState("c", text);
    };
    assert.equal(await inHook(world, "p1", swap), "");
    assert.deepEqual(Object.keys(world.stores.read(ofPlan)), ["b", "c"]);
  }));
