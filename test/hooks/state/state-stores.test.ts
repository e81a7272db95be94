import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { it } from "node:test";
import { countCalls } from "../../../bench/harness/counts.ts";
import type { Settlement, WrittenSettlement } from "../../../src/bus/types.ts";
import type { EventContext } from "../../../src/hooks/contexts/context-types.ts";
import type { JsonValue } from "../../../src/kernel/json.ts";
import { inGlobalHook, inHook, inTemporary, openWorld } from "../fixture.ts";

const values = (path: string): Record<string, JsonValue> => JSON.parse(readFileSync(path, "utf8")).values;
const ofPlan = { kind: "plan", planId: "p1", plugin: "one" } as const;
const ofAll = { kind: "global", plugin: "one" } as const;

it("applies a settlement once, whether its file was written before the kill or not", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const add = (ctx: EventContext): void => ctx.setState("n", Number(ctx.getState("n") ?? 0) + 1);
    await inHook(world, "p1", add);
    await inHook(world, "p1", add);
    world.stores.flush();
    await inHook(world, "p1", add);
    const again = openWorld(dir);
    again.bus("p1");
    assert.deepEqual(again.stores.read(ofPlan), { n: 3 });
    await inHook(again, "p1", add);
    again.stores.flush();
    again.bus("p1").save();
    const last = openWorld(dir);
    last.bus("p1");
    assert.deepEqual(last.stores.read(ofPlan), { n: 4 });
  }));

it("restores global values in the order of the changes, in whatever order the buses are read after a kill", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    await inHook(world, "p2", (ctx) => {
      ctx.setGlobalState("n", "p2 first");
      ctx.setGlobalState("gone", 1);
    });
    await inHook(world, "p1", (ctx) => {
      ctx.setGlobalState("n", "p1 then");
      ctx.setGlobalState("gone", undefined);
    });
    await inGlobalHook(world, (ctx) => ctx.setState("last", "global"));
    await inHook(world, "p2", (ctx) => ctx.setGlobalState("last", "p2"));
    const expected = { n: "p1 then", last: "p2" };
    assert.deepEqual(world.stores.read(ofAll), expected);
    for (const order of [
      ["p1", "p2", undefined],
      [undefined, "p2", "p1"],
    ]) {
      const again = openWorld(dir);
      assert.deepEqual(again.stores.pendingPlans(), ["p1", "p2"]);
      for (const planId of order) again.bus(planId);
      assert.deepEqual(again.stores.read(ofAll), expected);
    }
  }));

it("names the plans whose buses must be read first after a kill, until the files are written", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    await inHook(world, "p1", (ctx) => ctx.setGlobalState("a", 1));
    await inHook(world, "p2", (ctx) => ctx.setState("a", 1));
    assert.deepEqual(readdirSync(join(dir, "pending")), ["p1"]);
    const again = openWorld(dir);
    again.stores.flush();
    assert.deepEqual(readdirSync(join(dir, "pending")), ["p1"], "its bus has not been read yet");
    for (const planId of again.stores.pendingPlans()) again.bus(planId);
    again.stores.flush();
    assert.deepEqual(values(again.fileOf(ofAll)), { a: 1 });
    assert.deepEqual(readdirSync(join(dir, "pending")), []);
    assert.deepEqual(openWorld(dir).stores.pendingPlans(), []);
  }));

it("keeps a file that it cannot read, tells of it, and does not overwrite it", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const path = world.fileOf(ofPlan);
    mkdirSync(dirname(path), { recursive: true });
    for (const [index, broken] of ['{"values": {"a": 1', '{"schemaVersion": 1, "values": 5}'].entries()) {
      writeFileSync(path, broken);
      const again = openWorld(dir);
      assert.deepEqual(again.stores.read(ofPlan), {});
      assert.deepEqual([again.problems[0]?.path, again.problems.length], [path, 1]);
      assert.equal(readFileSync(`${path}.broken-${index + 1}`, "utf8"), broken);
      assert.equal(existsSync(path), false);
    }
    writeFileSync(path, '{"schemaVersion": 2}');
    assert.throws(() => openWorld(dir).stores.read(ofPlan), { code: "schema-newer" });
    assert.equal(readFileSync(path, "utf8"), '{"schemaVersion": 2}');
  }));

