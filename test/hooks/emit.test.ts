import assert from "node:assert/strict";
import { it } from "node:test";
import type { EventContext } from "../../src/hooks/contexts/context-types.ts";
import { offerEvent } from "../../src/hooks/offer-event.ts";
import { event, globalPlugin, inTemporary, openWorld, planPlugin, type World } from "./fixture.ts";

const HERE = { target: "github-pr", token: "7" };

async function inHook(world: World, hook: (ctx: EventContext) => unknown, id = "e1"): Promise<void> {
  const given = event(id);
  world.bus("p1").appendEvents([given]);
  const plugins = [planPlugin("one", { onEvent: async (_event, ctx) => void (await hook(ctx)) })];
  await offerEvent(world.services, world.scope("p1"), { plugins, event: given, moveCursor: true });
}

const reason = (world: World, id = "e1"): string => world.bus("p1").waitOf(id, "onEvent:one")?.reason ?? "";

it("emits all kinds of actions, with the event and its author, and ids that a second run gives again (S1-17 to S1-20)", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const review = {
      verdict: "approve" as const,
      summary: "fine",
      comments: [{ path: "a.ts", line: 1, message: "x" }],
    };
    const source = { system: "github", kind: "issue", id: "1" };
    let ids: string[] = [];
    let runs = 0;
    const hook = (ctx: EventContext): void => {
      ids = [
        ctx.emitComment(HERE, "hello", { key: "status" }),
        ctx.emitReview(HERE, review),
        ctx.emitMerge(HERE),
        ctx.emitMerge(HERE, "rebase"),
        ctx.emitUpsert({ source, title: "T" }),
        ctx.emitNotification({ priority: "urgent", title: "t", message: "m" }),
        ctx.emitAction({ target: HERE, payload: { type: "close_pr" }, relatedEventId: "another" }),
      ];
      runs += 1;
      if (runs === 1) throw new Error("once");
    };
    await inHook(world, hook);
    const first = ids;
    assert.deepEqual(world.actions("p1"), []);
    world.clock.time += 5000;
    await inHook(world, hook);
    assert.deepEqual(ids, first);
    const actions = world.actions("p1");
    assert.deepEqual(
      actions.map(({ id }) => id),
      ids,
    );
    assert.deepEqual(
      actions.map(({ target, payload }) => [target.target, payload]),
      [
        ["github-pr", { type: "comment", message: "hello", key: "status" }],
        ["github-pr", { type: "review", review }],
        ["github-pr", { type: "merge", method: "squash" }],
        ["github-pr", { type: "merge", method: "rebase" }],
        ["prloom-core", { type: "upsert_plan", source, title: "T" }],
        ["human", { type: "notification", priority: "urgent", title: "t", message: "m" }],
        ["github-pr", { type: "close_pr" }],
      ],
    );
    for (const { relatedEventId, author, hops } of actions) {
      assert.deepEqual([relatedEventId, author, hops], ["e1", { login: "ann", permission: "write" }, undefined]);
    }
  }));

it("takes an id of the plugin's own, under which an action is done once", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const given: string[] = [];
    const plugin = planPlugin("p", {
      onEvent(_event, ctx) {
        const payload = { type: "close_pr" } as const;
        given.push(ctx.emitAction({ type: "respond", id: "close-7", target: HERE, payload }));
        given.push(ctx.emitAction({ type: "respond", target: HERE, payload }));
      },
    });
    for (const id of ["e1", "e2"]) {
      world.bus("p1").appendEvents([event(id)]);
      await offerEvent(world.services, world.scope("p1"), { plugins: [plugin], event: event(id), moveCursor: true });
    }
    assert.deepEqual([given[0], given[2]], ["close-7", "close-7"]);
    assert.deepEqual(
      world.actions("p1").map(({ id }) => id),
      ["close-7", given[1], given[3]],
    );
  }));

it("emits from onGlobalEvent too (S0-57)", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    world.bus().appendEvents([event("g1")]);
    const plugin = globalPlugin("g", {
      onGlobalEvent(given, ctx) {
        ctx.emitComment(given.replyTo, "c");
        ctx.emitMerge(given.replyTo);
        ctx.emitReview(given.replyTo, { verdict: "comment", summary: "", comments: [] });
      },
    });
    await offerEvent(world.services, world.scope(), { plugins: [plugin], event: event("g1"), moveCursor: true });
    assert.deepEqual(
      world.actions().map(({ payload }) => payload.type),
      ["comment", "merge", "review"],
    );
  }));

