import assert from "node:assert/strict";
import { it } from "node:test";
import type { EventContext } from "../../../src/hooks/contexts/context-types.ts";
import { offerEvent } from "../../../src/hooks/offer-event.ts";
import { event, globalPlugin, inHook, inTemporary, openWorld, type World } from "../fixture.ts";

const inPlan = (world: World, hook: (ctx: EventContext) => unknown, id = "e1"): Promise<string> =>
  inHook(world, "p1", hook, id);

it("reads plans and events, with options that are checked", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    world.bus("p1").appendEvents([event("a", { type: "x" }), event("b"), event("c", { type: "x" })]);
    const seen: unknown[] = [];
    await inPlan(world, async (ctx) => {
      seen.push((await ctx.readPlan())?.content, (await ctx.readPlan("p2"))?.progress, await ctx.readPlan("unknown"));
      const types = await ctx.readEvents({ types: ["x"], limit: 1 });
      seen.push(types.events.map(({ id }) => id).join(), types.lastId);
      const rest = await ctx.readEvents({ sinceId: "b" });
      seen.push(rest.events.map(({ id }) => id).join());
    });
    assert.deepEqual(seen, ["# p1", { total: 5, completed: 2 }, undefined, "a", "a", "c,e1"]);
    assert.deepEqual(
      world
        .bus("p1")
        .newEvents(3)
        .map((one) => one.event.id),
      ["a", "b", "c"],
    );
    assert.match(await inPlan(world, (ctx) => ctx.readEvents({ sinceId: "never" }), "e2"), /There is no event "never"/);
    assert.match(await inPlan(world, (ctx) => ctx.readEvents({ limit: 0 }), "e3"), /limit/);
    assert.match(await inPlan(world, (ctx) => ctx.readEvents({ types: "x" as never }), "e4"), /types/);
    assert.match(await inPlan(world, (ctx) => ctx.runAgent(""), "e5"), /prompt/);
  }));

it("checks the options of runAgent by an error that names the one that is wrong", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const wrong: [options: unknown, pattern: RegExp][] = [
      [{ stge: "worker" }, /there is no option "stge"/],
      [{ __proto__: null, constructor: 1 }, /there is no option "constructor"/],
      [{ stage: "tester" }, /stage must be one of designer, worker, triage, reviewer; it is "tester"/],
      [{ stage: "constructor" }, /stage must be one of/],
      [{ model: 5 }, /model must be a string/],
      [{ files: "README.md" }, /files must be a list of file names; it is "README\.md"/],
      [{ files: [1] }, /files must be a list/],
      [{ timeoutMs: "60s" }, /timeoutMs must be a number of milliseconds/],
      [{ timeoutMs: Number.NaN }, /timeoutMs must be/],
      [{ timeoutMs: 0 }, /timeoutMs must be/],
      ["reviewer", /the options must be an object; they are "reviewer"/],
      [null, /the options must be an object; they are null/],
    ];
    for (const [index, [options, pattern]] of wrong.entries()) {
      assert.match(await inPlan(world, (ctx) => ctx.runAgent("x", options as never), `o${index}`), pattern);
    }
    assert.equal(world.agentCalls.length, 0);
    const right = { stage: "worker", model: "m", files: ["a.ts"], timeoutMs: 5 } as const;
    for (const options of [right, { stage: undefined }, undefined]) {
      await inPlan(world, (ctx) => ctx.runAgent("x", options as never), `r${world.agentCalls.length}`);
    }
    assert.deepEqual(
      world.agentCalls.map(({ options }) => ({ ...options, signal: undefined })),
      [right, {}, {}].map((options) => ({ ...options, signal: undefined })),
    );
  }));

it("asks for the id of a plan in a global hook by an error that names the parameter", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    world.bus().appendEvents([event("g1")]);
    const seen: unknown[] = [];
    const plugin = globalPlugin("g", {
      async onGlobalEvent(_given, ctx) {
        seen.push(ctx.planId, ctx.worktree, ctx.repoRoot, (await ctx.readPlan("p1"))?.content, await ctx.listPlans());
        await ctx.readPlan(undefined as never);
      },
    });
    await offerEvent(world.services, world.scope(), { plugins: [plugin], event: event("g1"), moveCursor: true });
    assert.deepEqual(seen, [undefined, undefined, dir, "# p1", []]);
    assert.match(
      world.bus().waitOf("g1", "onGlobalEvent:g")?.reason ?? "",
      /readPlan\(planId\): planId is missing in onGlobalEvent/,
    );
  }));

it("marks what a plugin logs with its name and plan", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    await inPlan(world, (ctx) => {
      ctx.log.info("a");
      ctx.log.warn("b");
      ctx.log.error("c");
    });
    assert.deepEqual(world.reports, [
      { planId: "p1", level: "info", text: "one: a" },
      { planId: "p1", level: "warn", text: "one: b" },
      { planId: "p1", level: "bad", text: "one: c" },
    ]);
  }));
