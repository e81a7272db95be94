import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import fc from "fast-check";
import { countCalls } from "../../../bench/harness/counts.ts";
import { type Bus, openBus } from "../../../src/bus/bus.ts";
import { createFileLog } from "../../../src/bus/file/log.ts";
import type { Settlement } from "../../../src/bus/types.ts";
import { manualClock, readAll } from "../../testing/contracts/bus-contract.ts";
import { samples } from "../../testing/sample.ts";
import { action, done, event, LIMITS } from "../bus-fixture.ts";
import { inTemporary } from "../temporary.ts";

function openIn(dir: string, stateFile: string | undefined = join(dir, "state", "dispatcher.json")): Bus {
  const clock = manualClock();
  const log = createFileLog({ root: () => dir, clock });
  return openBus({ log, scope: {}, stateFile, clock, limits: LIMITS });
}

it("syncs what it was told to, when it was told to, and nothing twice", () =>
  inTemporary(async (dir) => {
    const bus = openIn(dir);
    const synced = async (work: () => unknown): Promise<number> => (await countCalls(work)).synced;
    const settlement = (record: string): Settlement => ({ record, handler: "h", outcome: "passed" });
    bus.settle({ ...settlement("first"), actions: [action("x")] });
    assert.equal(await synced(() => bus.attempt("a", "h")), 0);
    assert.equal(await synced(() => bus.settle(settlement("a"))), 1);
    assert.equal(await synced(() => bus.sync()), 0, "the settlement took the attempt with it");
    assert.equal(await synced(() => bus.settle(settlement("b"), { sync: false })), 0);
    assert.equal(await synced(() => bus.settle({ ...settlement("c"), actions: [action("y")] }, { sync: false })), 0);
    assert.equal(await synced(() => bus.sync()), 2, "the settled log and the actions");
    assert.equal(await synced(() => bus.sync()), 0);
    bus.settle(settlement("d"), { sync: false });
    bus.save();
    assert.equal(await synced(() => bus.sync()), 0, "a snapshot is never ahead of the journal");
  }));

it("syncs a segment before it is archived, and after a restart what a killed process left", () =>
  inTemporary(async (dir) => {
    const address = { scope: {}, log: "settled" } as const;
    const open = () => createFileLog({ root: () => dir, clock: manualClock(), segmentBytes: 100 });
    const log = open();
    const record = { kind: "note", data: "x".repeat(200) };
    log.append(address, [record]);
    assert.equal((await countCalls(() => log.append(address, [record], { sync: false }))).synced, 1, "only the folder");
    assert.equal(
      (await countCalls(() => log.append(address, [record], { sync: false }))).synced,
      2,
      "the full one too",
    );
    const killed = open();
    assert.equal((await countCalls(() => killed.sync(address))).synced, 1);
  }));

const settle = fc.record({
  do: fc.constant("settle" as const),
  record: fc.nat(5),
  handler: fc.constantFrom("h1", "h2"),
  outcome: fc.constantFrom("handled" as const, "passed" as const, "deferred" as const, "threw" as const),
  result: fc.boolean(),
  attempts: fc.nat(2),
  actions: fc.nat(2),
  sync: fc.boolean(),
  marks: fc.record(
    { moveCursor: fc.constant(true), closed: fc.constant(true), uncertain: fc.boolean() },
    { requiredKeys: [] },
  ),
});
const move = fc.oneof(
  { weight: 8, arbitrary: settle },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("sync" as const, "save" as const) }) },
);
type Move = typeof move extends fc.Arbitrary<infer T> ? T : never;

interface Disk {
  /** What a power loss cannot take any more. */
  readonly safe: { settled: number; actions: number };
  /** Final settlements that are safe, with their actions. */
  readonly promised: Map<string, { readonly result: unknown; readonly actions: string[] }>;
}

const sizeOf = (dir: string, log: string): number =>
  statSync(join(dir, `${log}.jsonl`), { throwIfNoEntry: false })?.size ?? 0;