it("refuses what is no action by an error that names the field", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const circular: { self?: unknown } = {};
    circular.self = circular;
    const cases: [name: string, hook: (ctx: EventContext) => unknown, pattern: RegExp][] = [
      ["message", (ctx) => ctx.emitComment(HERE, 5 as never), /emitComment: payload\.message: /],
      ["no target", (ctx) => ctx.emitComment(undefined, "x"), /emitComment: target is missing/],
      ["target", (ctx) => ctx.emitComment({ target: "" }, "x"), /emitComment: target\.target: /],
      ["method", (ctx) => ctx.emitMerge(HERE, "octopus" as never), /emitMerge: payload\.method: /],
      ["type", (ctx) => ctx.emitAction({ target: HERE, payload: { type: "explode" } as never }), /payload\.type: /],
      [
        "unknown",
        (ctx) => ctx.emitAction({ target: HERE, payload: { type: "close_pr", now: 1 } as never }),
        /payload: .*now/,
      ],
      [
        "author",
        (ctx) => ctx.emitAction({ target: HERE, payload: { type: "close_pr" }, author: {} } as never),
        /no field "author"/,
      ],
      [
        "id",
        (ctx) => ctx.emitAction({ id: "act-x", target: HERE, payload: { type: "close_pr" } }),
        /id: must not begin with act-/,
      ],
      [
        "function",
        (ctx) => ctx.emitUpsert({ source: {}, metadata: { f: () => 1 } } as never),
        /metadata\.f is a function/,
      ],
      [
        "circular",
        (ctx) => ctx.emitUpsert({ source: {}, metadata: circular } as never),
        /metadata\.self is a reference/,
      ],
      ["none", (ctx) => ctx.emitAction(undefined as never), /emitAction: .*undefined/],
    ];
    for (const [name, hook, pattern] of cases) {
      await inHook(world, hook, name);
      assert.match(reason(world, name), pattern, name);
    }
    assert.deepEqual(world.actions("p1"), []);
  }));

it("takes an upsert whose source is incomplete: prloom-core says what is missing", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    await inHook(world, (ctx) => ctx.emitUpsert({ source: { system: "github" } } as never));
    assert.deepEqual(world.actions("p1")[0]?.payload, { type: "upsert_plan", source: { system: "github" } });
  }));

it("lets one call emit 1,000 actions and not 10,000", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const emit = (count: number) => (ctx: EventContext) => {
      for (let index = 0; index < count; index += 1) ctx.emitComment(HERE, `c${index}`);
    };
    await inHook(world, emit(10_000));
    assert.match(reason(world), /one call may emit 1000 actions/);
    assert.deepEqual(world.actions("p1"), []);
    await inHook(world, emit(1000), "e2");
    assert.equal(world.bus("p1").dueActions(5000).length, 1000);
  }));

it("keeps what a hook does to an action after it emitted it out of the journal", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    await inHook(world, (ctx) => {
      const payload = { type: "comment" as const, message: "as emitted" };
      ctx.emitAction({ target: HERE, payload });
      payload.message = "changed";
    });
    assert.deepEqual(world.actions("p1")[0]?.payload, { type: "comment", message: "as emitted" });
  }));

it("reads plans and events, with options that are checked (S0-58 to S0-60, S1-15, S1-16)", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    world.bus("p1").appendEvents([event("a", { type: "x" }), event("b"), event("c", { type: "x" })]);
    const seen: unknown[] = [];
    await inHook(world, async (ctx) => {
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
    await inHook(world, (ctx) => ctx.readEvents({ sinceId: "never" }), "e2");
    assert.match(reason(world, "e2"), /There is no event "never"/);
    await inHook(world, (ctx) => ctx.readEvents({ limit: 0 }), "e3");
    assert.match(reason(world, "e3"), /limit/);
    await inHook(world, (ctx) => ctx.readEvents({ types: "x" as never }), "e4");
    assert.match(reason(world, "e4"), /types/);
    await inHook(world, (ctx) => ctx.runAgent(""), "e5");
    assert.match(reason(world, "e5"), /prompt/);
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
      await inHook(world, (ctx) => ctx.runAgent("x", options as never), `o${index}`);
      assert.match(reason(world, `o${index}`), pattern);
    }
    assert.equal(world.agentCalls.length, 0);
    const right = { stage: "worker", model: "m", files: ["a.ts"], timeoutMs: 5 } as const;
    for (const options of [right, { stage: undefined }, undefined]) {
      await inHook(world, (ctx) => ctx.runAgent("x", options as never), `r${world.agentCalls.length}`);
    }
    assert.deepEqual(
      world.agentCalls.map(({ options }) => ({ ...options, signal: undefined })),
      [right, {}, {}].map((options) => ({ ...options, signal: undefined })),
    );
  }));

it("asks for the id of a plan in a global hook by an error that names the parameter (S0-59, S0-68)", () =>
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
    await inHook(world, (ctx) => {
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
