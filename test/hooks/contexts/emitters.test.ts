import assert from "node:assert/strict";
import { it } from "node:test";
import type { EventContext } from "../../../src/hooks/contexts/context-types.ts";
import { offerEvent } from "../../../src/hooks/offer-event.ts";
import { event, globalPlugin, inHook, inTemporary, openWorld, planPlugin, type World } from "../fixture.ts";

const HERE = { target: "github-pr", token: "7" };

const inPlan = (world: World, hook: (ctx: EventContext) => unknown, id = "e1"): Promise<string> =>
  inHook(world, "p1", hook, id);

it("emits all kinds of actions, with the event and its author, and ids that a second run gives again", () =>
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
    await inPlan(world, hook);
    const first = ids;
    assert.deepEqual(world.actions("p1"), []);
    world.clock.time += 5000;
    await inPlan(world, hook);
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
    assert.deepEqual([...new Set(actions.map(({ emitter }) => emitter))], ["plugin:one"]);
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

it("emits from onGlobalEvent too", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    world.bus().appendEvents([event("g1")]);
    const plugin = globalPlugin("g", {
      onGlobalEvent(given, ctx) {
        assert.ok(given.replyTo);
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

it("replies at the address of the event in hand; to one without an address nothing is sent, and the log says so", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const returned: unknown[] = [];
    const answer = (given: { id: string }, ctx: Pick<EventContext, "reply">): void => {
      returned.push(ctx.reply(`re ${given.id}`, { key: "answer" }));
    };
    const plugin = planPlugin("p", { onEvent: answer });
    const { replyTo: _, ...mute } = event("mute");
    for (const given of [event("e1"), mute]) {
      world.bus("p1").appendEvents([given]);
      const options = { plugins: [plugin], event: given, moveCursor: true };
      assert.equal((await offerEvent(world.services, world.scope("p1"), options)).waiting, false);
    }
    world.bus().appendEvents([event("g1")]);
    const plugins = [globalPlugin("g", { onGlobalEvent: answer })];
    await offerEvent(world.services, world.scope(), { plugins, event: event("g1"), moveCursor: true });
    const [first, global] = [world.actions("p1"), world.actions()].map((actions) => actions[0]);
    assert.deepEqual(returned, [first?.id, undefined, global?.id]);
    assert.equal(world.actions("p1").length, 1);
    assert.deepEqual(
      [first, global].map((action) => [action?.target, action?.payload, action?.relatedEventId]),
      ["e1", "g1"].map((id) => [
        { target: "local", token: "p1" },
        { type: "comment", message: `re ${id}`, key: "answer" },
        id,
      ]),
    );
    assert.deepEqual(world.reports, [
      { planId: "p1", level: "info", text: "p: mute has no replyTo, so nothing was replied to it" },
    ]);
    assert.match(await inPlan(world, (ctx) => ctx.reply(5 as never), "wrong"), /^reply: payload\.message: /);
  }));

it("refuses what is not an action by an error that names the field", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const circular: { self?: unknown } = {};
    circular.self = circular;
    const cases: [name: string, hook: (ctx: EventContext) => unknown, pattern: RegExp][] = [
      ["message", (ctx) => ctx.emitComment(HERE, 5 as never), /emitComment: payload\.message: /],
      ["no target", (ctx) => ctx.emitComment(undefined as never, "x"), /emitComment: target is missing/],
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
      assert.match(await inPlan(world, hook, name), pattern, name);
    }
    assert.deepEqual(world.actions("p1"), []);
  }));

it("takes an upsert whose source is incomplete: prloom-core says what is missing", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    await inPlan(world, (ctx) => ctx.emitUpsert({ source: { system: "github" } } as never));
    assert.deepEqual(world.actions("p1")[0]?.payload, { type: "upsert_plan", source: { system: "github" } });
  }));

it("lets one call emit 1,000 actions and not 10,000", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const emit = (count: number) => (ctx: EventContext) => {
      for (let index = 0; index < count; index += 1) ctx.emitComment(HERE, `c${index}`);
    };
    assert.match(await inPlan(world, emit(10_000)), /one call may emit 1000 actions/);
    assert.deepEqual(world.actions("p1"), []);
    await inPlan(world, emit(1000), "e2");
    assert.equal(world.bus("p1").freshActions(5000, () => true).length, 1000);
  }));

it("keeps what a hook does to an action after it emitted it out of the journal", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    await inPlan(world, (ctx) => {
      const payload = { type: "comment" as const, message: "as emitted" };
      ctx.emitAction({ target: HERE, payload });
      payload.message = "changed";
    });
    assert.deepEqual(world.actions("p1")[0]?.payload, { type: "comment", message: "as emitted" });
  }));