/** Plays the moves and tells what must survive. */
function play(dir: string, moves: readonly Move[]): Disk {
  const bus = openIn(dir);
  const disk: Disk = { safe: { settled: 0, actions: 0 }, promised: new Map() };
  const loose = new Map(disk.promised);
  const settledIsSafe = (): void => {
    disk.safe.settled = sizeOf(dir, "settled");
    for (const [key, value] of loose) disk.promised.set(key, value);
  };
  bus.appendEvents(Array.from({ length: 6 }, (_, n) => event(`e${n}`)));
  bus.newEvents(9);
  for (const one of moves) {
    if (one.do === "settle") {
      const record = `e${one.record}`;
      const { handler, outcome, sync } = one;
      for (let n = 0; n < one.attempts; n += 1) if (!bus.attempt(record, handler).allowed) break;
      const actions = Array.from({ length: one.actions }, (_, n) => action(`${record}-${handler}-${n}`));
      const result = one.result ? { by: handler } : undefined;
      const marks = { ...one.marks, about: "event" } as const;
      const settlement: Settlement = { record, handler, outcome, actions, marks, ...(result ? { result } : {}) };
      const settled = bus.settle(settlement, { sync });
      if (settled === "settled") loose.set(`${record} ${handler}`, { result, actions: actions.map(({ id }) => id) });
      if (sync && settled !== "ignored") settledIsSafe();
      if (sync && settled === "settled" && actions.length > 0) disk.safe.actions = sizeOf(dir, "actions");
    } else {
      bus[one.do]();
      settledIsSafe();
      disk.safe.actions = sizeOf(dir, "actions");
    }
  }
  return disk;
}

/** Cuts the journals anywhere behind what is safe, as a power loss may. */
function lose(dir: string, { safe }: Disk, share: { settled: number; actions: number }): void {
  for (const log of ["settled", "actions"] as const) {
    const size = sizeOf(dir, log);
    if (size > 0) truncateSync(join(dir, `${log}.jsonl`), safe[log] + Math.floor((size - safe[log]) * share[log]));
  }
}

function check(dir: string, { promised }: Disk): void {
  const bus = openIn(dir);
  assert.deepEqual(openIn(dir, join(dir, "none.json")).state(), bus.state(), "from the snapshot as from nothing");
  const log = createFileLog({ root: () => dir, clock: manualClock() });
  const kept = readAll(log, { scope: {}, log: "actions" }).map((data) => (data as { id: string }).id);
  assert.equal(new Set(kept).size, kept.length, "no action twice");
  for (const [key, { result, actions }] of promised) {
    const [record = "", handler = ""] = key.split(" ");
    assert.equal(bus.handlerStatus(record, handler), "settled", key);
    for (const id of actions) assert.ok(kept.includes(id), `${id} is lost`);
    const found = bus.results(record).get(handler);
    if (found !== undefined) assert.deepEqual(found, result);
  }
  // Life goes on, also after a torn line.
  bus.settle({ record: "e0", handler: "after", outcome: "handled", result: 1, marks: done });
  assert.deepEqual(openIn(dir).state(), bus.state());
}

it("keeps what was synced and forgets the rest as a whole, wherever a power loss cuts the journals", () => {
  fc.assert(
    fc.property(
      fc.array(move, { minLength: 3, maxLength: 25 }),
      fc.record({
        settled: fc.double({ min: 0, max: 1, noNaN: true }),
        actions: fc.double({ min: 0, max: 1, noNaN: true }),
      }),
      (moves, share) => {
        const dir = mkdtempSync(join(tmpdir(), "prloom-power-"));
        try {
          const disk = play(dir, moves);
          lose(dir, disk, share);
          check(dir, disk);
        } finally {
          rmSync(dir, { recursive: true, force: true });
        }
      },
    ),
    { numRuns: samples(300), interruptAfterTimeLimit: 5000 },
  );
});
