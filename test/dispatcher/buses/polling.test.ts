import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { Bridge } from "../../../src/bridges/contract.ts";
import { createPoller, type Poller } from "../../../src/dispatcher/buses/polling.ts";
import type { Progress } from "../../../src/dispatcher/capabilities.ts";
import type { OwnedLoom } from "../../../src/dispatcher/compose.ts";
import { thorough } from "../../testing/thorough.ts";
import { withLoom } from "./owned-loom.ts";
import { project } from "./upsert-fixture.ts";

const HOUR = 3_600_000;

/** Polls a bridge of the repository for the time of `use`. */
async function polling(
  events: NonNullable<Bridge["events"]>,
  use: (poller: Poller, now: number, told: string[]) => Promise<void>,
  onProgress?: (progress: Progress) => void,
): Promise<void> {
  const { root } = project();
  const act = async (loom: OwnedLoom): Promise<void> => {
    const told: string[] = [];
    const poller = createPoller({
      loom,
      bus: loom.globalBus(),
      loaded: { name: "tracker", kind: "global", bridge: { name: "tracker", events }, config: {} },
      onNews: () => told.push("news"),
      onQuiet: () => told.push("quiet"),
    });
    try {
      await use(poller, loom.clock.now(), told);
    } finally {
      poller.stop();
    }
  };
  await withLoom(root, act, onProgress);
}

const event = (id: string) => ({ id, type: "card.moved", severity: "info" as const, title: "", body: "" });

test("a bridge is polled at once, again at once while it brings something, then at its interval", async () => {
  let polls = 0;
  const rest = Promise.withResolvers<void>();
  await polling(
    () => {
      polls += 1;
      if (polls === 3) rest.resolve();
      return { events: polls < 3 ? [event(`e${polls}`)] : [] };
    },
    async (poller, now, told) => {
      assert.equal(poller.quiet(now), false, "before the first poll");
      await rest.promise;
      const report = await poller.poll();
      assert.deepEqual(report, { bridge: "tracker", events: 0, actions: 0, refused: [] });
      assert.equal(poller.quiet(now + HOUR), true);
      assert.deepEqual(
        told.filter((one) => one === "news"),
        ["news", "news"],
      );
    },
  );
});

for (const [what, items, polls, when] of [
  ["a backlog that comes item by item is taken at once", 60, 61, {}],
  ["a bridge that always has something new is not waited for in the end", Number.POSITIVE_INFINITY, 1001, thorough],
] as const) {
  test(`${what}, and until then the bridge is not quiet`, when, async () => {
    let polled = 0;
    await polling(
      () => {
        polled += 1;
        return { events: polled <= items ? [event(`e${polled}`)] : [] };
      },
      async (poller, now) => {
        while (!poller.quiet(now + HOUR)) await setImmediate();
        assert.equal(polled, polls);
      },
    );
  });
}

test("a poll that is asked for joins the one that is under way", async () => {
  let polls = 0;
  const begun = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<{ events: [] }>();
  await polling(
    () => {
      polls += 1;
      begun.resolve();
      return answer.promise;
    },
    async (poller) => {
      await begun.promise;
      const both = [poller.poll(), poller.poll()];
      answer.resolve({ events: [] });
      await Promise.all(both);
      assert.equal(polls, 1);
      await poller.poll();
      assert.equal(polls, 2, "one that is asked for later does not wait for the interval");
    },
  );
});

for (const [wait, quietFor, loudAt] of [
  [60_000, 50_000, 10 * 60_000],
  [1000 * HOUR, 23 * HOUR, 25 * HOUR],
] as const) {
  test(`a bridge that asks to be left alone for ${wait / 1000} s is, but never for more than a day`, async () => {
    await polling(
      () => ({ success: false, error: "rate limit", retryAfterMs: wait }),
      async (poller, now) => {
        const report = await poller.poll();
        assert.equal(report.failed, "rate limit");
        assert.equal(poller.quiet(now + quietFor), true);
        assert.equal(poller.quiet(now + loudAt), false);
      },
    );
  });
}

test("a poll that fails again for the same reason is told once, and so is that it works again", async () => {
  const answers = ["no way", "no way", "no way", "another", undefined, undefined, "no way"];
  const said: string[] = [];
  await polling(
    () => {
      const error = answers.shift();
      return error === undefined ? { events: [] } : { success: false, error };
    },
    async (poller) => {
      while (answers.length > 0) await poller.poll();
    },
    ({ text }) => said.push(text),
  );
  const failed = (why: string): string => `the poll of bridge tracker failed: ${why}`;
  assert.deepEqual(said, [failed("no way"), failed("another"), "bridge tracker can be polled again", failed("no way")]);
});
