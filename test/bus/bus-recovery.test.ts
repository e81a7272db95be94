import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import fc from "fast-check";
import { type Bus, openBus } from "../../src/bus/bus.ts";
import { createFileLog } from "../../src/bus/file/log.ts";
import type { BusOptions } from "../../src/bus/parts.ts";
import type { Settlement } from "../../src/bus/types.ts";
import { PrloomError } from "../../src/kernel/errors.ts";
import { manualClock, readAll } from "../testing/contracts/bus-contract.ts";
import { createMemoryLog } from "../testing/memory/log.ts";
import { action, done, event, eventIds, fresh, LIMITS } from "./bus-fixture.ts";
import { inTemporary } from "./temporary.ts";

const openFiles = (dir: string, more: Partial<BusOptions> = {}): Bus => {
  const clock = manualClock();
  const log = createFileLog({ root: () => join(dir, "bus"), clock, readOnly: more.readOnly === true });
  const stateFile = join(dir, "bus", "state", "dispatcher.json");
  return openBus({ log, scope: {}, stateFile, clock, limits: LIMITS, ...more });
};

it("tells fifty thousand settlements in order, and after one that failed goes on with it", () => {
  const clock = manualClock();
  const log = createMemoryLog({ clock });
  const ids = Array.from({ length: 50_000 }, (_, n) => `e${n}`);
  const settlements = ids.map((record) => ({ kind: "settlement", data: { record, handler: "h", outcome: "handled" } }));
  const told: string[] = [];
  let failAt: string | undefined;
  const onWon: BusOptions["onWon"] = ({ record }) => {
    if (record === failAt) throw new Error("no room");
    told.push(record);
  };
  const bus = openBus({ log, scope: {}, stateFile: undefined, clock, limits: LIMITS, onWon });
  log.append({ scope: {}, log: "settled" }, settlements);
  failAt = "e40000";
  assert.throws(() => bus.settle({ record: "last", handler: "h", outcome: "handled" }), /no room/);
  assert.equal(told.length, 40_000);
  failAt = undefined;
  bus.newEvents(1);
  assert.deepEqual(told, [...ids, "last"]);
});

it("creates no file by opening, looking and closing", () =>
  inTemporary((dir) => {
    const bus = openFiles(dir);
    bus.newEvents(5);
    bus.freshActions(5, () => true);
    bus.pendingTriage();
    bus.save();
    bus.close();
    assert.deepEqual(readdirSync(dir), []);
  }));

it("appends after a kill between the settlement and its actions what was missing, once", () =>
  inTemporary((dir) => {
    const from = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);
    const script = `
      import { openBus } from ${from("../../src/bus/bus.ts")};
      import { createFileLog } from ${from("../../src/bus/file/log.ts")};
      const clock = { now: () => 0 };
      const log = createFileLog({ root: () => ${JSON.stringify(join(dir, "bus"))}, clock });
      const bus = openBus({ log, scope: {}, stateFile: undefined, clock, limits: ${JSON.stringify(LIMITS)} });
      bus.settle({ record: "a", handler: "h", outcome: "handled", actions: ${JSON.stringify([action("x"), action("y")])} });`;
    const env = { ...process.env, PRLOOM_CRASH_AT: "bus.settled" };
    const child = spawnSync(process.execPath, ["--input-type=module", "-e", script], { env });
    assert.equal(child.signal, "SIGKILL", child.stderr.toString());
    assert.equal(existsSync(join(dir, "bus", "actions.jsonl")), false);
    assert.equal(fresh(openFiles(dir)), "x,y");
    assert.equal(fresh(openFiles(dir)), "x,y");
  }));

it("repairs actions that are older than what the journal remembers, without doubling any", () =>
  inTemporary((dir) => {
    const clock = manualClock();
    const log = createFileLog({ root: () => dir, clock, segmentBytes: 300, fsync: false });
    const open = () => openBus({ log, scope: {}, stateFile: undefined, clock, limits: LIMITS });
    const bus = open();
    const ids = Array.from({ length: 20 }, (_, n) => `x${n}`);
    for (const id of ids) bus.settle({ record: `e-${id}`, handler: "h", outcome: "handled", actions: [action(id)] });
    truncateSync(join(dir, "actions.jsonl"), 0);
    const kept = readAll(log, { scope: {}, log: "actions" }).length;
    assert.ok(kept < ids.length);
    assert.equal(fresh(open()), ids.join());
    assert.equal(fresh(open()), ids.join());
  }));

