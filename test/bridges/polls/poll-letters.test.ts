import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Bridge } from "../../../src/bridges/contract.ts";
import { pollBridge } from "../../../src/bridges/polls/poll.ts";
import { type Bench, loadedBridge, onBench } from "../bridge-fixture.ts";

const event = (id: string, more: object = {}) => ({
  id,
  type: "issue.opened",
  severity: "info",
  title: "",
  body: "",
  ...more,
});
const comment = (message: string, more: object = {}) => ({
  target: { target: "desk" },
  payload: { type: "comment", message },
  ...more,
});

function poll(bench: Bench, result: unknown, more: Partial<Bridge> = {}) {
  const events = () => structuredClone(result) as never;
  return pollBridge(
    bench.services,
    { bus: bench.bus, planId: "login" },
    loadedBridge({ events, ...more }, { name: "tracker" }),
  );
}

const reasons = (bench: Bench): string[] => bench.bus.deadLetters().map(({ reason }) => reason);
const eventIds = (bench: Bench): string[] => bench.bus.newEvents(999).map(({ event: { id } }) => id);
const actionIds = (bench: Bench): string[] => bench.bus.freshActions(999, () => true).map(({ action }) => action.id);
function reviveAll(bench: Bench): void {
  for (const { record } of bench.bus.deadLetters()) bench.bus.revive(record);
}

describe("what a poll brings and prloom cannot take", () => {
  it("is a dead letter with the reason, written with the cursor in one line, once", () =>
    onBench(async (bench) => {
      const events = [
        event("good"),
        event("odd", { colour: "red" }),
        event("loud", { severity: "loud" }),
        event("x".repeat(301)),
        event("mine", { type: "plan_created" }),
        "text",
      ];
      const upsert = { target: { target: "prloom-core" }, payload: { type: "upsert_plan", title: "no source" } };
      const result = { events, actions: [comment("fine"), upsert], state: 7 };
      const { refused } = await poll(bench, result);
      assert.equal(refused.length, 6);
      assert.deepEqual(reasons(bench).toSorted(), [
        "actions: payload.source is missing",
        'events: "loud": severity must be one of "info", "warning", "error"; it is "loud"',
        'events: "mine": the type plan_created is prloom\'s own; give it another',
        'events: "odd": there is no field colour',
        `events: "${"x".repeat(100)}": id is larger than 300 characters`,
        'events: it must be an object; it is "text"',
      ]);
      assert.ok(bench.bus.deadLetters().every(({ handler, attempts }) => handler === "poll:tracker" && attempts === 0));
      const lines = bench.lines("settled").filter(({ data }) => data.refused !== undefined);
      assert.equal(lines.length, 1);
      assert.deepEqual(lines[0]?.data.state, { "bridge:tracker": { seq: { value: 1 }, state: { value: 7 } } });
      const before = bench.bus.deadLetters();
      await poll(bench, result);
      bench.reopen();
      assert.deepEqual(bench.bus.deadLetters(), before, "the same again is the same letter, also after a restart");
      assert.deepEqual(eventIds(bench), ["good"]);
    }));

  it("is judged again by the next poll when a person revives it: what can be taken now is taken", () =>
    onBench(async (bench) => {
      const author = { login: "ann", permission: "write" };
      const answer = comment("hello", { relatedEventId: "late" });
      await poll(bench, { events: [event("loud", { severity: "loud" })], actions: [answer], state: 1 });
      assert.equal(bench.bus.deadLetters().length, 2);
      await poll(bench, { events: [event("late", { context: { author } })], state: 2 });
      reviveAll(bench);
      const outcome = await poll(bench, { events: [], state: 2 });
      assert.equal(outcome.actions, 1);
      assert.match(outcome.refused.join(), /severity must be/);
      const [action] = bench.bus.freshActions(9, () => true);
      assert.deepEqual([action?.action.relatedEventId, action?.action.author], ["late", author]);
      const [left] = bench.bus.deadLetters();
      assert.equal(bench.bus.deadLetters().length, 1);
      assert.equal(left?.revived, undefined, "it waits for the next word of a person");
      await poll(bench, { events: [], state: 2 });
      bench.reopen();
      assert.equal(actionIds(bench).length, 1);
    }));

  it("is taken when the bridge, fixed, says what it should have been", () =>
    onBench(async (bench) => {
      await poll(bench, {
        events: [event("loud", { severity: "loud" }), event("quiet", { severity: "low" })],
        state: 1,
      });
      reviveAll(bench);
      const repair: Bridge["repair"] = (_ctx, item) => {
        const { id, ...rest } = item as { id: string };
        if (id === "quiet") throw new Error("no idea");
        return { ...rest, id, severity: "error" };
      };
      const outcome = await poll(bench, { events: [], state: 1 }, { repair });
      assert.equal(outcome.events, 1);
      assert.deepEqual(eventIds(bench), ["loud"]);
      assert.deepEqual(reasons(bench), ["events: repair() failed: no idea"]);
      bench.bus.drop(bench.bus.deadLetters()[0]?.record ?? "");
      bench.reopen();
      assert.deepEqual(reasons(bench), []);
    }));

  it("is counted when it is a flood, and noted when it cannot be kept", () =>
    onBench(async (bench) => {
      // As long as a comment can be: several have room.
      const long = [1, 2, 3].map((n) => event(`long-${n}`, { body: "x".repeat(65_536), severity: "loud" }));
      await poll(bench, { events: long, state: 1 });
      reviveAll(bench);
      const repair: Bridge["repair"] = (_ctx, item) => ({ ...(item as object), severity: "error" });
      assert.equal((await poll(bench, { events: [], state: 1 }, { repair })).events, 3);
      const huge = event("huge", { body: "x".repeat(1_200_000), severity: "loud" });
      const more = event("more", { body: "x".repeat(1_200_000), severity: "loud" });
      const date = event("date", { context: { at: new Date(0) } });
      await poll(bench, { events: [huge], state: 1 });
      bench.reopen();
      await poll(bench, { events: [more, date], state: 1 });
      assert.doesNotMatch(reasons(bench).join("\n"), /"huge".*not kept/);
      assert.match(reasons(bench).join("\n"), /"more": severity .* \(not kept: it has \d+ characters\)/);
      assert.match(reasons(bench).join("\n"), /"date": .*Date.* \(not kept: it is not JSON\)/);
      reviveAll(bench);
      await poll(bench, { events: [], state: 1 });
      assert.equal(bench.bus.deadLetters().length, 3);
      const flood = Array.from({ length: 1150 }, (_, n) => event(`bad-${n}`, { severity: "loud" }));
      for (let time = 1; time <= 3; time += 1) {
        await poll(bench, { events: flood, state: 2 });
        bench.reopen();
        assert.equal(bench.bus.deadLetters().length, 1001);
        assert.equal(reasons(bench).filter((reason) => /^at least 153 more items/.test(reason)).length, 1);
      }
      const size = bench.lines("settled").length;
      await poll(bench, { events: flood, state: 2 });
      assert.equal(bench.lines("settled").length, size, "nothing new, nothing written");
    }));
});

