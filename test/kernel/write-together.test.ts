import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, beforeEach, test } from "node:test";
import { countCalls } from "../../bench/harness/counts.ts";
import { readTextIfExists } from "../../src/kernel/files.ts";
import { type NewFile, repairWritten, writeTogether } from "../../src/kernel/write-together.ts";

const dirs: string[] = [];
let dir: string;
let notes: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "prloom-together-"));
  dirs.push(dir);
  notes = join(dir, "notes");
});
after(() => {
  for (const made of dirs) rmSync(made, { recursive: true, force: true });
});

function files(count: number, word = "text"): NewFile[] {
  return Array.from({ length: count }, (_, at) => ({ path: join(dir, "to", `${at}.md`), data: `${word} ${at}\n` }));
}

function said({ path }: NewFile): string | undefined {
  return readTextIfExists(path);
}

/** Leaves a note as a process leaves it whose machine was switched off, or that was killed. */
function leaveNote(of: readonly NewFile[], { bootId, name = "1" }: { bootId?: string; name?: string } = {}): void {
  const scratch = join(dir, `scratch-${name}`);
  const kept = of.map(({ path, data }) => ({ path: join(scratch, path), data }));
  void writeTogether(join(scratch, "notes"), kept);
  const [note = ""] = readdirSync(join(scratch, "notes"));
  const content = JSON.parse(readFileSync(join(scratch, "notes", note), "utf8"));
  mkdirSync(notes, { recursive: true });
  writeFileSync(
    join(notes, `${name}.json`),
    JSON.stringify({ bootId: bootId ?? content.bootId, files: of.map(({ path, data }) => ({ path, data })) }),
  );
}

test("many files are there with one sync of a note, and the note goes when they are on the disk", async () => {
  const order: number[] = [];
  const many = files(40).map((file, at) => ({ ...file, onWritten: () => order.push(at) }));
  let safe: Promise<void> | undefined;
  const { synced } = await countCalls(() => {
    safe = writeTogether(notes, many);
  });
  assert.equal(synced, 2, "the note and its folder");
  assert.deepEqual(
    order,
    many.map((_, at) => at),
  );
  await safe;
  assert.deepEqual(
    many.map(said),
    many.map(({ data }) => data),
  );
  assert.deepEqual(readdirSync(notes), []);
});

test("one or two files are synced by themselves, without a note", async () => {
  const { synced } = await countCalls(() => writeTogether(notes, files(2)));
  assert.equal(synced, 2);
  assert.equal(readTextIfExists(notes), undefined);
  assert.deepEqual(files(2).map(said), ["text 0\n", "text 1\n"]);
});

test("after a power loss a file that is torn says what it was to say, and no other is touched", () => {
  const all = files(6);
  const [empty, half, whole, edited, old] = all;
  assert.ok(empty && half && whole && edited && old);
  mkdirSync(join(dir, "to"));
  writeFileSync(empty.path, "");
  writeFileSync(half.path, half.data.slice(0, 3));
  writeFileSync(whole.path, whole.data);
  writeFileSync(edited.path, "a person wrote this\n");
  writeFileSync(old.path, "an older text\n");
  leaveNote(all, { bootId: "another boot" });
  repairWritten(notes);
  assert.deepEqual(all.map(said), [
    empty.data,
    half.data,
    whole.data,
    "a person wrote this\n",
    "an older text\n",
    // It was never said to be there, so it is asked for again.
    undefined,
  ]);
  assert.deepEqual(readdirSync(notes), []);
});

test("of two notes about a file the newer one counts", () => {
  const [before, now] = [files(3, "before"), files(3, "now")];
  mkdirSync(join(dir, "to"));
  for (const { path } of now) writeFileSync(path, "");
  leaveNote(before, { bootId: "another boot", name: "000000001" });
  leaveNote(now, { bootId: "another boot", name: "000000002" });
  repairWritten(notes);
  assert.deepEqual(
    now.map(said),
    now.map(({ data }) => data),
  );
});

test("where the machine went on running, a file that was emptied since stays empty", () => {
  const all = files(3);
  mkdirSync(join(dir, "to"));
  for (const { path } of all) writeFileSync(path, "");
  leaveNote(all);
  repairWritten(notes);
  assert.deepEqual(all.map(said), ["", "", ""]);
  assert.deepEqual(readdirSync(notes), []);
});

test("a note that is torn says nothing: no file was written before it was whole", () => {
  mkdirSync(notes);
  writeFileSync(join(notes, "000000001.json"), '{"bootId":"x","files":[{"pa');
  repairWritten(notes);
  assert.deepEqual(readdirSync(notes), []);
  repairWritten(join(dir, "never made"));
});

test("a file that cannot be written is thrown, and the note does not outlive those before it", async () => {
  const all = files(4);
  const [first, , third, fourth] = all;
  assert.ok(first && third && fourth);
  mkdirSync(third.path, { recursive: true });
  assert.throws(() => writeTogether(notes, all), /EISDIR/);
  assert.equal(said(first), first.data);
  assert.equal(said(fourth), undefined);
  while (readdirSync(notes).length > 0) await new Promise((resolve) => setImmediate(resolve));
});

const MODULE = new URL("../../src/kernel/write-together.ts", import.meta.url).href;

for (const [point, written] of [
  ["together:noted", 0],
  ["together:written", 4],
] as const) {
  test(`a kill at ${point} leaves ${written} of 4 files whole, and the next start clears the note away`, () => {
    const all = files(4);
    const script = `import { writeTogether } from ${JSON.stringify(MODULE)};
      await writeTogether(${JSON.stringify(notes)}, ${JSON.stringify(all)});`;
    const env = { ...process.env, PRLOOM_CRASH_AT: point };
    const child = spawnSync(process.execPath, ["--input-type=module", "-e", script], { env, encoding: "utf8" });
    assert.equal(child.signal, "SIGKILL", child.stderr);
    assert.equal(readdirSync(notes).length, 1);
    repairWritten(notes);
    assert.deepEqual(
      all.map(said),
      all.map(({ data }, at) => (at < written ? data : undefined)),
    );
    assert.deepEqual(readdirSync(notes), []);
  });
}

test("a file that something else took the place of does not keep the others from being repaired", () => {
  for (const bootId of ["another", undefined]) {
    const [folder, loop, pipe, torn] = files(4) as [NewFile, NewFile, NewFile, NewFile];
    leaveNote([folder, loop, pipe, torn], bootId === undefined ? {} : { bootId });
    rmSync(join(dir, "to"), { recursive: true, force: true });
    mkdirSync(folder.path, { recursive: true });
    symlinkSync(loop.path, loop.path);
    spawnSync("mkfifo", [pipe.path]);
    writeFileSync(torn.path, "");
    repairWritten(notes);
    assert.equal(said(torn), bootId === undefined ? "" : torn.data);
    assert.deepEqual(readdirSync(notes), []);
    rmSync(join(dir, "scratch-1"), { recursive: true, force: true });
  }
});

test("what lies among the notes and is not a file does not keep those from being dealt with", () => {
  const all = files(3);
  const [torn] = all as [NewFile];
  leaveNote(all, { bootId: "another" });
  mkdirSync(join(dir, "to"));
  writeFileSync(torn.path, "");
  mkdirSync(join(notes, "2.json"));
  spawnSync("mkfifo", [join(notes, "3.json")]);
  repairWritten(notes);
  assert.equal(said(torn), torn.data);
  assert.deepEqual(readdirSync(notes), ["2.json", "3.json"]);
});
