import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { nextLifecycleEvent } from "../../../src/bridges/core/lifecycle.ts";
import type { Loom } from "../../../src/dispatcher/loom.ts";
import { homeOf } from "../../../src/dispatcher/paths.ts";
import { updateRecord } from "../../../src/dispatcher/records.ts";
import { sha256 } from "../../../src/kernel/ids.ts";
import { planDigest } from "../../../src/plan/digest.ts";
import { someOf } from "../../testing/sample.ts";
import { killedAt, withLoom } from "../buses/owned-loom.ts";
import { assertChains, lookAll, project, recordOf, TEXT, take, told } from "../told.ts";

test("an event that is there already is taken over as it was told", async () => {
  const { root, inbox } = project();
  await withLoom(root, (loom) => {
    writeFileSync(join(inbox, "a.md"), TEXT);
    take(loom);
    // The killed process had appended this one; the text was edited after that.
    const facts = { sha256: sha256(TEXT), triaging: false, text: () => ({ digest: planDigest(TEXT) }) };
    const planned = nextLifecycleEvent(recordOf(loom, "a"), facts);
    assert.ok(planned);
    loom.globalBus().appendEvents([planned.event]);
    writeFileSync(join(inbox, "a.md"), `${TEXT}later\n`);
    assert.equal(loom.lifecycle().look("a"), 1);
    assert.deepEqual(told(loom), ["created in inbox as draft", "edited"]);
    assertChains(loom);
  });
});

/** Kills a process that tells of a change, then changes the plan once more while no dispatcher runs. */
const interrupted: [point: string, what: string, then: (inbox: string) => void, expected: string[]][] = [
  ["lifecycle:noted", "nothing more", () => undefined, ["edited"]],
  ["lifecycle:appended", "nothing more", () => undefined, ["edited"]],
  ["lifecycle:observed", "nothing more", () => undefined, ["edited"]],
  ["lifecycle:noted", "an edit back", (inbox) => writeFileSync(join(inbox, "a.md"), TEXT), []],
  ["lifecycle:appended", "an edit back", (inbox) => writeFileSync(join(inbox, "a.md"), TEXT), ["edited", "edited"]],
  ["lifecycle:appended", "another edit", (inbox) => writeFileSync(join(inbox, "a.md"), "x\n"), ["edited", "edited"]],
  [
    "lifecycle:appended",
    "another status and an edit back",
    (inbox) => {
      writeFileSync(join(inbox, "a.md"), TEXT);
      writeFileSync(join(inbox, "a.json"), JSON.stringify({ status: "queued" }));
    },
    ["edited", "draft → queued", "edited"],
  ],
  ["lifecycle:appended", "its removal", (inbox) => rmSync(join(inbox, "a.md")), ["edited", "file_removed from inbox"]],
];
for (const [point, what, then, expected] of someOf(interrupted, 2)) {
  test(`a kill at ${point}, then ${what}: told once and without a gap`, async () => {
    const { root, inbox } = project();
    writeFileSync(join(inbox, "a.md"), TEXT);
    await withLoom(root, (loom) => {
      take(loom);
      lookAll(loom);
    });
    writeFileSync(join(inbox, "a.md"), `${TEXT}more\n`);
    killedAt(point, root, "look");
    then(inbox);
    await withLoom(root, (loom) => {
      take(loom);
      lookAll(loom);
      assert.deepEqual(told(loom), ["created in inbox as draft", ...expected]);
      assertChains(loom);
      assert.deepEqual(lookAll(loom), []);
    });
  });
}

test("a kill before the record of a new plan is written: it is created once", async () => {
  const { root, inbox } = project();
  writeFileSync(join(inbox, "a.md"), TEXT);
  await withLoom(root, take);
  killedAt("lifecycle:appended", root, "look");
  writeFileSync(join(inbox, "a.md"), `${TEXT}more\n`);
  await withLoom(root, (loom) => {
    lookAll(loom);
    assert.deepEqual(told(loom), ["created in inbox as draft", "edited"]);
    assertChains(loom);
  });
});

