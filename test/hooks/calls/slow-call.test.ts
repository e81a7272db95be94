import assert from "node:assert/strict";
import { it } from "node:test";
import type { BusEvent } from "../../../src/bus/types.ts";
import { SlowCalls } from "../../../src/hooks/calls/handler-queue.ts";
import { makeInterruptedDue, SOON_MS } from "../../../src/hooks/calls/slow-call.ts";
import type { LoadedPlugin } from "../../../src/hooks/modules/load-plugins.ts";
import { type OfferOutcome, offerEvent } from "../../../src/hooks/offer-event.ts";
import { event, gate, inTemporary, LIMITS, openWorld, planPlugin, type World } from "../fixture.ts";

const HANDLER = "onEvent:slow";

/** One lane of a dispatcher: what it is offered, and what it is told of calls that end late. */
function lane(
  world: World,
  { plugins: all, moveCursor = true }: { plugins: readonly LoadedPlugin[]; moveCursor?: boolean },
) {
  const bus = world.bus("p1");
  const slowCalls = new SlowCalls();
  let late = gate();
  const offer = (given: BusEvent, plugins = all): Promise<OfferOutcome> =>
    offerEvent(world.services, world.scope("p1"), {
      plugins,
      event: given,
      moveCursor,
      patienceMs: 50,
      slowCalls,
      onSlowCallEnd: () => late.open(),
    });
  return {
    bus,
    slowCalls,
    offer,
    /** Offers what is due. */
    async pass(): Promise<OfferOutcome[]> {
      const offered: OfferOutcome[] = [];
      for (const { event: given } of bus.newEvents(99)) {
        const one = await offer(given);
        if (!one.called)
          bus.settle({ record: given.id, handler: "end", outcome: "passed", marks: { moveCursor: true } });
        offered.push(one);
      }
      return offered;
    },
    async ended(): Promise<void> {
      await late.promise;
      late = gate();
    },
  };
}

/** A plugin that takes as long as the test wants for the events that are named. */
function slow(calls: string[], gates: Readonly<Record<string, Promise<unknown>>>): LoadedPlugin {
  return planPlugin("slow", {
    async onEvent(given, ctx) {
      calls.push(`slow ${given.id}`);
      await gates[given.id];
      ctx.emitComment({ target: "local" }, `about ${given.id}`);
      ctx.markEventHandled(given.id);
    },
  });
}

const quick = (calls: string[]): LoadedPlugin =>
  planPlugin("quick", { onEvent: (given) => void calls.push(`quick ${given.id}`) });

const reasonOf = (world: World, id: string, handler = HANDLER) => world.bus("p1").waitOf(id, handler)?.reason;

it("goes on without a plugin that hangs, and takes what it says when it comes (L10)", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const calls: string[] = [];
    const hanging = gate();
    const { pass, bus, ended, slowCalls } = lane(world, {
      plugins: [slow(calls, { e1: hanging.promise }), quick(calls)],
    });
    bus.appendEvents([event("e1"), event("e2")]);
    const offered = await pass();
    assert.deepEqual(offered, [
      { called: true, waiting: true },
      { called: true, waiting: true },
    ]);
    assert.deepEqual(calls, ["slow e1", "quick e1", "quick e2"]);
    assert.deepEqual([reasonOf(world, "e1"), reasonOf(world, "e2")], ["still at work", "is busy with another event"]);
    assert.equal(bus.waitOf("e1", HANDLER)?.until, world.clock.time + 60_000 + 1000);
    assert.equal(slowCalls.has(bus), true);
    assert.deepEqual(openWorld(dir).bus("p1").newEvents(9), [], "the cursor has passed both");
    hanging.open();
    await ended();
    await slowCalls.settled(bus);
    assert.equal(slowCalls.has(bus), false);
    assert.deepEqual(
      world.actions("p1").map(({ relatedEventId }) => relatedEventId),
      ["e1"],
    );
    world.clock.time += SOON_MS;
    assert.deepEqual(await pass(), [
      { called: false, handledBy: "slow", waiting: false },
      { called: true, handledBy: "slow", waiting: false },
    ]);
    assert.deepEqual(calls.slice(3), ["slow e2"]);
    assert.equal(bus.nextRetryAt(), undefined);
    assert.deepEqual(world.bus("p1").deadLetters(), []);
  }));

