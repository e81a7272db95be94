import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { countCalls } from "../../../bench/harness/counts.ts";
import { createFilePlanStore, notesOf } from "../../../src/bus/file/plan-store.ts";
import { PrloomError } from "../../../src/kernel/errors.ts";
import { manualClock } from "../../testing/contracts/bus-contract.ts";
import { planRecord } from "../../testing/plan-record.ts";
import { inTemporary } from "../temporary.ts";

const clock = manualClock();
const open = (dir: string) => createFilePlanStore({ plansDir: join(dir, "plans"), clock });
const statePath = (dir: string, id: string): string => join(dir, "plans", id, "state.json");
const code = (wanted: string) => (error: unknown) => error instanceof PrloomError && error.code === wanted;
const uids = (store: ReturnType<typeof open>): string[] => store.list({}, { limit: 99 }).records.map(({ uid }) => uid);

it("keeps a record in the home of its plan, readable by people", () =>
  inTemporary((dir) => {
    const record = open(dir).put("A", planRecord("A", { id: "login" }), -1);
    assert.equal(readFileSync(statePath(dir, "login"), "utf8"), `${JSON.stringify(record, null, 2)}\n`);
    assert.deepEqual(open(dir).get("A"), record);
  }));

it("writes nothing when it is opened, and nothing of it is there", () =>
  inTemporary((dir) => {
    const store = open(dir);
    assert.deepEqual(uids(store), []);
    store.saveIndex();
    assert.deepEqual(store.reload(), []);
    assert.deepEqual(readdirSync(dir), []);
  }));

it("opens only what changed since the cache was saved", () =>
  inTemporary((dir) => {
    const store = open(dir);
    for (const uid of ["A", "B", "C"]) store.put(uid, planRecord(uid), -1);
    store.saveIndex();
    // The cache, not the file, is what is read: a mark in it shows up.
    const cachePath = join(dir, "plans-index.json");
    const cache = JSON.parse(readFileSync(cachePath, "utf8"));
    // After the three of each file's mark.
    for (const plan of cache.plans) plan[3].paused = true;
    writeFileSync(cachePath, JSON.stringify(cache));
    assert.equal(open(dir).get("A")?.paused, true);
    const before = open(dir);
    before.put("B", { ...planRecord("B"), paused: false }, 0);
    const after = open(dir);
    assert.equal(after.get("B")?.paused, false);
    assert.equal(after.get("C")?.paused, true);
  }));

it("ignores a cache that is broken or foreign, and rebuilds it", () =>
  inTemporary((dir) => {
    const store = open(dir);
    store.put("A", planRecord("A"), -1);
    store.saveIndex();
    const cachePath = join(dir, "plans-index.json");
    const good = readFileSync(cachePath, "utf8");
    for (const bad of [
      "",
      "{",
      "[]",
      '{"schemaVersion":9,"plans":[]}',
      good.slice(0, -40),
      good.replace('"A"', "7"),
      good.replace(" uid ", " u "),
    ]) {
      writeFileSync(cachePath, bad);
      const again = open(dir);
      assert.deepEqual(uids(again), ["A"]);
      again.saveIndex();
      assert.deepEqual(JSON.parse(readFileSync(cachePath, "utf8")), JSON.parse(good));
    }
  }));

