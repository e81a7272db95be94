import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { createFileLog, type FileLogOptions, type QuarantineEntry } from "../../../src/bus/file/log.ts";
import { type LogAddress, START } from "../../../src/bus/ports.ts";
import { PrloomError } from "../../../src/kernel/errors.ts";
import { manualClock, readAll } from "../../testing/contracts/bus-contract.ts";
import { inTemporary } from "../temporary.ts";

const EVENTS: LogAddress = { scope: {}, log: "events" };
const QUARANTINE: LogAddress = { scope: {}, log: "quarantine" };
const open = (dir: string, more: Partial<FileLogOptions> = {}) =>
  createFileLog({ root: (scope) => (scope.planId ? join(dir, scope.planId) : dir), clock: manualClock(), ...more });
const events = (...ids: string[]) => ids.map((id) => ({ kind: "event", id, data: id }));
const code = (wanted: string) => (error: unknown) => error instanceof PrloomError && error.code === wanted;

it("writes one line per record, between newlines", () =>
  inTemporary((dir) => {
    open(dir).append(EVENTS, events("a", "b"));
    const line = (id: string) =>
      `\n{"ts":"2026-01-01T00:00:00.000Z","kind":"event","schemaVersion":1,"id":"${id}","data":"${id}"}\n`;
    assert.equal(readFileSync(join(dir, "events.jsonl"), "utf8"), line("a") + line("b"));
    assert.deepEqual(readdirSync(dir), ["events.jsonl"]);
  }));

it("creates nothing by reading", () =>
  inTemporary((dir) => {
    const log = open(join(dir, "not", "there"));
    log.read(EVENTS, START, 5);
    log.end(EVENTS);
    log.append(EVENTS, []);
    assert.deepEqual(readdirSync(dir), []);
  }));

it("reads the record after a torn one, and keeps the torn one in quarantine once", () =>
  inTemporary((dir) => {
    open(dir).append(EVENTS, events("a"));
    appendFileSync(join(dir, "events.jsonl"), '\n{"ts":"2026-01-01T00:00:00.000Z","kind":"ev');
    const told: QuarantineEntry[] = [];
    const log = open(dir, { onQuarantine: (entry) => told.push(entry) });
    assert.deepEqual(readAll(log, EVENTS), ["a"]);
    assert.equal(existsSync(join(dir, "quarantine.jsonl")), false, "an unfinished last line waits");
    log.append(EVENTS, events("b"));
    assert.deepEqual(readAll(log, EVENTS), ["a", "b"]);
    assert.deepEqual(readAll(log, EVENTS), ["a", "b"]);
    assert.deepEqual(readAll(open(dir), EVENTS), ["a", "b"]);
    const kept = readAll(log, QUARANTINE) as QuarantineEntry[];
    assert.equal(kept.length, 1);
    assert.equal(kept[0]?.line, '{"ts":"2026-01-01T00:00:00.000Z","kind":"ev');
    assert.equal(kept[0]?.log, "events");
    assert.equal(told.length, 1);
  }));

it("takes a record that only lacks its newline for what it is: not torn, and a duplicate", () =>
  inTemporary((dir) => {
    open(dir).append(EVENTS, events("a", "b"));
    const path = join(dir, "events.jsonl");
    truncateSync(path, readFileSync(path).length - 1);
    const log = open(dir);
    assert.deepEqual(readAll(log, EVENTS), ["a"]);
    assert.deepEqual(log.append(EVENTS, events("b")).duplicates, ["b"]);
    assert.deepEqual(readAll(log, EVENTS), ["a", "b"]);
  }));

