import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, beforeEach, test } from "node:test";
import { countCalls } from "../../bench/harness/counts.ts";
import { readTextIfExists } from "../../src/kernel/files.ts";
import { OpenNote } from "../../src/kernel/open-note.ts";
import { repairWritten } from "../../src/kernel/write-together.ts";
import { thorough } from "../testing/thorough.ts";

const dirs: string[] = [];
let dir: string;
let notes: string;
let note: OpenNote;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "prloom-note-"));
  dirs.push(dir);
  notes = join(dir, "notes");
  note = new OpenNote(notes, (error) => assert.fail(String(error)));
});
after(() => {
  for (const made of dirs) rmSync(made, { recursive: true, force: true });
});

const file = (name: string, data: string) => ({ path: join(dir, name), data });

/** The notes as a machine finds them that was switched off: nothing of it is in memory any more. */
function otherBoot(laterMs = 0): void {
  for (const name of readdirSync(notes)) {
    const text = readFileSync(join(notes, name), "utf8")
      .replaceAll(/"bootId":"[^"]*"/g, '"bootId":"another boot"')
      .replaceAll(/"at":(\d+)/g, (_, at: string) => `"at":${Number(at) + laterMs}`);
    writeFileSync(join(notes, name), text);
  }
}

test("a file is synced in the note when it is first written, and then only when it is asked for", async () => {
  const first = await countCalls(() => note.write([file("a", "1")]));
  assert.equal(first.synced, 3, "the note, its folder, and what it says");
  const more = await countCalls(() => {
    for (let count = 2; count <= 20; count += 1) note.write([file("a", `${count}`)]);
  });
  assert.equal(more.synced, 0);
  assert.equal(readTextIfExists(join(dir, "a")), "20");
  const asked = await countCalls(() => {
    note.sync();
    note.sync();
  });
  assert.equal(asked.synced, 1);
  const another = await countCalls(() => note.write([file("a", "21"), file("b", "1")]));
  assert.equal(another.synced, 1, "the second file was in no note");
  await note.close();
  assert.deepEqual(readdirSync(notes), []);
  assert.deepEqual([readTextIfExists(join(dir, "a")), readTextIfExists(join(dir, "b"))], ["21", "1"]);
});

test("those that wait for a sync at the same time share it", async () => {
  note.write([file("a", "1")]);
  note.write([file("a", "2")]);
  await Promise.all([note.synced(), note.synced(), note.synced()]);
  const { synced } = await countCalls(() => note.sync());
  assert.equal(synced, 0, "all of it was on the disk");
  await note.close();
});

for (const [left, means] of [
  ["", "torn"],
  ["tw", "torn"],
  ["one", "from before the sync"],
  ["from before the note", "from before the note"],
  [undefined, "not there"],
] as const) {
  test(`after a power loss a file that is ${means} says what it said at the last sync`, () => {
    note.write([file("a", "one")]);
    note.write([file("a", "two and more")]);
    note.sync();
    // The note is from later than what is there.
    otherBoot(left?.startsWith("from") ? 60_000 : 0);
    rmSync(join(dir, "a"));
    if (left !== undefined) writeFileSync(join(dir, "a"), left);
    repairWritten(notes);
    assert.equal(readTextIfExists(join(dir, "a")), "two and more");
    assert.deepEqual(readdirSync(notes), []);
  });
}

test("after a power loss a file that was removed on purpose stays away, also with its folder", () => {
  mkdirSync(join(dir, "plan"));
  note.write([file("a", "one"), file("plan/b", "one"), file("c", "one")]);
  rmSync(join(dir, "a"));
  note.forget([join(dir, "a"), join(dir, "never noted")]);
  note.sync();
  otherBoot();
  rmSync(join(dir, "plan"), { recursive: true });
  rmSync(join(dir, "c"));
  repairWritten(notes);
  assert.deepEqual(readdirSync(dir).sort(), ["c", "notes"]);
});