it("does not list a record that it cannot use, tells why, and leaves the file alone", () =>
  inTemporary((dir) => {
    open(dir).put("A", planRecord("A"), -1);
    const good = readFileSync(statePath(dir, "plan-a"), "utf8");
    const bad: Record<string, string> = {
      torn: good.slice(0, 50),
      empty: "",
      foreign: '{"schemaVersion":1}',
      newer: good.replace('"schemaVersion": 1', '"schemaVersion": 99'),
      copied: good,
      "copied-with-id": good.replace("plan-a", "copied-with-id"),
    };
    for (const [id, text] of Object.entries(bad)) {
      mkdirSync(join(dir, "plans", id));
      writeFileSync(statePath(dir, id), text);
    }
    const store = open(dir);
    assert.equal(uids(store).length, 1);
    assert.equal(store.problems.length, Object.keys(bad).length);
    assert.equal(store.problems.find(({ id }) => id === "newer")?.code, "schema-newer");
    assert.equal(store.problems.find(({ id }) => id === "torn")?.code, "state-unreadable");
    assert.throws(() => store.put("N", planRecord("N", { id: "torn" }), -1), code("state-unreadable"));
    for (const [id, text] of Object.entries(bad)) assert.equal(readFileSync(statePath(dir, id), "utf8"), text);
  }));

it("sees by reload what others changed, made, fixed and removed", () =>
  inTemporary((dir) => {
    const store = open(dir);
    for (const uid of ["A", "B", "C"]) store.put(uid, planRecord(uid), -1);
    assert.deepEqual(store.reload(), []);
    writeFileSync(statePath(dir, "plan-a"), JSON.stringify({ ...planRecord("A"), status: "review" }));
    rmSync(join(dir, "plans", "plan-b"), { recursive: true });
    mkdirSync(join(dir, "plans", "plan-d"));
    writeFileSync(statePath(dir, "plan-d"), "{");
    writeFileSync(join(dir, "plans", "stray.md"), "a file");
    assert.deepEqual(store.reload(), ["plan-a", "plan-d", "plan-b"]);
    assert.equal(store.get("A")?.status, "review");
    assert.deepEqual(uids(store), ["A", "C"]);
    assert.equal(store.byId("plan-b"), undefined);
    writeFileSync(statePath(dir, "plan-d"), JSON.stringify(planRecord("D")));
    assert.deepEqual(store.reload(), ["plan-d"]);
    assert.deepEqual(uids(store), ["A", "C", "D"]);
    assert.deepEqual(store.problems, []);
  }));

it("does not overwrite a home that came after it looked", () =>
  inTemporary((dir) => {
    const store = open(dir);
    open(dir).put("A", planRecord("A", { id: "x" }), -1);
    assert.throws(() => store.put("B", planRecord("B", { id: "x" }), -1), code("id-taken"));
    assert.equal(store.byId("x")?.uid, "A");
  }));

it("leaves what was there when a record is not valid", () =>
  inTemporary((dir) => {
    const store = open(dir);
    const record = store.put("A", planRecord("A"), -1);
    assert.throws(() => store.put("A", { ...record, runs: -1 }, 0));
    assert.deepEqual(store.get("A"), record);
    assert.deepEqual(open(dir).get("A"), record);
    assert.equal(existsSync(join(dir, "plans-index.json")), false);
  }));

it("syncs many records together after `syncLater`, and others read each at once", () =>
  inTemporary(async (dir) => {
    const store = open(dir);
    const problems: unknown[] = [];
    store.syncLater((error) => problems.push(error));
    const { result } = store.together(() => ["A", "B"].map((uid) => store.put(uid, planRecord(uid), -1)));
    let [record] = result;
    assert.ok(record);
    const put = await countCalls(() => {
      for (let count = 0; count < 10; count += 1) {
        record = store.put("A", { ...planRecord("A"), paused: count % 2 === 0 }, record?.revision ?? -1);
        assert.equal(open(dir).get("A")?.revision, record.revision);
      }
    });
    assert.equal(put.synced, 0);
    const asked = await countCalls(async () => {
      store.sync();
      store.sync();
      await store.synced();
    });
    assert.deepEqual([asked.synced, asked.syncedAside], [1, 0]);
    await store.syncAtOnce();
    assert.deepEqual([readdirSync(notesOf(join(dir, "plans"))), problems], [[], []]);
    const after = await countCalls(() => store.put("A", planRecord("A"), record?.revision ?? -1));
    assert.equal(after.synced, 1, "by itself again");
  }));
