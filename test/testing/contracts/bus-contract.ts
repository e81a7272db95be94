import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Cursor, type Log, type LogAddress, type LogItem, START } from "../../../src/bus/ports.ts";
import type { Scope } from "../../../src/bus/types.ts";
import type { Clock } from "../../../src/kernel/clock.ts";
import { PrloomError } from "../../../src/kernel/errors.ts";

/** A clock that moves only when a test says so. */
export function manualClock(start = Date.UTC(2026, 0, 1)): Clock & { advance(ms: number): void } {
  let now = start;
  return {
    now: () => now,
    advance: (ms) => {
      now += ms;
    },
  };
}

/** All data after a cursor, read in pages. */
export function readAll(log: Log, address: LogAddress, after: Cursor = START, page = 7): unknown[] {
  const found: unknown[] = [];
  for (let cursor = after; ; ) {
    const { items, next } = log.read(address, cursor, page);
    found.push(...items.map((item) => item.record.data));
    if (items.length === 0) return found;
    cursor = next;
  }
}

/** Whether an error is one of ours with this code, and says what to do. */
export function hasCode(code: string): (error: unknown) => boolean {
  return (error) => error instanceof PrloomError && error.code === code && error.hint.length > 0;
}

/** What every engine of journals must do, for each scope. */
export function logContract(name: string, makeLog: () => { log: Log; dispose(): void }): void {
  logContractOf(`${name}, the repository's`, {}, makeLog);
  logContractOf(`${name}, a plan's`, { planId: "first" }, makeLog);
}

