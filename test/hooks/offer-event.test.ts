import assert from "node:assert/strict";
import { it } from "node:test";
import type { EventContext } from "../../src/hooks/contexts/context-types.ts";
import type { Hooks } from "../../src/hooks/contexts/hook-types.ts";
import { offerEvent } from "../../src/hooks/offer-event.ts";
import { event, globalPlugin, inTemporary, LIMITS, newIds, offer, onEvent, openWorld, planPlugin } from "./fixture.ts";

it("calls every plugin in order, also when one handled the event, and never again", () =>
  inTemporary(async (dir) => {
    const calls: string[] = [];
    const plugin = (name: string, handles = false) =>
      planPlugin(name, {
        onEvent(given, ctx) {
          calls.push(`${name} ${given.id}`);
          if (handles) ctx.markEventHandled(given.id);
        },
      });
    const plugins = [plugin("a"), plugin("b", true), plugin("c")];
    const world = openWorld(dir);
    assert.deepEqual(await offer(world, plugins), { called: true, handledBy: "b", waiting: false });
    assert.deepEqual(calls, ["a e1", "b e1", "c e1"]);
    assert.deepEqual(newIds(world, "p1"), []);
    const again = openWorld(dir);
    assert.deepEqual(newIds(again, "p1"), []);
    const offered = await offerEvent(again.services, again.scope("p1"), {
      plugins,
      event: event("e1"),
      moveCursor: true,
    });
    assert.equal(offered.called, false);
    assert.equal(calls.length, 3);
  }));

it("does not repeat the first plugin when the second throws, and knows after a restart who handled it", () =>
  inTemporary(async (dir) => {
    const calls: string[] = [];
    let throws = 2;
    const first = planPlugin("first", {
      onEvent(given, ctx) {
        calls.push("first");
        ctx.markEventHandled(given.id);
      },
    });
    const second = planPlugin("second", {
      onEvent(_given, ctx) {
        calls.push("second");
        ctx.emitComment({ target: "local" }, "half");
        throws -= 1;
        if (throws >= 0) throw new Error("not yet");
      },
    });
    const world = openWorld(dir);
    assert.deepEqual(await offer(world, [first, second]), { called: true, handledBy: "first", waiting: true });
    assert.deepEqual(world.actions("p1"), []);
    assert.deepEqual(newIds(world, "p1"), []);
    for (const wait of [1000, 2000]) {
      const again = openWorld(dir);
      again.clock.time = world.clock.time + wait;
      world.clock.time = again.clock.time;
      assert.deepEqual(newIds(again, "p1"), ["e1"]);
      const options = { plugins: [first, second], event: event("e1"), moveCursor: true };
      assert.equal((await offerEvent(again.services, again.scope("p1"), options)).handledBy, "first");
    }
    assert.deepEqual(calls, ["first", "second", "second", "second"]);
    assert.equal(world.actions("p1").length, 1);
    assert.match(world.reports[0]?.text ?? "", /^onEvent:second threw on e1 \(attempt 1 of 3, next in 1 s\): not yet$/);
    assert.equal(world.reports[0]?.planId, "p1");
  }));

it("makes a dead letter of an event that a plugin always throws on, and tells how to try again", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const bad = onEvent(() => {
      throw Object.create(null);
    });
    const good = planPlugin("good", { onEvent: () => undefined });
    for (let round = 1; round <= 3; round += 1) {
      const offered = await offer(world, [bad, good]);
      assert.equal(offered.waiting, round < 3);
      world.clock.time += 600_000;
    }
    const [letter] = world.bus("p1").deadLetters();
    assert.deepEqual([letter?.record, letter?.handler, letter?.attempts], ["e1", "onEvent:one", 3]);
    assert.match(letter?.reason ?? "", /cannot be shown/);
    const bads = world.reports.filter(({ level }) => level === "bad");
    assert.equal(bads.length, 1);
    assert.match(bads[0]?.text ?? "", /onEvent:one.*`prloom retry e1`/);
    world.bus("p1").revive("e1");
    assert.deepEqual(newIds(world, "p1"), ["e1"]);
  }));

it("counts a call that never came back before it calls again, and gives up at last", () =>
  inTemporary(async (dir) => {
    let calls = 0;
    const plugin = onEvent(() => {
      calls += 1;
    });
    for (let life = 1; life <= 3; life += 1) openWorld(dir).bus("p1").attempt("e1", "onEvent:one");
    const world = openWorld(dir);
    assert.deepEqual(await offer(world, [plugin]), { called: false, waiting: false });
    assert.equal(calls, 0);
    assert.equal(world.bus("p1").deadLetters().length, 1);
    assert.equal(world.reports.at(-1)?.level, "bad");
  }));