test("one plan that cannot be looked at keeps no other from being told, and is reported once", async () => {
  const { root, inbox } = project();
  const reports: string[] = [];
  const use = (loom: Loom): void => {
    for (let n = 0; n < 5; n += 1) writeFileSync(join(inbox, `p-${n}.md`), TEXT);
    take(loom);
    updateRecord(loom, "p-3", () => ({ status: "active", designed: true }));
    loom.texts.write(homeOf(loom.paths, "p-3").plan, TEXT);
    // Its journal is not a file.
    mkdirSync(join(homeOf(loom.paths, "p-3").bus, "settled.jsonl"), { recursive: true });
    // Plans taken in the same millisecond have no order among them.
    assert.deepEqual(lookAll(loom).sort(), ["p-0", "p-1", "p-2", "p-4"]);
    assert.deepEqual(lookAll(loom), []);
    rmSync(homeOf(loom.paths, "p-3").bus, { recursive: true });
    assert.deepEqual(lookAll(loom), ["p-3"]);
  };
  await withLoom(root, use, ({ level, planId }) => level === "bad" && reports.push(planId ?? ""));
  assert.deepEqual(reports, ["p-3"]);
});

test("among plans that did not change only the one that did is opened", async () => {
  const { root, inbox } = project();
  const at = new Date("2026-01-01T00:00:00Z");
  const write = (name: string, words: string, time: Date): void => {
    writeFileSync(join(inbox, name), `## TODO\n\n- [ ] ${words}\n`);
    utimesSync(join(inbox, name), time, time);
  };
  for (let n = 0; n < 10; n += 1) write(`p-${n}.md`, "before", at);
  await withLoom(root, (loom) => {
    take(loom);
    lookAll(loom);
    loom.saveCaches();
  });
  // Other bytes under the same stat: opening one of these files would show them.
  for (let n = 0; n < 10; n += 1) write(`p-${n}.md`, "after!", at);
  write("p-7.md", "after!", new Date("2026-01-02T00:00:00Z"));
  await withLoom(root, (loom) => {
    assert.deepEqual(lookAll(loom), ["p-7"]);
    assert.equal(loom.lifecycle().look("p-1"), 0);
  });
});

test("a cache that an older version left, without hashes, still serves", async () => {
  const { root, inbox } = project();
  writeFileSync(join(inbox, "a.md"), TEXT);
  await withLoom(root, (loom) => {
    take(loom);
    lookAll(loom);
    loom.saveCaches();
    const cache = JSON.parse(readFileSync(loom.paths.cacheFile, "utf8"));
    const facts = Object.entries<unknown[]>(cache.facts).map(([path, entry]) => [path, entry.slice(0, 4)]);
    assert.equal(facts.length, 1);
    writeFileSync(loom.paths.cacheFile, JSON.stringify({ ...cache, facts: Object.fromEntries(facts) }));
  });
  await withLoom(root, (loom) => {
    const path = join(inbox, "a.md");
    assert.partialDeepStrictEqual(loom.texts.facts(path, "a"), { title: "A plan", total: 2, completed: 0 });
    assert.equal(loom.texts.sha256(path), sha256(TEXT));
    assert.deepEqual(lookAll(loom), []);
  });
});

test("the note of what is being told is one file for good, and torn it says nothing", async () => {
  const { root, inbox } = project();
  await withLoom(root, (loom) => {
    const note = join(loom.paths.bus, "state", "lifecycle.json");
    for (const id of ["a", "b", "c"]) writeFileSync(join(inbox, `${id}.md`), TEXT);
    take(loom);
    lookAll(loom);
    const { ino, size } = statSync(note);
    writeFileSync(join(inbox, "a.md"), `${TEXT}more\n`);
    assert.equal(loom.lifecycle().look("a"), 1);
    assert.equal(statSync(note).ino, ino);
    assert.ok(statSync(note).size < size);
    assert.equal(JSON.parse(readFileSync(note, "utf8")).telling.length, 1);
    // A kill came between writing and shortening it.
    appendFileSync(note, '":2,"event":"x"}]}');
  });
  writeFileSync(join(inbox, "b.md"), `${TEXT}more\n`);
  await withLoom(root, (loom) => {
    lookAll(loom);
    assert.equal(told(loom).filter((line) => line === "edited").length, 2);
    assertChains(loom);
  });
});
