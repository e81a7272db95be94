import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { Bridge, BridgeEvent } from "../../../src/bridges/contract.ts";
import { pollBridge } from "../../../src/bridges/polls/poll.ts";
import { Bench, loadedBridge, onBench } from "../bridge-fixture.ts";

const event = (id: string, more: Partial<BridgeEvent> = {}): BridgeEvent => ({
  id,
  type: "card.moved",
  severity: "info",
  title: id,
  body: "",
  ...more,
});
const source = (id: string) => ({ system: "tracker", kind: "issue", id });
const idsOn = ({ bus }: Bench): string[] => bus.newEvents(99).map(({ event: { id } }) => id);

/** The repository's bus with those of two plans beside it. */
async function withPlans(test: (bench: Bench, plans: { login: Bench; search: Bench }) => Promise<void>): Promise<void> {
  await onBench(async (bench) => {
    const plans = { login: new Bench({ planId: "login" }), search: new Bench({ planId: "search" }) };
    for (const [id, plan] of Object.entries(plans)) bench.plans.set(id, plan);
    try {
      await test(bench, plans);
    } finally {
      for (const plan of Object.values(plans)) plan.end();
    }
  }, {});
}

function poll(bench: Bench, bridge: Partial<Bridge>) {
  const { services, bus } = bench;
  return pollBridge(services, { bus }, loadedBridge(bridge, { name: "tracker", kind: "global" }));
}

describe("a global bridge that has events for plans", () => {
  it("puts them on their buses, by id or source, and wakes only plans with something new", () =>
    withPlans(async (bench, { login, search }) => {
      const events = [event("e1", { plan: "login" }), event("e2", { source: source("search") }), event("e3")];
      const outcome = await poll(bench, { events: () => ({ events, state: 1 }) });
      assert.deepEqual(outcome, { events: 3, actions: 0, refused: [] });
      assert.deepEqual([idsOn(login), idsOn(search), idsOn(bench)], [["e1"], ["e2"], ["e3"]]);
      assert.deepEqual(login.bus.findEvent("e1")?.source, "tracker");
      assert.deepEqual(bench.woken, ["login", "search"]);
      assert.equal((await poll(bench, { events: () => ({ events, state: 2 }) })).events, 0);
      assert.deepEqual(bench.woken, ["login", "search"]);
    }));

  it("gets a dead letter with the reason for a plan that is not there, and it is taken when it is", () =>
    withPlans(async (bench, { login }) => {
      const events = [
        event("e1", { plan: "gone" }),
        event("e2", { source: source("9") }),
        event("e3", { plan: "login", source: source("search") }),
        event("e4", { source: { system: "tracker", kind: "issue" } as never }),
        event("e5", { plan: "login" }),
      ];
      const answer = { target: { target: "desk" }, payload: { type: "comment" as const, message: "" } };
      const actions = [{ ...answer, relatedEventId: "e1" }];
      const { refused } = await poll(bench, { events: () => ({ events, actions, state: 1 }) });
      assert.deepEqual(refused, [
        'events[0]: "e1": there is no plan "gone"',
        'events[1]: "e2": no plan has the source {"system":"tracker","kind":"issue","id":"9"}',
        'events[2]: "e3": it names its plan twice, by `plan` and by `source`',
        'events[3]: "e4": source.id is missing',
        "actions[0]: relatedEventId names no event that was taken: e1",
      ]);
      assert.deepEqual(idsOn(login), ["e5"]);
      assert.equal(bench.bus.deadLetters().length, 5);
      const letter = bench.bus.deadLetters().find(({ reason }) => reason.includes('"e1": there'));
      await onBench(async (gone) => {
        bench.plans.set("gone", gone);
        bench.bus.revive(letter?.record ?? "");
        await poll(bench, { events: () => ({ events: [] }) });
        assert.deepEqual(idsOn(gone), ["e1"]);
        assert.equal(bench.bus.deadLetters().length, 4);
      });
    }));

  it("is refused an id that another bridge used on that plan's bus", () =>
    withPlans(async (bench, { login }) => {
      login.bus.appendEvents([{ ...event("e1"), source: "forum" }]);
      const { refused } = await poll(bench, { events: () => ({ events: [event("e1", { plan: "login" })] }) });
      assert.match(refused.join(), /the id "e1" was used by bridge forum/);
    }));

  it("is not kept from the other plans by one whose bus cannot be written", () =>
    withPlans(async (bench, { login, search }) => {
      mkdirSync(join(login.dir, "events.jsonl"));
      const events = [event("e1", { plan: "login" }), event("e2", { plan: "search" })];
      const { refused } = await poll(bench, { events: () => ({ events, state: 1 }) });
      assert.match(refused.join(), /^events: the bus of plan login cannot be written: /);
      assert.deepEqual(idsOn(search), ["e2"]);
      rmSync(join(login.dir, "events.jsonl"), { recursive: true });
      bench.bus.revive(bench.bus.deadLetters()[0]?.record ?? "");
      await poll(bench, { events: () => ({ events: [] }) });
      assert.deepEqual(idsOn(login), ["e1"]);
    }));
});

it("a plan's bridge has no other plans", () =>
  onBench(async (bench) => {
    bench.plans.set("search", bench);
    const loaded = loadedBridge({ events: () => ({ events: [event("e1", { plan: "search" })] }) });
    const { refused } = await pollBridge(bench.services, { bus: bench.bus, planId: "login" }, loaded);
    assert.deepEqual(refused, ['events[0]: "e1": there is no field plan']);
  }));

const PROGRAM = join(import.meta.dirname, "plan-events-program.ts");
const KILLS = [
  "poll:plan-events-appended:1",
  "poll:plan-events-appended:2",
  "poll:events-appended:1",
  "poll:settled:2",
];

describe("a kill between the buses of plans and the cursor", () => {
  for (const kill of KILLS) {
    it(`at ${kill}: each event is there once`, () => {
      const dir = mkdtempSync(join(tmpdir(), "prloom-bridges-"));
      const ids = (bus: string, log: string): string[] => {
        const lines = readFileSync(join(dir, bus, `${log}.jsonl`), "utf8").split("\n");
        return lines.flatMap((line) => (line === "" ? [] : [JSON.parse(line).id])).toSorted();
      };
      const run = (crashAt: string): NodeJS.Signals | number | null => {
        const env = { ...process.env, PRLOOM_CRASH_AT: crashAt };
        const done = spawnSync(process.execPath, [PROGRAM, dir], { env, encoding: "utf8" });
        assert.equal(done.stderr, "");
        return done.signal ?? done.status;
      };
      try {
        for (const bus of ["global", "login", "search"]) mkdirSync(join(dir, bus));
        assert.equal(run(kill), "SIGKILL");
        assert.equal(run(""), 0);
        for (const bus of ["global", "login", "search"]) {
          assert.deepEqual(ids(bus, "events"), [`${bus}-1`, `${bus}-2`, `${bus}-3`]);
        }
        assert.equal(ids("global", "dead").length, 3);
      } finally {
        rmSync(dir, { recursive: true, force: true });
      }
    });
  }
});