it("puts an event off for as long as the plugin says, and forever if it says so each time", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const asked: number[] = [];
    let retryMs: number | undefined = 60_000;
    const plugin = onEvent((given, ctx) => {
      asked.push(world.clock.time);
      ctx.emitComment({ target: "local" }, "dropped with the deferral");
      ctx.markEventDeferred(given.id, "busy", retryMs);
    });
    const start = world.clock.time;
    assert.equal((await offer(world, [plugin])).waiting, true);
    const deferred = world.bus("p1").state().deferredEventIds.e1;
    assert.deepEqual([deferred?.reason, deferred?.deferredUntil], ["busy", start + 60_000]);
    world.clock.time = start + 59_000;
    assert.deepEqual(newIds(world, "p1"), []);
    for (let round = 1; round <= 20; round += 1) {
      world.clock.time += 60_001;
      assert.deepEqual(newIds(world, "p1"), ["e1"]);
      await offer(world, [plugin]);
    }
    assert.equal(asked.length, 21);
    assert.deepEqual(world.bus("p1").deadLetters(), []);
    assert.deepEqual(world.actions("p1"), []);
    for (const none of [undefined, 0]) {
      retryMs = none;
      world.clock.time += 600_000;
      await offer(world, [plugin]);
      const until = world.bus("p1").waitOf("e1", "onEvent:one")?.until ?? 0;
      assert.ok(until >= world.clock.time + 1000, "a deferral without a delay must not be a hot loop");
    }
  }));

it("refuses marks with the id of another event, wrong delays, and everything after the call is over", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir, { timeoutMs: 60_000 });
    const misuse = async (hook: (ctx: EventContext) => void, pattern: RegExp): Promise<void> => {
      const given = event(`e${world.reports.length}`);
      await offer(world, [onEvent((_event, ctx) => hook(ctx))], given);
      assert.match(world.bus("p1").waitOf(given.id, "onEvent:one")?.reason ?? "", pattern);
    };
    await misuse(
      (ctx) => ctx.markEventHandled("other"),
      /markEventHandled: the event of this call is "e0", not "other"/,
    );
    await misuse((ctx) => ctx.markEventDeferred("other", "x"), /markEventDeferred: the event of this call/);
    await misuse((ctx) => ctx.markEventDeferred("e2", "x", Number.NaN), /retryMs/);
    await misuse((ctx) => ctx.markEventDeferred("e3", "x", -1), /retryMs/);
    const contexts: EventContext[] = [];
    await offer(world, [onEvent((_event, ctx) => void contexts.push(ctx))], event("late"));
    const [kept] = contexts;
    assert.throws(() => kept?.emitComment({ target: "local" }, "late"), {
      code: "hook-misuse",
      message: /after onEvent:one for late was over/,
    });
    assert.throws(() => kept?.setState("a", 1), { code: "hook-misuse" });
    assert.throws(() => kept?.markEventHandled("late"), { code: "hook-misuse" });
    await assert.rejects(async () => kept?.runAgent("late"), { code: "hook-misuse" });
    await assert.rejects(async () => kept?.readEvents(), { code: "hook-misuse" });
    assert.equal(kept?.signal.aborted, true);
    assert.deepEqual(world.actions("p1"), []);
  }));

it("gives each plugin its own copy: what one changes the next does not see, nor does the journal", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const seen: string[] = [];
    const given = event("e1", { body: "as it came" });
    const vandal = onEvent((mine) => {
      const open = mine as { body: string; context: { author: { permission: string } } };
      open.body = "changed";
      open.context.author.permission = "admin";
    });
    const reader = planPlugin("reader", {
      async onEvent(mine, ctx) {
        seen.push(mine.body, JSON.stringify(mine.context));
        const { events } = await ctx.readEvents();
        seen.push(events[0]?.body ?? "");
        ctx.reply("x");
      },
    });
    await offer(world, [vandal, reader], given);
    assert.deepEqual(seen, ["as it came", JSON.stringify(given.context), "as it came"]);
    assert.equal(given.body, "as it came");
    assert.equal(world.actions("p1")[0]?.author?.permission, "write");
  }));

it("keeps no more of the reason of a deferral than of an error", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const page = "<html>".repeat(100_000);
    await offer(world, [onEvent((_given, ctx) => ctx.markEventDeferred(page, 5000))]);
    const { reason = "" } = world.bus("p1").waitOf("e1", "onEvent:one") ?? {};
    assert.deepEqual([reason.slice(0, 12), reason.length], ["<html><html>", 2001]);
  }));