test("a file that is written again after it was removed is noted on the disk before", async () => {
  note.write([file("a", "one")]);
  rmSync(join(dir, "a"));
  note.forget([join(dir, "a")]);
  note.sync();
  const again = await countCalls(() => note.write([file("a", "two")]));
  assert.equal(again.synced, 1);
  await note.close();
});

test("what was written since by another stays", () => {
  note.write([file("a", "one")]);
  note.write([file("a", "two")]);
  otherBoot();
  writeFileSync(join(dir, "a"), "a person wrote this");
  repairWritten(notes);
  assert.equal(readTextIfExists(join(dir, "a")), "a person wrote this");
});

test("what a person cut off or took back long after it was noted stays so", () => {
  for (const theirs of ["one", "two and", ""]) {
    note.write([file("a", "one")]);
    note.write([file("a", "two and more")]);
    note.sync();
    otherBoot(-120_000);
    writeFileSync(join(dir, "a"), theirs);
    repairWritten(notes);
    assert.equal(readTextIfExists(join(dir, "a")), theirs);
    note = new OpenNote(notes, (error) => assert.fail(String(error)));
  }
});

test("a line that a power loss cut off says nothing, and those before it hold", () => {
  note.write([file("a", "one")]);
  otherBoot();
  const [name = ""] = readdirSync(notes);
  writeFileSync(join(notes, name), `${readFileSync(join(notes, name), "utf8")}{"bootId":"another boot","files":[{"pa`);
  writeFileSync(join(dir, "a"), "");
  repairWritten(notes);
  assert.equal(readTextIfExists(join(dir, "a")), "one");
});

test("a file that cannot be written is thrown, and the next ones are written", async () => {
  mkdirSync(join(dir, "a"));
  assert.throws(() => note.write([file("a", "1")]), /EISDIR/);
  const before = readdirSync(notes);
  note.write([file("b", "1")]);
  const now = readdirSync(notes).filter((name) => !before.includes(name));
  assert.equal(now.length, 1, "the note that says more than was written has ended");
  await note.close();
  assert.equal(readTextIfExists(join(dir, "b")), "1");
  assert.deepEqual(readdirSync(notes), []);
});

test("a note gets no longer than an owner reads at its start", thorough, async () => {
  for (let count = 0; count < 4100; count += 1) note.write([file("a", `${count}`)]);
  assert.ok(readdirSync(notes).every((name) => readFileSync(join(notes, name), "utf8").split("\n").length <= 2001));
  await note.close();
  assert.deepEqual(readdirSync(notes), []);
  assert.equal(readTextIfExists(join(dir, "a")), "4099");
});

const MODULE = new URL("../../src/kernel/open-note.ts", import.meta.url).href;

for (const [point, said] of [
  ["together:noted:3", "2"],
  ["together:written:3", "3"],
] as const) {
  test(`a kill at ${point} loses nothing of what was written, and the next start clears the note away`, () => {
    const script = `import { OpenNote } from ${JSON.stringify(MODULE)};
      const note = new OpenNote(${JSON.stringify(notes)}, () => undefined);
      for (const data of ["1", "2", "3"]) note.write([{ path: ${JSON.stringify(join(dir, "a"))}, data }]);`;
    const env = { ...process.env, PRLOOM_CRASH_AT: point };
    const child = spawnSync(process.execPath, ["--input-type=module", "-e", script], { env, encoding: "utf8" });
    assert.equal(child.signal, "SIGKILL", child.stderr);
    repairWritten(notes);
    assert.equal(readTextIfExists(join(dir, "a")), said);
    assert.deepEqual(readdirSync(notes), []);
  });
}

test("a note does not grow without an end, neither by its lines nor by their length", async () => {
  for (let count = 0; count < 40; count += 1) {
    note.write([file("a", `${count}`.repeat(1024 ** 2))]);
    for (const name of readdirSync(notes)) assert(statSync(join(notes, name)).size < 20 * 1024 ** 2);
  }
  await note.close();
  assert.deepEqual(readdirSync(notes), []);
  assert.equal(readTextIfExists(join(dir, "a")), "39".repeat(1024 ** 2));
});