it("appends actions that a full disk refused as soon as there is room", () =>
  inTemporary((dir) => {
    const bus = openFiles(dir);
    mkdirSync(join(dir, "bus"));
    const path = join(dir, "bus", "actions.jsonl");
    mkdirSync(path);
    const settlement: Settlement = { record: "a", handler: "h", outcome: "handled", actions: [action("x")] };
    assert.throws(() => bus.settle(settlement));
    assert.throws(() => bus.save(), "a snapshot must not be ahead of the actions");
    rmSync(path, { recursive: true });
    assert.equal(bus.settle(settlement), "ignored");
    assert.equal(fresh(bus), "x");
  }));

it("rebuilds a snapshot that is broken, foreign or ahead, and refuses a newer one", () =>
  inTemporary((dir) => {
    const bus = openFiles(dir);
    bus.appendEvents([event("a"), event("b")]);
    bus.newEvents(5);
    bus.settle({ record: "a", handler: "h", outcome: "threw", reason: "boom", marks: done });
    bus.save();
    const stateFile = join(dir, "bus", "state", "dispatcher.json");
    const good = readFileSync(stateFile, "utf8");
    const cursor = JSON.parse(good).settledOffset;
    for (const bad of [
      "",
      "{",
      "{}",
      good.slice(0, 99),
      good.replace(`"settledOffset": "${cursor}"`, '"settledOffset": "?"'),
    ]) {
      writeFileSync(stateFile, bad);
      const again = openFiles(dir);
      assert.deepEqual(again.state(), bus.state());
      again.save();
      assert.equal(readFileSync(stateFile, "utf8"), good);
    }
    writeFileSync(stateFile, good.replace(`"settledOffset": "${cursor}"`, '"settledOffset": "7:900"'));
    const ahead = openFiles(dir);
    ahead.settle({ record: "b", handler: "h", outcome: "handled" });
    assert.equal(ahead.handlerStatus("b", "h"), "settled");
    writeFileSync(stateFile, good.replace('"schemaVersion": 1', '"schemaVersion": 2'));
    assert.throws(
      () => openFiles(dir),
      (error) => error instanceof PrloomError && error.code === "schema-newer",
    );
  }));

it("shows a waiting record that was deleted as a dead letter", () =>
  inTemporary((dir) => {
    const bus = openFiles(dir);
    bus.appendEvents([event("a")]);
    bus.newEvents(1);
    bus.settle({ record: "a", handler: "h", outcome: "passed", marks: { pendingTriage: true, ...done } });
    bus.save();
    rmSync(join(dir, "bus", "events.jsonl"));
    const again = openFiles(dir);
    assert.deepEqual(again.pendingTriage(), []);
    assert.equal(again.deadLetters()[0]?.reason, "its record is no longer in the journal");
    again.appendEvents([event("b")]);
    assert.equal(eventIds(again), "b");
  }));

it("looks without writing beside a daemon", () =>
  inTemporary((dir) => {
    const bus = openFiles(dir);
    bus.appendEvents([event("a")]);
    bus.newEvents(1);
    bus.settle({ record: "a", handler: "h", outcome: "threw", reason: "boom", actions: [action("x")], marks: done });
    const before = readdirSync(dir, { recursive: true });
    const reader = openFiles(dir, { readOnly: true });
    assert.equal(reader.deferredSummary().count, 1);
    reader.close();
    assert.deepEqual(readdirSync(dir, { recursive: true }), before);
  }));

it("passes over a record in the events log that is not an event", () =>
  inTemporary((dir) => {
    const clock = manualClock();
    const log = createFileLog({ root: () => dir, clock });
    log.append({ scope: {}, log: "events" }, [{ kind: "event", data: { id: "odd" } }]);
    const bus = openBus({ log, scope: {}, stateFile: undefined, clock, limits: LIMITS });
    bus.appendEvents([event("a")]);
    assert.equal(eventIds(bus), "a");
    assert.equal(readAll(log, { scope: {}, log: "quarantine" }).length, 1);
  }));