it("keeps the order of the events for the plugin that hung, also of those that came when it was free again", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const calls: string[] = [];
    const hanging = gate();
    const { bus, pass, ended } = lane(world, { plugins: [slow(calls, { e1: hanging.promise })] });
    bus.appendEvents([event("e1"), event("e2"), event("e3")]);
    await pass();
    for (let round = 1; round <= 6; round += 1) {
      world.clock.time = bus.waitOf("e2", HANDLER)?.until ?? 0;
      await pass();
    }
    assert.deepEqual(calls, ["slow e1"]);
    assert.ok((bus.waitOf("e2", HANDLER)?.until ?? 0) > world.clock.time + 20_000, "it looks less and less often");
    assert.equal(bus.waitOf("e2", HANDLER)?.attempts, 0);
    // Time goes on while it writes.
    world.clock.now = () => {
      world.clock.time += 1;
      return world.clock.time;
    };
    hanging.open();
    await ended();
    world.clock.now = () => world.clock.time;
    bus.appendEvents([event("e4")]);
    await pass();
    assert.deepEqual(calls, ["slow e1"], "e4 is not taken before e2");
    world.clock.time += SOON_MS;
    await pass();
    assert.deepEqual(calls, ["slow e1", "slow e2", "slow e3", "slow e4"]);
  }));

it("is called again soon after a kill, counts the call that hung, and gives up at last", () =>
  inTemporary(async (dir) => {
    const calls: string[] = [];
    const hanging = gate();
    const ends: Promise<void>[] = [];
    let time = 0;
    for (let life = 1; life <= LIMITS.maxAttempts; life += 1) {
      const world = openWorld(dir);
      world.clock.time += time;
      const { bus, pass, slowCalls } = lane(world, { plugins: [slow(calls, { e1: hanging.promise })] });
      if (life === 1) bus.appendEvents([event("e1")]);
      makeInterruptedDue(bus, world.clock.now());
      world.clock.time += SOON_MS;
      await pass();
      ends.push(slowCalls.settled(bus));
      assert.equal(calls.length, life);
      time += 1000;
    }
    const world = openWorld(dir);
    world.clock.time += time;
    makeInterruptedDue(world.bus("p1"), world.clock.now());
    world.clock.time += SOON_MS;
    await lane(world, { plugins: [slow(calls, {})] }).pass();
    assert.equal(calls.length, LIMITS.maxAttempts);
    assert.deepEqual(
      world
        .bus("p1")
        .deadLetters()
        .map(({ attempts }) => attempts),
      [LIMITS.maxAttempts],
    );
    hanging.open();
    await Promise.all(ends);
  }));

it("keeps what a plugin put off over restarts, whatever words it used", () =>
  inTemporary(async (dir) => {
    const words = ["still at work", "is busy with another event", "its call was cut off", "the dispatcher was stopped"];
    const calls: string[] = [];
    const patient = planPlugin("patient", {
      onEvent(given, ctx) {
        calls.push(given.id);
        ctx.markEventDeferred(given.id, given.title, 3_600_000);
      },
    });
    const until = openWorld(dir).clock.time + 3_600_000;
    for (let life = 0; life <= 2 * LIMITS.maxAttempts; life += 1) {
      const world = openWorld(dir);
      world.clock.time += life * 1000;
      const { bus, pass } = lane(world, { plugins: [patient] });
      if (life === 0) bus.appendEvents(words.map((title, index) => ({ ...event(`e${index}`), title })));
      makeInterruptedDue(bus, world.clock.now());
      world.clock.time += SOON_MS;
      await pass();
      assert.equal(calls.length, words.length, "no plugin is called before the hour is over");
      for (const [index, reason] of words.entries()) {
        const wait = bus.waitOf(`e${index}`, "onEvent:patient");
        assert.deepEqual([wait?.reason, wait?.attempts], [reason, 0]);
        assert.ok(Math.abs((wait?.until ?? 0) - until) < 1000);
      }
      assert.deepEqual(bus.deadLetters(), []);
      bus.save();
    }
  }));