it("passes over foreign lines of every sort", () =>
  inTemporary((dir) => {
    const log = open(dir);
    log.append(EVENTS, events("a"));
    const foreign = [
      "null",
      "[]",
      '{"data":1}',
      '{"ts":"x","kind":"event","schemaVersion":0,"data":1}',
      '{"ts":"x","kind":"event","schemaVersion":"1","data":1}',
      '{"ts":"x","kind":"event","schemaVersion":1}',
      '{"ts":"x","kind":"event","schemaVersion":1,"data":{"$blob":"../../etc/passwd"}}',
      `{"ts":"x","kind":"event","schemaVersion":1,"data":{"$blob":"${"0".repeat(64)}"}}`,
      "x".repeat(3_000_000),
      "\0\0\0",
    ];
    appendFileSync(join(dir, "events.jsonl"), `${foreign.join("\n")}\n`);
    const badUtf8 = Buffer.from('{"ts":"x","kind":"event","schemaVersion":1,"data":"?"}\n');
    badUtf8[badUtf8.indexOf("?")] = 0xff;
    appendFileSync(join(dir, "events.jsonl"), badUtf8);
    log.append(EVENTS, events("b"));
    assert.deepEqual(readAll(log, EVENTS), ["a", "b"]);
    assert.equal(readAll(log, QUARANTINE).length, foreign.length + 1);
    assert.deepEqual(readAll(open(dir, { readOnly: true }), EVENTS), ["a", "b"]);
  }));

it("quarantines a record whose blob is gone, and reads on", () =>
  inTemporary((dir) => {
    const log = open(dir);
    log.append(EVENTS, [{ kind: "event", id: "big", data: "x".repeat(100_000) }, ...events("after")]);
    assert.ok(readFileSync(join(dir, "events.jsonl")).length < 1000);
    rmSync(join(dir, "blobs"), { recursive: true });
    assert.deepEqual(readAll(log, EVENTS), ["after"]);
    assert.equal(readAll(log, QUARANTINE).length, 1);
  }));

it("refuses a record of a newer format by name of its file", () =>
  inTemporary((dir) => {
    writeFileSync(join(dir, "events.jsonl"), '{"ts":"x","kind":"event","schemaVersion":2,"data":1}\n');
    const log = open(dir);
    assert.throws(
      () => log.read(EVENTS, START, 1),
      (error) => code("schema-newer")(error) && (error as Error).message.includes("events.jsonl"),
    );
    assert.throws(() => log.append(EVENTS, events("a")), code("schema-newer"));
  }));

it("refuses an id that does not fit into a line", () =>
  inTemporary((dir) => {
    assert.throws(() => open(dir).append(EVENTS, events("x".repeat(70_000))), code("record-too-large"));
  }));

it("tells a full disk, and goes on when there is room again", (context) =>
  inTemporary((dir) => {
    const mount = spawnSync("mount", ["-t", "tmpfs", "-o", "size=4k", "tmpfs", dir]);
    if (mount.status !== 0) return context.skip("needs root to mount a small disk");
    try {
      writeFileSync(join(dir, "ballast"), Buffer.alloc(4096));
      const log = open(dir);
      assert.throws(() => log.append(EVENTS, [{ kind: "event", data: "a" }]), code("disk-full"));
      rmSync(join(dir, "ballast"));
      assert.deepEqual(log.append(EVENTS, events("a")).duplicates, []);
      assert.deepEqual(readAll(log, EVENTS), ["a"]);
    } finally {
      spawnSync("umount", ["-l", dir]);
    }
  }));

it("survives that part of its last write is missing, without being opened again", () =>
  inTemporary((dir) => {
    const log = open(dir);
    log.append(EVENTS, events("a"));
    log.append(EVENTS, events("b"));
    truncateSync(join(dir, "events.jsonl"), readFileSync(join(dir, "events.jsonl")).length - 20);
    assert.deepEqual(log.append(EVENTS, events("a", "b")).duplicates, ["a"]);
    assert.deepEqual(readAll(log, EVENTS), ["a", "b"]);
  }));

