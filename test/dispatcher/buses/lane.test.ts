import assert from "node:assert/strict";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openHooked } from "../../../bench/harness/hooked.ts";
import { sampleEvent } from "../../../bench/harness/journal.ts";
import { addInboxPlans, inFolder, makeProject } from "../../../bench/harness/project.ts";
import type { Bridge, DeliveryResult } from "../../../src/bridges/contract.ts";
import type { LoadedBridge } from "../../../src/bridges/load.ts";
import { Lane, type LaneOptions } from "../../../src/dispatcher/buses/lane.ts";
import { takeWholeInbox } from "../../../src/dispatcher/intake/intake.ts";
import type { Loom } from "../../../src/dispatcher/loom.ts";
import { homeOf } from "../../../src/dispatcher/paths.ts";
import { systemClock } from "../../../src/kernel/clock.ts";

interface Laned {
  readonly loom: Loom;
  readonly lane: Lane;
}

type Setting = Partial<Omit<LaneOptions, "loom">> & { readonly bridges?: readonly Bridge[] };

/** A lane over a real repository with the plan "p"; the plan's own unless `planId` is undefined. */
function laned({ bridges = [], ...options }: Setting, use: (laned: Laned) => Promise<void>): Promise<void> {
  return inFolder(async (dir) => {
    const project = makeProject(dir);
    addInboxPlans(project, ["p"], {});
    const loom = await openHooked(project, { clock: systemClock, bridges });
    takeWholeInbox(loom, loom.inbox.scan());
    const unheard = { first: async () => undefined, onPass: () => undefined, onIdle: () => undefined };
    const lane = new Lane({ loom, planId: "p", ...unheard, ...options });
    try {
      await use({ loom, lane });
    } finally {
      lane.stop();
      await lane.settled();
      loom.close();
    }
  });
}

test("what was said to a plan is taken, and the plan is told that something was settled", () => {
  const passed = Promise.withResolvers<void>();
  return laned({ onPass: passed.resolve }, async ({ loom, lane }) => {
    loom.bus("p").appendEvents([sampleEvent(1), sampleEvent(2)]);
    assert.equal(loom.bus("p").newEvents(10).length, 2);
    lane.wake();
    assert.equal(lane.idle(Number.MAX_SAFE_INTEGER), false);
    await passed.promise;
    await lane.settled();
    assert.deepEqual(loom.bus("p").newEvents(10), []);
    assert.deepEqual(
      loom
        .bus("p")
        .pendingTriage()
        .map(({ id }) => id),
      ["comment-1", "comment-2"],
    );
    assert.equal(lane.idle(Number.MAX_SAFE_INTEGER), true);
  });
});

test("the events of a plan wait until those of the repository are through", () => {
  const first = Promise.withResolvers<void>();
  return laned({ first: () => first.promise }, async ({ loom, lane }) => {
    loom.bus("p").appendEvents([sampleEvent(1)]);
    lane.wake();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(loom.bus("p").newEvents(10).length, 1);
    first.resolve();
    await lane.settled();
    assert.deepEqual(loom.bus("p").newEvents(10), []);
  });
});

test("what comes while events are handled is handled without another wake-up from outside", () => {
  let isSaid = false;
  let say = (): void => undefined;
  const onPass = (): void => say();
  return laned({ onPass }, async ({ loom, lane }) => {
    const again = Promise.withResolvers<void>();
    say = () => {
      if (isSaid) return again.resolve();
      isSaid = true;
      loom.bus("p").appendEvents([sampleEvent(2)]);
      lane.wake();
    };
    loom.bus("p").appendEvents([sampleEvent(1)]);
    lane.wake();
    await again.promise;
    await lane.settled();
    assert.equal(loom.bus("p").pendingTriage().length, 2);
  });
});

test("a journal that cannot be written makes this lane wait, tells it, and is tried again", () =>
  laned({}, async ({ loom, lane }) => {
    const bus = loom.bus("p");
    bus.appendEvents([sampleEvent(1)]);
    const journal = join(homeOf(loom.paths, "p").bus, "settled.jsonl");
    rmSync(journal, { force: true });
    mkdirSync(journal);
    lane.wake();
    await lane.passed();
    assert.equal(bus.newEvents(10).length, 1, "nothing is lost");
    assert.equal(lane.idle(loom.clock.now()), true, "not at once");
    assert.equal(lane.idle(Number.MAX_SAFE_INTEGER), false, "but soon");
    rmSync(journal, { recursive: true });
    lane.wake();
    await lane.settled();
    assert.deepEqual(bus.newEvents(10), []);
  }));

test("an action goes to the bridge of its target, once", async () => {
  const delivered: string[] = [];
  const actions = (_ctx: unknown, { payload }: { payload: { type: string } }): DeliveryResult => {
    delivered.push(payload.type);
    return { success: true };
  };
  await laned({ bridges: [{ name: "out", targets: ["out"], actions }] }, async ({ loom, lane }) => {
    const action = {
      id: "said-1",
      type: "respond" as const,
      target: { target: "out", token: "1" },
      payload: { type: "comment" as const, message: "Done." },
    };
    loom.bus("p").settle({ record: "said", handler: "test", outcome: "handled", actions: [action] });
    lane.wake();
    await lane.settled();
    lane.wake();
    await lane.settled();
    assert.deepEqual(delivered, ["comment"]);
    assert.equal(lane.hurry("said-1"), undefined, "it does not wait");
  });
});

test("bridges are polled while they are this scope's, and by name", async () => {
  const polls: string[] = [];
  const polled = (name: string): LoadedBridge => ({
    name,
    scope: "global",
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
  await laned({}, async ({ loom, lane }) => {
    lane.pollWith([one, two]);
    const reports = await lane.poll("two");
    assert.deepEqual(
      reports.map(({ bridge, planId, events }) => ({ bridge, planId, events })),
      [{ bridge: "two", planId: "p", events: 1 }],
    );
    lane.pollWith([one]);
    assert.deepEqual(await lane.poll("two"), []);
    await lane.poll(undefined);
    await lane.settled();
    assert.ok(polls.includes("one"));
    assert.ok(loom.bus("p").pendingTriage().length > 0, "what a poll brings is handled");
  });
});

test("a lane that was stopped hears no wake-up", () =>
  laned({}, async ({ loom, lane }) => {
    lane.stop();
    loom.bus("p").appendEvents([sampleEvent(1)]);
    lane.wake();
    await lane.settled();
    assert.equal(loom.bus("p").newEvents(10).length, 1);
  }));