it("keeps the state of bridges by plan and for the repository, and lets go of a plan's values when told", () =>
  inTemporary((dir) => {
    const world = openWorld(dir);
    const settle = (planId: string | undefined, value: number): void => {
      const state: Settlement["state"] = { "bridge:b": { state: { value }, seq: { value } } };
      world.bus(planId).settle({ record: `poll-${value}`, handler: "poll:b", outcome: "handled", state });
    };
    settle(undefined, 1);
    settle("p1", 2);
    world.stores.flush();
    assert.deepEqual(values(join(dir, "bus/state/bridge.b.json")), { state: 1, seq: 1 });
    assert.deepEqual(values(join(dir, "plans/p1/bus/state/bridge.b.json")), { state: 2, seq: 2 });
    const ref = { kind: "bridge", planId: "p1", name: "b" } as const;
    const store = world.stores.open(ref);
    world.stores.release("p1");
    assert.notEqual(world.stores.open(ref), store);
    assert.deepEqual(world.stores.read(ref), { state: 2, seq: 2 });
  }));

it("writes a file only when something changed", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    await inHook(world, "p1", (ctx) => ctx.setState("a", 1));
    world.stores.flush();
    writeFileSync(world.fileOf(ofPlan), "marker");
    await inHook(world, "p1", (ctx) => ctx.getState("a"));
    world.stores.flush();
    assert.equal(readFileSync(world.fileOf(ofPlan), "utf8"), "marker");
  }));

it("does not take a settlement a second time, also when something newer came since", () =>
  inTemporary((dir) => {
    const world = openWorld(dir);
    const settlement = (value: number): WrittenSettlement => ({
      record: "r",
      handler: "onEvent:one",
      outcome: "handled",
      state: { "plan:one": { a: { value } }, "global:one": { a: { value } } },
      marks: {},
    });
    world.stores.apply({ planId: "p1" }, settlement(1), "1:10");
    world.stores.apply({ planId: "p1" }, settlement(2), "1:20");
    world.stores.flush();
    const again = openWorld(dir);
    again.stores.apply({ planId: "p1" }, settlement(1), "1:10");
    for (const ref of [ofPlan, ofAll]) assert.deepEqual(again.stores.read(ref), { a: 2 });
    again.stores.apply({ planId: "p2" }, settlement(3), "1:10");
    assert.deepEqual(again.stores.read(ofAll), { a: 3 });
    again.stores.apply({}, { ...settlement(4), state: { "plan:one": { a: { value: 4 } }, odd: { a: {} } } }, "1:5");
    assert.deepEqual(again.stores.read(ofPlan), { a: 2 });
  }));

it("syncs later what it wrote without, and names its plans until then (L13)", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const synced = async (sync: boolean): Promise<number> =>
      (await countCalls(() => world.stores.flush({ sync }))).synced;
    await inHook(world, "p1", (ctx) => ctx.setGlobalState("a", 1));
    assert.equal(await synced(false), 0);
    assert.deepEqual(values(world.fileOf(ofAll)), { a: 1 });
    assert.deepEqual(readdirSync(join(dir, "pending")), ["p1"], "a power loss may still take the file back");
    assert.equal(await synced(true), 2, "the file and its folder");
    assert.deepEqual(readdirSync(join(dir, "pending")), []);
    assert.equal(await synced(true), 0);
    await inHook(world, "p1", (ctx) => ctx.setState("a", 1));
    assert.equal(await synced(true), 2);
    await inHook(world, "p1", (ctx) => ctx.setState("a", 2));
    assert.equal(await synced(false), 0);
    world.stores.release("p1");
    rmSync(dirname(world.fileOf(ofPlan)), { recursive: true });
    assert.equal(await synced(true), 0, "the plan is gone");
  }));