it("rolls over at the segment's size and remembers the ids of two segments", () =>
  inTemporary((dir) => {
    const log = open(dir, { segmentBytes: 200 });
    const ids = Array.from({ length: 12 }, (_, n) => `id-${n}`);
    for (const id of ids) log.append(EVENTS, events(id));
    assert.deepEqual(readdirSync(dir), [
      "events.000001.jsonl",
      "events.000002.jsonl",
      "events.000003.jsonl",
      "events.jsonl",
    ]);
    for (const each of [log, open(dir, { segmentBytes: 200 })]) {
      assert.deepEqual(readAll(each, EVENTS), ids);
      assert.deepEqual(each.append(EVENTS, events("id-9", "id-11")).duplicates, ["id-9", "id-11"]);
    }
    assert.deepEqual(log.append(EVENTS, events("id-0")).duplicates, []);
  }));

it("keeps a reader's place while another process rolls the journal over", () =>
  inTemporary((dir) => {
    const writer = open(dir, { segmentBytes: 200 });
    const reader = open(dir, { readOnly: true });
    const seen: unknown[] = [];
    let cursor = START;
    const ids = Array.from({ length: 30 }, (_, n) => `id-${n}`);
    for (const id of ids) {
      writer.append(EVENTS, events(id));
      if (ids.indexOf(id) % 7 !== 0) continue;
      const { items, next } = reader.read(EVENTS, cursor, 3);
      seen.push(...items.map((item) => item.record.data));
      cursor = next;
    }
    assert.deepEqual([...seen, ...readAll(reader, EVENTS, cursor)], ids);
  }));

it("steps over a segment that was removed, and back from beyond the end", () =>
  inTemporary((dir) => {
    const log = open(dir, { segmentBytes: 50 });
    for (const id of ["a", "b", "c", "d"]) log.append(EVENTS, events(id));
    rmSync(join(dir, "events.000002.jsonl"));
    assert.deepEqual(readAll(open(dir), EVENTS), ["a", "c", "d"]);
    const { next } = log.read(EVENTS, "99:5", 5);
    assert.equal(next, log.end(EVENTS));
  }));

it("never writes when it is for reading", () =>
  inTemporary((dir) => {
    mkdirSync(join(dir, "p"));
    writeFileSync(join(dir, "p", "events.jsonl"), "garbage\n");
    const log = open(dir, { readOnly: true });
    const address: LogAddress = { scope: { planId: "p" }, log: "events" };
    assert.deepEqual(log.read(address, START, 5).items, []);
    assert.throws(() => log.append(address, events("a")));
    assert.deepEqual(readdirSync(join(dir, "p")), ["events.jsonl"]);
  }));

it("gives a whole record to a reader whose end was taken in the middle of a write", () =>
  inTemporary((dir) => {
    const log = open(dir);
    log.append(EVENTS, events("a", "b"));
    const path = join(dir, "events.jsonl");
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.subarray(0, bytes.length - 30));
    const reader = open(dir, { readOnly: true });
    const cursor = reader.end(EVENTS);
    writeFileSync(path, bytes);
    assert.deepEqual(readAll(reader, EVENTS, cursor), ["b"]);
  }));

it("keeps no descriptor open over a thousand scopes", () =>
  inTemporary((dir) => {
    const log = open(dir, { fsync: false });
    const before = readdirSync("/proc/self/fd").length;
    for (let n = 0; n < 1000; n += 1) {
      const address: LogAddress = { scope: { planId: `p${n}` }, log: "events" };
      log.append(address, events("a"));
      assert.equal(log.read(address, START, 5).items.length, 1);
    }
    assert.ok(readdirSync("/proc/self/fd").length <= before + 1);
  }));

it("wakes for an append of another process, in a directory that did not exist", () =>
  inTemporary(async (dir) => {
    const home = join(dir, "later", "bus");
    const log = open(home, { readOnly: true });
    const woken = log.wait(EVENTS, START, AbortSignal.timeout(30_000));
    const script = `
      import { createFileLog } from ${JSON.stringify(new URL("../../../src/bus/file/log.ts", import.meta.url).href)};
      const log = createFileLog({ root: () => ${JSON.stringify(home)}, clock: { now: () => 0 } });
      log.append({ scope: {}, log: "events" }, [{ kind: "event", id: "a", data: "a" }]);`;
    spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "inherit" });
    await woken;
    assert.deepEqual(readAll(log, EVENTS), ["a"]);
  }));