function logContractOf(name: string, scope: Scope, makeLog: () => { log: Log; dispose(): void }): void {
  const EVENTS: LogAddress = { scope, log: "events" };
  const ACTIONS: LogAddress = { scope, log: "actions" };
  const using = async (test: (log: Log) => void | Promise<void>): Promise<void> => {
    const { log, dispose } = makeLog();
    try {
      await test(log);
    } finally {
      log.close();
      dispose();
    }
  };
  const record = (n: number) => ({ kind: "event", data: { n } });

  describe(`log contract: ${name}`, () => {
    it("reads nothing from a log that was never written", () =>
      using((log) => {
        assert.deepEqual(log.read(EVENTS, START, 10).items, []);
        assert.deepEqual(log.read(EVENTS, log.end(EVENTS), 10).items, []);
      }));

    it("gives records back in order, with envelope and id", () =>
      using((log) => {
        log.append(EVENTS, [{ kind: "event", id: "a", data: { text: "ünï\n\u2028 \ud83d\ude00" } }]);
        log.append(EVENTS, [{ kind: "other", data: null }, record(3)]);
        const { items } = log.read(EVENTS, START, 10);
        assert.deepEqual(
          items.map(({ record: { kind, id, data, schemaVersion } }) => ({ kind, id, data, schemaVersion })),
          [
            { kind: "event", id: "a", data: { text: "ünï\n\u2028 \ud83d\ude00" }, schemaVersion: 1 },
            { kind: "other", id: undefined, data: null, schemaVersion: 1 },
            { kind: "event", id: undefined, data: { n: 3 }, schemaVersion: 1 },
          ],
        );
        assert.match(items[0]?.record.ts ?? "", /^2026-01-01T00:00:00\.000Z$/);
      }));

    it("visits one by one, in order, what `read` gives, and ends where it does", () =>
      using((log) => {
        log.append(EVENTS, [1, 2, 3].map(record));
        const after = log.end(EVENTS);
        log.append(EVENTS, [4, 5].map(record));
        for (const from of [START, after]) {
          const visited: LogItem[] = [];
          const next = log.readAll(EVENTS, from, (visit, cursor) => visited.push({ record: visit, cursor: cursor() }));
          assert.deepEqual({ items: visited, next }, log.read(EVENTS, from, 10));
        }
      }));

    it("resumes after any record, and after `next`", () =>
      using((log) => {
        log.append(EVENTS, [1, 2, 3, 4, 5].map(record));
        const all = log.read(EVENTS, START, 10);
        all.items.forEach((item, index) => {
          const rest = readAll(log, EVENTS, item.cursor);
          assert.equal(rest.length, 4 - index);
        });
        const first = log.read(EVENTS, START, 2);
        assert.deepEqual(readAll(log, EVENTS, first.next), [{ n: 3 }, { n: 4 }, { n: 5 }]);
        assert.deepEqual(log.read(EVENTS, all.next, 10).items, []);
      }));

    it("reads from the end and from an append's cursor what comes later, and nothing else", () =>
      using((log) => {
        const { cursor } = log.append(EVENTS, [record(1)]);
        assert.equal(cursor, log.end(EVENTS));
        log.append(EVENTS, [record(2)]);
        assert.deepEqual(readAll(log, EVENTS, cursor), [{ n: 2 }]);
      }));

    it("tells where an append starts, when it was, and where it ends", () =>
      using((log) => {
        for (const n of [1, 2, 3, 4]) {
          const { from, cursor, ts } = log.append(EVENTS, [record(n)]);
          const { items } = log.read(EVENTS, from, 9);
          assert.deepEqual(
            items.map((item) => [item.cursor, item.record.ts, item.record.data]),
            [[cursor, ts, { n }]],
          );
        }
      }));

    it("reads at once what was appended without sync, and keeps it through one", () =>
      using((log) => {
        log.sync(EVENTS);
        assert.deepEqual(log.append(EVENTS, [{ kind: "event", id: "a", data: 1 }], { sync: false }).duplicates, []);
        assert.deepEqual(log.append(EVENTS, [{ kind: "event", id: "a", data: 1 }], { sync: false }).duplicates, ["a"]);
        assert.deepEqual(readAll(log, EVENTS), [1]);
        log.sync(EVENTS);
        log.sync(EVENTS);
        assert.deepEqual(readAll(log, EVENTS), [1]);
      }));

    it("finds a record by its id, and takes no text for one", () =>
      using((log) => {
        const ids = ["a", "b", 'quo"te', "ü\n", "last"];
        for (const id of ids) log.append(EVENTS, [{ kind: "event", id, data: { says: '"id":"c"', id: "d", n: id } }]);
        for (const id of ids) {
          const found = log.find(EVENTS, id) ?? assert.fail(id);
          assert.equal((found.record.data as { n: string }).n, id);
          assert.equal(readAll(log, EVENTS, found.cursor).length, ids.length - 1 - ids.indexOf(id));
        }
        assert.equal(log.find(EVENTS, "last", { recent: true })?.record.id, "last");
        for (const id of ["c", "d", "", "x".repeat(10_000)]) assert.equal(log.find(EVENTS, id), undefined);
        assert.equal(log.find(ACTIONS, "a"), undefined);
      }));

    it("keeps logs and scopes apart", () =>
      using((log) => {
        log.append(EVENTS, [{ kind: "event", id: "same", data: 1 }]);
        log.append(ACTIONS, [{ kind: "action", id: "same", data: 2 }]);
        const inPlan: LogAddress = { scope: { planId: "p" }, log: "events" };
        assert.deepEqual(log.append(inPlan, [{ kind: "event", id: "same", data: 3 }]).duplicates, []);
        assert.deepEqual(readAll(log, EVENTS), [1]);
        assert.deepEqual(readAll(log, ACTIONS), [2]);
        assert.deepEqual(readAll(log, inPlan), [3]);
      }));

    it("appends an id once, and tells which were there", () =>
      using((log) => {
        const batch = ["a", "b", "a"].map((id) => ({ kind: "event", id, data: id }));
        assert.deepEqual(log.append(EVENTS, batch).duplicates, ["a"]);
        assert.deepEqual(log.append(EVENTS, [...batch, { kind: "event", id: "c", data: "c" }]).duplicates, [
          "a",
          "b",
          "a",
        ]);
        assert.deepEqual(readAll(log, EVENTS), ["a", "b", "c"]);
      }));

    it("does not share values with the caller", () =>
      using((log) => {
        const data = { list: [1] };
        log.append(EVENTS, [{ kind: "event", data }]);
        data.list.push(2);
        const [read] = readAll(log, EVENTS) as (typeof data)[];
        read?.list.push(3);
        assert.deepEqual(readAll(log, EVENTS), [{ list: [1] }]);
      }));

    it("carries data of any size, and data that looks like a reference", () =>
      using((log) => {
        const values = ["x".repeat(200_000), { $blob: "0".repeat(64) }, "é".repeat(40_000), { $blob: 1, more: 2 }];
        log.append(
          EVENTS,
          values.map((data) => ({ kind: "event", data })),
        );
        assert.deepEqual(readAll(log, EVENTS), values);
      }));

    it("wakes a waiter on append, on abort and on close", () =>
      using(async (log) => {
        const never = new AbortController().signal;
        const woken = log.wait(EVENTS, log.end(EVENTS), never);
        log.append(EVENTS, [record(1)]);
        await woken;
        await log.wait(EVENTS, START, never);
        const aborter = new AbortController();
        const aborted = log.wait(EVENTS, log.end(EVENTS), aborter.signal);
        aborter.abort();
        await aborted;
        await log.wait(EVENTS, log.end(EVENTS), aborter.signal);
        const closed = log.wait(EVENTS, log.end(EVENTS), never);
        log.close();
        await closed;
      }));

    it("refuses a cursor that it never gave out", () =>
      using((log) => {
        assert.throws(() => log.read(EVENTS, "yesterday", 1), hasCode("state-unreadable"));
      }));
  });
}
