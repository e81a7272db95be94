import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Bridge } from "../../../src/bridges/contract.ts";
import { judgePoll } from "../../../src/bridges/polls/judge-poll.ts";
import { pollBridge } from "../../../src/bridges/polls/poll.ts";
import { type Bench, loadedBridge, onBench } from "../bridge-fixture.ts";
import { event, upsert } from "./polled.ts";

function poll(bench: Bench, events: () => unknown) {
  const loaded = loadedBridge({ events: events as NonNullable<Bridge["events"]> }, { name: "tracker" });
  return pollBridge(bench.services, { bus: bench.bus, planId: "login" }, loaded);
}

const onBus = (bench: Bench): string =>
  bench.bus
    .newEvents(99)
    .map(({ event: one }) => `${one.id}:${one.source}`)
    .join();

describe("a poll", () => {
  it("is told once about what it may not say, however often it says it", () =>
    onBench(async (bench) => {
      const bad = event("loud", { severity: "loud" });
      const told = () => bench.reports.filter((line) => line.includes("not taken")).length;
      await poll(bench, () => ({ events: [bad] }));
      assert.equal(told(), 1);
      const again = await poll(bench, () => ({ events: [event("good"), bad] }));
      assert.equal(again.refused.length, 1, "and who asks is told");
      assert.equal(told(), 1);
      await poll(bench, () => ({ events: [bad, event("louder", { severity: "loud" })] }));
      assert.equal(told(), 2);
    }));

  it("cannot use the id of another bridge's event, nor answer that one by it", () =>
    onBench(async (bench) => {
      const eve = { login: "eve", permission: "read" };
      const other = loadedBridge({ events: () => ({ events: [event("1")] }) }, { name: "forum" });
      await pollBridge(bench.services, { bus: bench.bus, planId: "login" }, other);
      const events = [event("1", { context: { author: eve } }), event("tracker-2")];
      const actions = [upsert("1", "1"), upsert("2", "tracker-2")];
      const why = `the id "1" was used by bridge forum; put the system's name into ids`;
      const outcome = await poll(bench, () => ({ events, actions }));
      assert.deepEqual(outcome, {
        events: 1,
        actions: 1,
        refused: [`events: ${why}`, `actions: its relatedEventId is another's: ${why}`],
      });
      assert.match(
        bench.reports.join("\n"),
        /warn: bridge tracker: not taken: events: the id "1" was used by bridge forum/,
      );
      const again = await poll(bench, () => ({ events }));
      assert.deepEqual(again.refused, [`events: ${why}`], "its own is the same event again");
    }));

  it("cannot speak for prloom", () =>
    onBench(async (bench) => {
      const events = [
        event("mine", { type: "plan_created" }),
        event("plan_deleted-login"),
        event("plan_deleted"),
        event("fine", { type: "plan_createdness" }),
      ];
      const { refused } = await poll(bench, () => ({ events }));
      assert.equal(onBus(bench), "plan_deleted:tracker,fine:tracker");
      assert.deepEqual(refused, [
        `events[0]: "mine": the type plan_created is prloom's own; give it another`,
        `events[1]: "plan_deleted-login": ids that begin with plan_deleted- are prloom's own; put the system's name before it`,
      ]);
    }));

  it("looks for the event that an action answers among its own first", () => {
    const searched: string[] = [];
    const judged = judgePoll({
      result: { events: [event("own")], actions: [upsert("1", "own"), upsert("2", "old")] },
      bridge: "tracker",
      scope: {},
      record: "poll-tracker-1",
      handler: "poll:tracker",
      findPlan: () => undefined,
      findEvent: (id) => {
        searched.push(id);
        return event(id);
      },
    });
    assert.equal(judged.kind === "good" && judged.actions.length, 2);
    assert.deepEqual(searched, ["old"]);
  });
});