describe("an action of a poll", () => {
  it("may bring its type and an id of its own, under which it is done once", () =>
    onBench(async (bench) => {
      const actions = [comment("a", { id: "tracker-42", type: "respond" }), comment("b", { type: "respond" })];
      const first = await poll(bench, { events: [], actions, state: 1 });
      assert.deepEqual([first.actions, first.refused], [2, []]);
      const again = await poll(bench, {
        events: [],
        actions: [actions[0], comment("c", { id: "tracker-43" })],
        state: 2,
      });
      assert.deepEqual([again.actions, again.refused], [1, []]);
      const ids = actionIds(bench);
      assert.deepEqual([ids[0], ids[2]], ["tracker-42", "tracker-43"]);
      const emitters = bench.bus.freshActions(999, () => true).map(({ action }) => action.emitter);
      assert.deepEqual(new Set(emitters), new Set(["bridge:tracker"]));
      assert.match(ids[1] ?? "", /^act-/);
      for (const id of ids)
        bench.bus.settle({ record: id, handler: "deliver:desk", outcome: "handled", marks: { about: "action" } });
      await poll(bench, { events: [], actions, state: 3 });
      assert.deepEqual(actionIds(bench).length, 1, "of what was delivered only what has no id of its own is new");
    }));

  it("is a dead letter with an id that another action has, of whatever bridge, until that is repaired", () =>
    onBench(async (bench) => {
      const say = (name: string, actions: object[], more: Partial<Bridge> = {}) =>
        pollBridge(
          bench.services,
          { bus: bench.bus, planId: "login" },
          loadedBridge({ events: () => ({ events: [], actions }) as never, ...more }, { name }),
        );
      await say("tracker", [comment("from the tracker", { id: "answer-1" })]);
      const { actions, refused } = await say("chat", [
        comment("from the tracker", { id: "answer-1" }),
        comment("from the chat", { id: "answer-1" }),
        comment("one", { id: "answer-2" }),
        comment("two", { id: "answer-2" }),
      ]);
      assert.equal(actions, 1);
      const reason = (id: string) =>
        `actions: the id "${id}" was used by another action; put the system's name into ids`;
      assert.deepEqual(refused, [reason("answer-1"), reason("answer-2")]);
      assert.deepEqual(reasons(bench), refused);
      assert.deepEqual(actionIds(bench), ["answer-1", "answer-2"]);
      bench.reopen();
      reviveAll(bench);
      await say("chat", [], { repair: (_ctx, item) => ({ ...(item as object), id: undefined }) as never });
      assert.deepEqual(reasons(bench), []);
      const said = bench.bus
        .freshActions(999, () => true)
        .map(({ action }) => (action.payload as { message?: string }).message);
      assert.deepEqual(said, ["from the tracker", "one", "from the chat", "two"]);
    }));

  it("is a dead letter with the id of one that has the permissions of another author", () =>
    onBench(async (bench) => {
      const by = (login: string) => event(`by-${login}`, { context: { author: { login, permission: "read" } } });
      const answer = (relatedEventId: string) => comment("close it", { id: "close-1", relatedEventId });
      const events = [by("ann"), by("bob")];
      const first = await poll(bench, { events, actions: [answer("by-ann")], state: 1 });
      assert.deepEqual([first.actions, first.refused], [1, []]);
      const same = await poll(bench, { events, actions: [answer("by-ann")], state: 2 });
      assert.deepEqual([same.actions, same.refused], [0, []]);
      const other = await poll(bench, { events, actions: [answer("by-bob")], state: 3 });
      assert.deepEqual(other.refused, [
        `actions: the id "close-1" was used by another action; put the system's name into ids`,
      ]);
    }));

  it("is refused with an id that cannot be one, or another type", () =>
    onBench(async (bench) => {
      const bad = [{ id: "" }, { id: "act-1" }, { id: "a b" }, { id: "-->" }, { id: 5 }, { id: "x".repeat(301) }];
      const actions = [...bad, { type: "reply" }].map((more) => comment("x", more));
      const { refused } = await poll(bench, { events: [], actions, state: 1 });
      assert.equal(refused.length, 7);
      assert.match(refused[1] ?? "", /id must not begin with act-/);
      assert.equal(bench.bus.deadLetters().length, 7);
    }));
});
