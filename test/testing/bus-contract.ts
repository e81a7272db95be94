import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Cursor, type Log, type LogAddress, type PlanStore, START } from "../../src/bus/ports.ts";
import type { Clock } from "../../src/kernel/clock.ts";
import { PrloomError } from "../../src/kernel/errors.ts";
import type { PlanRecord } from "../../src/plan/record.ts";

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

const GLOBAL: LogAddress = { scope: {}, log: "events" };

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

function hasCode(code: string): (error: unknown) => boolean {
  return (error) => error instanceof PrloomError && error.code === code && error.hint.length > 0;
}

/** What every engine of journals must do. */
export function logContract(name: string, makeLog: () => { log: Log; dispose(): void }): void {
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
        assert.deepEqual(log.read(GLOBAL, START, 10).items, []);
        assert.deepEqual(log.read(GLOBAL, log.end(GLOBAL), 10).items, []);
      }));

    it("gives records back in order, with envelope and id", () =>
      using((log) => {
        log.append(GLOBAL, [{ kind: "event", id: "a", data: { text: "ünï\n\u2028 \ud83d\ude00" } }]);
        log.append(GLOBAL, [{ kind: "other", data: null }, record(3)]);
        const { items } = log.read(GLOBAL, START, 10);
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

    it("resumes after any record, and after `next`", () =>
      using((log) => {
        log.append(GLOBAL, [1, 2, 3, 4, 5].map(record));
        const all = log.read(GLOBAL, START, 10);
        all.items.forEach((item, index) => {
          const rest = readAll(log, GLOBAL, item.cursor);
          assert.equal(rest.length, 4 - index);
        });
        const first = log.read(GLOBAL, START, 2);
        assert.deepEqual(readAll(log, GLOBAL, first.next), [{ n: 3 }, { n: 4 }, { n: 5 }]);
        assert.deepEqual(log.read(GLOBAL, all.next, 10).items, []);
      }));

    it("reads from the end and from an append's cursor what comes later, and nothing else", () =>
      using((log) => {
        const { cursor } = log.append(GLOBAL, [record(1)]);
        assert.equal(cursor, log.end(GLOBAL));
        log.append(GLOBAL, [record(2)]);
        assert.deepEqual(readAll(log, GLOBAL, cursor), [{ n: 2 }]);
      }));

    it("keeps logs and scopes apart", () =>
      using((log) => {
        log.append(GLOBAL, [{ kind: "event", id: "same", data: 1 }]);
        log.append({ scope: {}, log: "actions" }, [{ kind: "action", id: "same", data: 2 }]);
        const inPlan: LogAddress = { scope: { plan: "p" }, log: "events" };
        assert.deepEqual(log.append(inPlan, [{ kind: "event", id: "same", data: 3 }]).duplicates, []);
        assert.deepEqual(readAll(log, GLOBAL), [1]);
        assert.deepEqual(readAll(log, { scope: {}, log: "actions" }), [2]);
        assert.deepEqual(readAll(log, inPlan), [3]);
      }));

    it("appends an id once, and tells which were there", () =>
      using((log) => {
        const batch = ["a", "b", "a"].map((id) => ({ kind: "event", id, data: id }));
        assert.deepEqual(log.append(GLOBAL, batch).duplicates, ["a"]);
        assert.deepEqual(log.append(GLOBAL, [...batch, { kind: "event", id: "c", data: "c" }]).duplicates, [
          "a",
          "b",
          "a",
        ]);
        assert.deepEqual(readAll(log, GLOBAL), ["a", "b", "c"]);
      }));

    it("does not share values with the caller", () =>
      using((log) => {
        const data = { list: [1] };
        log.append(GLOBAL, [{ kind: "event", data }]);
        data.list.push(2);
        const [read] = readAll(log, GLOBAL) as (typeof data)[];
        read?.list.push(3);
        assert.deepEqual(readAll(log, GLOBAL), [{ list: [1] }]);
      }));

    it("carries data of any size, and data that looks like a reference", () =>
      using((log) => {
        const values = ["x".repeat(200_000), { $blob: "0".repeat(64) }, "é".repeat(40_000), { $blob: 1, more: 2 }];
        log.append(
          GLOBAL,
          values.map((data) => ({ kind: "event", data })),
        );
        assert.deepEqual(readAll(log, GLOBAL), values);
      }));

    it("wakes a waiter on append, on abort and on close", () =>
      using(async (log) => {
        const never = new AbortController().signal;
        const woken = log.wait(GLOBAL, log.end(GLOBAL), never);
        log.append(GLOBAL, [record(1)]);
        await woken;
        await log.wait(GLOBAL, START, never);
        const aborter = new AbortController();
        const aborted = log.wait(GLOBAL, log.end(GLOBAL), aborter.signal);
        aborter.abort();
        await aborted;
        await log.wait(GLOBAL, log.end(GLOBAL), aborter.signal);
        const closed = log.wait(GLOBAL, log.end(GLOBAL), never);
        log.close();
        await closed;
      }));

    it("refuses a cursor that it never gave out", () =>
      using((log) => {
        assert.throws(() => log.read(GLOBAL, "yesterday", 1), hasCode("state-unreadable"));
      }));
  });
}

/** A record as a new plan has it. */
export function planRecord(uid: string, patch: Partial<PlanRecord> = {}): PlanRecord {
  const at = "2026-01-01T00:00:00.000Z";
  return {
    schemaVersion: 1,
    uid,
    id: `plan-${uid.toLowerCase()}`,
    status: "queued",
    hidden: false,
    paused: false,
    inInbox: true,
    worktreeReady: false,
    runs: 0,
    createdAt: at,
    updatedAt: at,
    revision: 0,
    metadata: {},
    ...patch,
  };
}