it("marks the event in hand without its id, and with it", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const marks: [id: string, hook: (ctx: EventContext, id: string) => void][] = [
      ["handled", (ctx) => ctx.markEventHandled()],
      ["handled-id", (ctx, id) => ctx.markEventHandled(id)],
      ["deferred", (ctx) => ctx.markEventDeferred()],
      ["deferred-reason", (ctx) => ctx.markEventDeferred("busy")],
      ["deferred-time", (ctx) => ctx.markEventDeferred("busy", 5000)],
      ["deferred-only-time", (ctx) => ctx.markEventDeferred(undefined, 5000)],
      ["deferred-id", (ctx, id) => ctx.markEventDeferred(id)],
      ["deferred-id-time", (ctx, id) => ctx.markEventDeferred(id, "busy", 5000)],
      ["deferred-id-only-time", (ctx, id) => ctx.markEventDeferred(id, undefined, 5000)],
    ];
    const found = new Map<string, unknown>();
    for (const [id, hook] of marks) {
      const { handledBy } = await offer(world, [onEvent((given, ctx) => hook(ctx, given.id))], event(id));
      const wait = world.bus("p1").waitOf(id, "onEvent:one");
      found.set(id, handledBy ?? [wait?.reason ?? "", (wait?.until ?? 0) - world.clock.time]);
    }
    assert.deepEqual(Object.fromEntries(found), {
      handled: "one",
      "handled-id": "one",
      deferred: ["deferred", 1000],
      "deferred-reason": ["busy", 1000],
      "deferred-time": ["busy", 5000],
      "deferred-only-time": ["deferred", 5000],
      "deferred-id": ["deferred", 1000],
      "deferred-id-time": ["busy", 5000],
      "deferred-id-only-time": ["deferred", 5000],
    });
  }));

it("ignores what an event hook returns", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const plugin = onEvent((() => ({ handled: true, target: "x" })) as never);
    assert.deepEqual(await offer(world, [plugin]), { called: true, waiting: false });
    assert.equal(world.settlements("p1")[0]?.outcome, "passed");
  }));

it("offers events of the global bus to onGlobalEvent only, and of a plan to onEvent only", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const calls: string[] = [];
    const both: Hooks = {
      onEvent: (given, ctx) => void calls.push(`plan ${ctx.planId} ${given.id}`),
      onGlobalEvent: (given, ctx) => void calls.push(`global ${ctx.planId} ${given.id}`),
    };
    for (const planId of [undefined, "p1", "p2"]) {
      world.bus(planId).appendEvents([event("same")]);
      assert.deepEqual(newIds(world, planId), ["same"]);
      const plugins = [planId === undefined ? globalPlugin("g", both) : planPlugin("p", both)];
      await offerEvent(world.services, world.scope(planId), { plugins, event: event("same"), moveCursor: true });
      assert.deepEqual(newIds(world, planId), []);
    }
    assert.deepEqual(calls, ["global undefined same", "plan p1 same", "plan p2 same"]);
  }));

it("leaves a record without plugins, or with plugins that have no such hook, to the caller", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const none = planPlugin("none", { afterTodo: () => undefined });
    assert.deepEqual(await offer(world, [none]), { called: false, waiting: false });
    assert.deepEqual(world.settlements("p1"), []);
    assert.deepEqual(newIds(world, "p1"), ["e1"]);
  }));

it("moves no cursor when something comes after the plugins, and keeps who handled it until then", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const plugin = onEvent((given, ctx) => ctx.markEventHandled(given.id));
    world.bus("p1").appendEvents([event("e1")]);
    const options = { plugins: [plugin], event: event("e1"), moveCursor: false };
    await offerEvent(world.services, world.scope("p1"), options);
    const again = openWorld(dir);
    assert.deepEqual(newIds(again, "p1"), ["e1"]);
    const offered = await offerEvent(again.services, again.scope("p1"), options);
    assert.deepEqual(offered, { called: false, handledBy: "one", waiting: false });
  }));

it("lets a plugin put an event off for milliseconds as often as it likes, but not for ever", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const waits: number[] = [];
    const hasty = onEvent((_given, ctx) => ctx.markEventDeferred("not yet", 30));
    for (let round = 0; round < 400; round += 1) {
      await offer(world, [hasty]);
      const until = world.bus("p1").waitOf("e1", "onEvent:one")?.until ?? assert.fail("nothing waits");
      waits.push(until - world.clock.time);
      world.clock.time = until;
    }
    assert.deepEqual([waits.at(0), waits.at(-1)], [30, LIMITS.retryMinMs]);
    assert.equal(world.bus("p1").waitOf("e1", "onEvent:one")?.attempts, 0);
  }));
