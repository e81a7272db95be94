import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, rmSync, statSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import fc from "fast-check";
import { createFileLog } from "../../../src/bus/file/log.ts";
import { type Cursor, type LogName, START } from "../../../src/bus/ports.ts";
import { manualClock } from "../../testing/contracts/bus-contract.ts";

const LOGS = ["events", "actions", "settled"] as const;
type Name = (typeof LOGS)[number];

type Step =
  | { readonly do: "append"; readonly log: Name; readonly sizes: readonly number[] }
  | {
      readonly do: "tear";
      readonly log: Name;
      readonly sizes: readonly number[];
      readonly cut: number;
      readonly again: boolean;
    }
  | { readonly do: "garbage"; readonly log: Name; readonly bytes: Uint8Array }
  | { readonly do: "read"; readonly log: Name; readonly limit: number }
  | { readonly do: "reopen" };

const log = fc.constantFrom(...LOGS);
const sizes = fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 4 });
/** Often so little that a record only lacks its newline. */
const cutLength = fc.oneof(fc.nat(3), fc.nat(1500));
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("append" as const), log, sizes }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("tear" as const), log, sizes, cut: cutLength, again: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("garbage" as const), log, bytes: fc.uint8Array({ maxLength: 40 }) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("read" as const), log, limit: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("reopen" as const) }) },
);

/** One log as it must read: `sure` was appended, `maybe` was in a write that a crash cut off. */
interface Model {
  readonly ids: { readonly id: string; readonly sure: boolean }[];
  readonly read: string[];
  cursor: Cursor;
}

function run(dir: string, steps: readonly Step[], segmentBytes: number): void {
  const open = () => createFileLog({ root: () => dir, clock: manualClock(), segmentBytes, fsync: false });
  const path = (name: LogName): string => join(dir, `${name}.jsonl`);
  const models = new Map<Name, Model>(LOGS.map((name) => [name, { ids: [], read: [], cursor: START }]));
  let journal = open();
  let count = 0;
  const model = (name: Name): Model => models.get(name) as Model;
  const batch = (many: readonly number[]) =>
    many.map((size) => {
      count += 1;
      return { kind: "event", id: `r${count}`, data: { id: `r${count}`, fill: "é\n".repeat(size) } };
    });
  const read = (name: Name, limit: number): number => {
    const at = model(name);
    const { items, next } = journal.read({ scope: {}, log: name }, at.cursor, limit);
    for (const { record } of items) at.read.push((record.data as { id: string }).id);
    at.cursor = next;
    return items.length;
  };
  for (const one of steps) {
    if (one.do === "reopen") journal = open();
    if (one.do === "read") read(one.log, one.limit);
    if (one.do === "garbage") {
      const stat = statSync(path(one.log), { throwIfNoEntry: false });
      if (stat) appendFileSync(path(one.log), one.bytes);
    }
    if (one.do === "append" || one.do === "tear") {
      const records = batch(one.sizes);
      const { duplicates } = journal.append({ scope: {}, log: one.log }, records);
      assert.deepEqual(duplicates, []);
      if (one.do === "append") {
        for (const { id } of records) model(one.log).ids.push({ id, sure: true });
        // Appending again what is there changes nothing.
        assert.equal(journal.append({ scope: {}, log: one.log }, records.slice(-1)).duplicates.length, 1);
        continue;
      }
      // A crash in the middle of this batch's write: what was cut off was never promised.
      const written = lengthOf(records);
      const size = statSync(path(one.log)).size;
      truncateSync(path(one.log), size - Math.min(one.cut, written - 1));
      journal = open();
      for (const { id } of records) model(one.log).ids.push({ id, sure: one.again });
      if (one.again) journal.append({ scope: {}, log: one.log }, records);
    }
  }
  for (const name of LOGS) {
    while (read(name, 5) > 0);
    const { ids, read: seen } = model(name);
    const order = ids.map(({ id }) => id);
    assert.deepEqual(
      seen,
      order.filter((id) => seen.includes(id)),
      "in order, each once, nothing foreign",
    );
    for (const { id, sure } of ids) if (sure) assert.ok(seen.includes(id), `${id} was appended and is not read`);
  }
}

function lengthOf(records: readonly { kind: string; id: string; data: unknown }[]): number {
  const line = ({ kind, id, data }: { kind: string; id: string; data: unknown }): string =>
    JSON.stringify({ ts: "2026-01-01T00:00:00.000Z", kind, schemaVersion: 1, id, data });
  return records.reduce((sum, record) => sum + Buffer.byteLength(line(record)) + 2, 0);
}

it("reads what was appended exactly once and in order, whatever bytes a crash leaves", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), fc.constantFrom(300, 2000, 1_000_000), (steps, segmentBytes) => {
      const dir = mkdtempSync(join(tmpdir(), "prloom-crash-"));
      try {
        run(dir, steps, segmentBytes);
      } finally {
        rmSync(dir, { recursive: true, force: true });
      }
    }),
    { numRuns: 150, interruptAfterTimeLimit: 4000 },
  );
});