/** What every store of records must do. */
export function planStoreContract(name: string, make: () => { store: PlanStore; dispose(): void }): void {
  const using = (test: (store: PlanStore) => void): void => {
    const { store, dispose } = make();
    try {
      test(store);
    } finally {
      dispose();
    }
  };
  const source = { system: "github", kind: "issue", id: "github:o/r#1" };

  describe(`plan store contract: ${name}`, () => {
    it("creates, changes and finds by uid, id and source", () =>
      using((store) => {
        const created = store.put("A", planRecord("A", { source }), -1);
        assert.equal(created.revision, 0);
        const changed = store.put("A", { ...created, status: "active" }, 0);
        assert.equal(changed.revision, 1);
        assert.deepEqual(store.get("A"), changed);
        assert.deepEqual(store.byId("plan-a"), changed);
        assert.deepEqual(store.bySource({ ...source }), changed);
        assert.equal(store.get("B"), undefined);
        assert.equal(store.byId("nope"), undefined);
        assert.equal(store.bySource({ ...source, id: "github:o/r#2" }), undefined);
      }));

    it("refuses a change that was made for another revision", () =>
      using((store) => {
        const created = store.put("A", planRecord("A"), -1);
        store.put("A", created, 0);
        assert.throws(() => store.put("A", { ...created, paused: true }, 0), hasCode("revision-conflict"));
        assert.throws(() => store.put("A", created, -1), hasCode("revision-conflict"));
        assert.throws(() => store.put("B", planRecord("B"), 0), hasCode("revision-conflict"));
        assert.equal(store.get("A")?.paused, false);
        assert.equal(store.get("B"), undefined);
      }));

    it("has one plan for an id and one open plan for a source", () =>
      using((store) => {
        const first = store.put("A", planRecord("A", { id: "x", source }), -1);
        assert.throws(() => store.put("B", planRecord("B", { id: "x" }), -1), hasCode("id-taken"));
        assert.throws(() => store.put("B", planRecord("B", { source }), -1), hasCode("source-taken"));
        const done = store.put("A", { ...first, status: "done" }, 0);
        const second = store.put("B", planRecord("B", { source }), -1);
        assert.equal(store.bySource(source)?.uid, "B");
        assert.equal(store.put("A", { ...done, metadata: { seen: true } }, 1).revision, 2);
        assert.throws(() => store.put("A", { ...done, status: "review" }, 2), hasCode("source-taken"));
        store.put("B", { ...second, status: "done" }, 0);
        assert.equal(store.bySource(source)?.uid, "B");
      }));

    it("lets a draft that was deleted be made again, under a new uid", () =>
      using((store) => {
        const first = store.put("A", planRecord("A", { id: "x" }), -1);
        store.put("A", { ...first, deleted: { at: first.createdAt, reason: "file_removed" } }, 0);
        store.put("B", planRecord("B", { id: "x" }), -1);
        assert.equal(store.byId("x")?.uid, "B");
        assert.equal(store.get("A"), undefined);
        assert.equal(store.list({}, { limit: 9 }).records.length, 1);
      }));

    it("frees the source of a deleted plan, and not its id", () =>
      using((store) => {
        const first = store.put("A", planRecord("A", { id: "x", source, branch: "prloom/x" }), -1);
        store.put("A", { ...first, deleted: { at: first.createdAt, reason: "deleted" } }, 0);
        assert.equal(store.bySource(source), undefined);
        assert.throws(() => store.put("B", planRecord("B", { id: "x" }), -1), hasCode("id-taken"));
        store.put("B", planRecord("B", { source }), -1);
        assert.equal(store.bySource(source)?.uid, "B");
      }));

    it("follows a source that changes", () =>
      using((store) => {
        const first = store.put("A", planRecord("A", { source }), -1);
        const other = { ...source, id: "github:o/r#9" };
        store.put("A", { ...first, source: other }, 0);
        assert.equal(store.bySource(source), undefined);
        assert.equal(store.bySource(other)?.uid, "A");
      }));

    it("lists in the order of uids, in pages, filtered", () =>
      using((store) => {
        for (const uid of ["C", "A", "E", "B", "D"]) {
          store.put(uid, planRecord(uid, { hidden: uid === "B", status: uid === "D" ? "done" : "draft" }), -1);
        }
        const uids = (page: { records: PlanRecord[] }) => page.records.map(({ uid }) => uid).join("");
        const first = store.list({}, { limit: 2 });
        assert.equal(uids(first), "AB");
        const second = store.list({}, { limit: 2, after: first.next ?? "" });
        assert.equal(uids(second), "CD");
        const third = store.list({}, { limit: 2, after: second.next ?? "" });
        assert.equal(uids(third), "E");
        assert.equal(third.next, undefined);
        assert.equal(uids(store.list({ hidden: false, status: "draft" }, { limit: 9 })), "ACE");
        assert.equal(uids(store.list({ status: ["done", "review"] }, { limit: 9 })), "D");
        assert.equal(uids(store.list({ source: { system: "github" } }, { limit: 9 })), "");
      }));

    it("gives out values that nobody can change", () =>
      using((store) => {
        const value = planRecord("A", { metadata: { list: [1] } });
        const stored = store.put("A", value, -1);
        (value.metadata.list as number[]).push(2);
        assert.throws(() => (stored.metadata.list as number[]).push(3), TypeError);
        assert.deepEqual(store.get("A")?.metadata, { list: [1] });
      }));
  });
}
