import assert from "node:assert/strict";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openHooked } from "../../../bench/harness/hooked.ts";
import { sampleEvent } from "../../../bench/harness/journal.ts";
import { addInboxPlans, inFolder, makeProject } from "../../../bench/harness/project.ts";
import type { BuiltinBridge, DeliveryResult } from "../../../src/bridges/contract.ts";
import type { LoadedBridge } from "../../../src/bridges/load.ts";
import { BusLoop, type BusLoopOptions } from "../../../src/dispatcher/buses/bus-loop.ts";
import { takeWholeInbox } from "../../../src/dispatcher/intake/intake.ts";
import type { Loom } from "../../../src/dispatcher/loom.ts";
import { homeOf } from "../../../src/dispatcher/paths.ts";
import { systemClock } from "../../../src/kernel/clock.ts";

interface Looped {
  readonly loom: Loom;
  readonly loop: BusLoop;
}

type Setting = Partial<Omit<BusLoopOptions, "loom">> & { readonly bridges?: readonly BuiltinBridge[] };

/** A loop over a real repository with the plan "p"; the plan's own unless `planId` is undefined. */
function looped({ bridges = [], ...options }: Setting, use: (looped: Looped) => Promise<void>): Promise<void> {
  return inFolder(async (dir) => {
    const project = makeProject(dir);
    addInboxPlans(project, ["p"], {});
    const loom = await openHooked(project, { clock: systemClock, bridges });
    takeWholeInbox(loom, loom.inbox.scan());
    const unheard = { first: async () => undefined, onPass: () => undefined, onIdle: () => undefined };
    const loop = new BusLoop({ loom, planId: "p", ...unheard, ...options });
    try {
      await use({ loom, loop });
    } finally {
      loop.stop();
      await loop.settled();
      loom.close();
    }
  });
}

test("what was said to a plan is taken, and the plan is told that something was settled", () => {
  const passed = Promise.withResolvers<void>();
  return looped({ onPass: passed.resolve }, async ({ loom, loop }) => {
    loom.bus("p").appendEvents([sampleEvent(1), sampleEvent(2)]);
    assert.equal(loom.bus("p").newEvents(10).length, 2);
    loop.wake();
    assert.equal(loop.idle(Number.MAX_SAFE_INTEGER), false);
    await passed.promise;
    await loop.settled();
    assert.deepEqual(loom.bus("p").newEvents(10), []);
    assert.deepEqual(
      loom
        .bus("p")
        .pendingTriage()
        .map(({ id }) => id),
      ["comment-1", "comment-2"],
    );
    assert.equal(loop.idle(Number.MAX_SAFE_INTEGER), true);
  });
});

test("the events of a plan wait until those of the repository are through", () => {
  const first = Promise.withResolvers<void>();
  return looped({ first: () => first.promise }, async ({ loom, loop }) => {
    loom.bus("p").appendEvents([sampleEvent(1)]);
    loop.wake();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(loom.bus("p").newEvents(10).length, 1);
    first.resolve();
    await loop.settled();
    assert.deepEqual(loom.bus("p").newEvents(10), []);
  });
});

test("passes that follow each other at once wait for the events of the repository once", () => {
  let asked = 0;
  let wakeMore = (): void => undefined;
  const first = async (): Promise<void> => {
    asked += 1;
    wakeMore();
  };
  return looped({ first }, async ({ loop }) => {
    wakeMore = () => {
      wakeMore = () => undefined;
      loop.wake();
    };
    loop.wake();
    await loop.settled();
    assert.equal(asked, 1);
    loop.wake();
    await loop.settled();
    assert.equal(asked, 2, "the next time, those of then");
  });
});

test("what comes while events are handled is handled without another wake-up from outside", () => {
  let isSaid = false;
  let say = (): void => undefined;
  const onPass = (): void => say();
  return looped({ onPass }, async ({ loom, loop }) => {
    const again = Promise.withResolvers<void>();
    say = () => {
      if (isSaid) return again.resolve();
      isSaid = true;
      loom.bus("p").appendEvents([sampleEvent(2)]);
      loop.wake();
    };
    loom.bus("p").appendEvents([sampleEvent(1)]);
    loop.wake();
    await again.promise;
    await loop.settled();
    assert.equal(loom.bus("p").pendingTriage().length, 2);
  });
});

test("a journal that cannot be written makes this loop wait, tells it, and is tried again", () =>
  looped({}, async ({ loom, loop }) => {
    const bus = loom.bus("p");
    bus.appendEvents([sampleEvent(1)]);
    const journal = join(homeOf(loom.paths, "p").bus, "settled.jsonl");
    rmSync(journal, { force: true });
    mkdirSync(journal);
    loop.wake();
    await loop.passed();
    assert.equal(bus.newEvents(10).length, 1, "nothing is lost");
    assert.equal(loop.idle(loom.clock.now()), true, "not at once");
    assert.equal(loop.idle(Number.MAX_SAFE_INTEGER), false, "but soon");
    rmSync(journal, { recursive: true });
    loop.wake();
    await loop.settled();
    assert.deepEqual(bus.newEvents(10), []);
  }));

test("an action goes to the bridge of its target, once", async () => {
  const delivered: string[] = [];
  const actions = (_ctx: unknown, { payload }: { payload: { type: string } }): DeliveryResult => {
    delivered.push(payload.type);
    return { success: true };
  };
  await looped({ bridges: [{ name: "out", targets: ["out"], actions }] }, async ({ loom, loop }) => {
    const action = {
      id: "said-1",
      type: "respond" as const,
      target: { target: "out", token: "1" },
      payload: { type: "comment" as const, message: "Done." },
    };
    loom.bus("p").settle({ record: "said", handler: "test", outcome: "handled", actions: [action] });
    loop.wake();
    await loop.settled();
    loop.wake();
    await loop.settled();
    assert.deepEqual(delivered, ["comment"]);
    assert.equal(loop.hurry("said-1"), undefined, "it does not wait");
  });
});

test("bridges are polled while they are this scope's, and by name", async () => {
  const polls: string[] = [];
  const polled = (name: string): LoadedBridge => ({
    name,
    kind: "global",
    config: {},
    timeoutMs: 10_000,
    pollEveryMs: 3_600_000,
    bridge: {
      name,
      events: () => {
        polls.push(name);
        return { events: [sampleEvent(polls.length)] };
      },
    },
  });
  const [one, two] = [polled("one"), polled("two")];
  await looped({}, async ({ loom, loop }) => {
    loop.pollWith([one, two]);
    const reports = await loop.poll("two");
    assert.deepEqual(
      reports.map(({ bridge, planId, events }) => ({ bridge, planId, events })),
      [{ bridge: "two", planId: "p", events: 1 }],
    );
    loop.pollWith([one]);
    assert.deepEqual(await loop.poll("two"), []);
    await loop.poll(undefined);
    await loop.settled();
    assert.ok(polls.includes("one"));
    assert.ok(loom.bus("p").pendingTriage().length > 0, "what a poll brings is handled");
  });
});

test("a loop that was stopped hears no wake-up", () =>
  looped({}, async ({ loom, loop }) => {
    loop.stop();
    loom.bus("p").appendEvents([sampleEvent(1)]);
    loop.wake();
    await loop.settled();
    assert.equal(loom.bus("p").newEvents(10).length, 1);
  }));