const OUTCOMES = ["handled", "passed", "deferred", "threw"] as const;
const append = fc.record({ do: fc.constant("append" as const), count: fc.integer({ min: 1, max: 3 }) });
const work = fc.record({
  do: fc.constant("work" as const),
  kind: fc.constantFrom("event" as const, "action" as const),
  pick: fc.nat(5),
  handler: fc.constantFrom("h1", "h2"),
  outcome: fc.constantFrom(...OUTCOMES),
  attempts: fc.nat(2),
  actions: fc.nat(2),
  result: fc.boolean(),
  sync: fc.boolean(),
  marks: fc.record(
    {
      moveCursor: fc.constant(true),
      pendingTriage: fc.constant(true),
      closed: fc.constant(true),
      uncertain: fc.boolean(),
    },
    { requiredKeys: [] },
  ),
});
const move = fc.oneof(
  { weight: 2, arbitrary: append },
  { weight: 8, arbitrary: work },
  fc.record({ do: fc.constant("triage" as const) }),
  fc.record({ do: fc.constantFrom("save" as const, "crash" as const, "forget" as const, "revive" as const) }),
  fc.record({ do: fc.constant("advance" as const), ms: fc.nat(5000) }),
);
type Move = typeof move extends fc.Arbitrary<infer T> ? T : never;

/** Plays the moves, as a dispatcher would, with crashes and lost snapshots in between. */
function play(dir: string, moves: readonly Move[]): void {
  const clock = manualClock();
  const stateFile = join(dir, "state", "dispatcher.json");
  const open = (from: string | undefined = stateFile): Bus => {
    const log = createFileLog({ root: () => dir, clock, fsync: false, segmentBytes: 900 });
    return openBus({ log, scope: {}, stateFile: from, clock, limits: LIMITS });
  };
  let bus = open();
  let count = 0;
  const emitted = new Set<string>();
  const doWork = (one: Move & { do: "work" }): void => {
    const ids =
      one.kind === "event"
        ? bus.newEvents(6).map((offer) => offer.event.id)
        : [...bus.deferredActions(), ...bus.freshActions(6, () => true)].map((offer) => offer.action.id);
    const record = ids[one.pick % Math.max(ids.length, 1)];
    if (record === undefined) return;
    for (let n = 0; n < one.attempts; n += 1) if (!bus.attempt(record, one.handler).allowed) return;
    const actions = Array.from({ length: one.actions }, (_, n) => action(`${record}-${one.handler}-${n}`));
    const { handler, outcome, sync } = one;
    const marks = one.kind === "event" ? one.marks : { ...one.marks, pendingTriage: false };
    const result = one.result ? { result: { by: handler } } : {};
    if (bus.settle({ record, handler, outcome, actions, marks, ...result }, { sync }) !== "settled") return;
    for (const { id } of actions) emitted.add(id);
  };
  for (const one of moves) {
    if (one.do === "append") {
      bus.appendEvents(Array.from({ length: one.count }, (_, n) => event(`e${count + n}`)));
      count += one.count;
    }
    if (one.do === "work") doWork(one);
    if (one.do === "triage") {
      const [first, ...others] = bus.pendingTriage().map(({ id }) => id);
      if (first)
        bus.settle({ record: first, handler: "triage", outcome: "handled", also: others, marks: { triaged: true } });
    }
    if (one.do === "revive") for (const { record } of bus.deadLetters()) bus.revive(record);
    if (one.do === "save") bus.save();
    if (one.do === "forget") rmSync(stateFile, { force: true });
    if (one.do === "crash") bus = open();
    if (one.do === "advance") clock.advance(one.ms);
  }
  const live = bus.state();
  assert.deepEqual(open().state(), live, "from the last snapshot");
  assert.deepEqual(open(join(dir, "none.json")).state(), live, "from nothing");
  const log = createFileLog({ root: () => dir, clock, readOnly: true });
  const kept = readAll(log, { scope: {}, log: "actions" }).map((data) => (data as { id: string }).id);
  assert.deepEqual(kept.toSorted(), [...emitted].toSorted(), "each action once");
}

it("comes back to the same state from any snapshot, or none", () => {
  fc.assert(
    fc.property(fc.array(move, { minLength: 5, maxLength: 60, size: "max" }), (moves) => {
      const dir = mkdtempSync(join(tmpdir(), "prloom-bus-"));
      try {
        play(dir, moves);
      } finally {
        rmSync(dir, { recursive: true, force: true });
      }
    }),
    { numRuns: 100, interruptAfterTimeLimit: 4500 },
  );
});