it("counts a late throw once, and a late deferral not at all", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const hanging = gate();
    const thrower = planPlugin("thrower", {
      async onEvent() {
        await hanging.promise;
        throw new Error("in the end");
      },
    });
    const patient = planPlugin("patient", {
      async onEvent(given, ctx) {
        await hanging.promise;
        ctx.markEventDeferred(given.id, "not yet", 5000);
      },
    });
    const { bus, pass, slowCalls } = lane(world, { plugins: [thrower, patient] });
    bus.appendEvents([event("e1")]);
    await pass();
    hanging.open();
    await slowCalls.settled(bus);
    const waits = ["thrower", "patient"].map((name) => bus.waitOf("e1", `onEvent:${name}`));
    assert.deepEqual(
      waits.map((wait) => [wait?.reason, wait?.attempts]),
      [
        ["in the end", 1],
        ["not yet", 0],
      ],
    );
    assert.equal(waits[1]?.until, world.clock.time + 5000);
  }));

for (const moveCursor of [true, false]) {
  it(`knows what a late call said while the next plugin was asked, ${moveCursor ? "last" : "before others"}`, () =>
    inTemporary(async (dir) => {
      const world = openWorld(dir);
      const hanging = gate();
      const { slowCalls, bus, offer } = lane(world, { plugins: [], moveCursor });
      const second = planPlugin("second", {
        async onEvent() {
          hanging.open();
          await slowCalls.settled(bus);
        },
      });
      bus.appendEvents([event("e1")]);
      bus.newEvents(1);
      const offered = await offer(event("e1"), [slow([], { e1: hanging.promise }), second]);
      assert.deepEqual(offered, { called: true, handledBy: "slow", waiting: false });
      const marks = { moveCursor: true, closed: true };
      if (!moveCursor) bus.settle({ record: "e1", handler: "end", outcome: "passed", marks });
      assert.equal(bus.nextRetryAt(), undefined);
      assert.equal(bus.results("e1").size, 0);
    }));
}

it("leaves the event to the next start when the dispatcher stops, and writes nothing afterwards", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const hanging = gate();
    const { bus, pass, slowCalls } = lane(world, { plugins: [slow([], { e1: hanging.promise })] });
    bus.appendEvents([event("e1")]);
    await pass();
    world.stop.abort();
    const wait = bus.waitOf("e1", HANDLER);
    assert.deepEqual([wait?.reason, wait?.attempts], ["the dispatcher was stopped", 0]);
    const before = world.settlements("p1").length;
    hanging.open();
    await slowCalls.settled(bus);
    assert.equal(world.settlements("p1").length, before);
    const again = openWorld(dir);
    again.clock.time += SOON_MS;
    const [offered] = await lane(again, { plugins: [slow([], {})] }).pass();
    assert.equal(offered?.handledBy, "slow");
  }));

it("waits on for a call that goes on beyond its time, because an agent runs in it", () =>
  inTemporary(async (dir) => {
    const world = openWorld(dir);
    const calls: string[] = [];
    const hanging = gate();
    const { bus, pass, ended } = lane(world, { plugins: [slow(calls, { e1: hanging.promise })] });
    bus.appendEvents([event("e1")]);
    await pass();
    for (let round = 1; round <= LIMITS.maxAttempts + 1; round += 1) {
      world.clock.time += 61_000;
      assert.deepEqual(await pass(), [{ called: true, waiting: true }]);
    }
    hanging.open();
    await ended();
    assert.equal((await pass())[0]?.handledBy, "slow");
    assert.deepEqual(calls, ["slow e1"]);
  }));
