import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, beforeEach, test } from "node:test";
import { countCalls } from "../../../bench/harness/counts.ts";
import { openInbox } from "../../../src/dispatcher/intake/inbox.ts";

const dirs: string[] = [];
let inbox: string;
let cache: string;
beforeEach(() => {
  const dir = mkdtempSync(join(tmpdir(), "prloom-inbox-"));
  dirs.push(dir);
  inbox = join(dir, "inbox");
  cache = join(dir, "cache.json");
  mkdirSync(inbox);
  writeFileSync(join(inbox, "a.md"), "# A\n");
  writeFileSync(join(inbox, "a.json"), JSON.stringify({ status: "queued", metadata: { x: [1] } }));
  writeFileSync(join(inbox, "b.md"), "# B\n");
  writeFileSync(join(inbox, "c.json"), "{");
});
after(() => {
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
});

test("a saved cache gives the same entries, and no file is opened that did not change", async () => {
  const first = openInbox(inbox, cache);
  const before = first.scan();
  first.save();
  const again = openInbox(inbox, cache);
  let scan = again.scan();
  assert.deepEqual(scan.entries, before.entries);
  assert.match(scan.entries.get("c")?.problem?.reason ?? "", /c\.json/);
  assert.deepEqual(scan.changed, new Set());
  const { opened } = await countCalls(() => {
    scan = openInbox(inbox, cache).scan();
  });
  assert.equal(opened, 1, "the cache");
  writeFileSync(join(inbox, "b.md"), "# B, and more\n");
  assert.deepEqual(again.scan().changed, new Set(["b"]));
});

for (const [what, mangled] of [
  ["empty", () => ""],
  ["of another version", (text: string) => text.replace('"schemaVersion":3', '"schemaVersion":1')],
  ["cut off", (text: string) => text.slice(0, -9)],
  ["with a plan that has no id", (text: string) => text.replace('"a"', "null")],
  ["with a plan that is none", (text: string) => text.replace('"seen":[', '"seen":[5,')],
] as const) {
  test(`a cache that is ${what} costs time and nothing else`, () => {
    const first = openInbox(inbox, cache);
    const before = first.scan();
    first.save();
    writeFileSync(cache, mangled(readFileSync(cache, "utf8")));
    assert.deepEqual(openInbox(inbox, cache).scan().entries, before.entries);
  });
}

test("a look reads a file once for each change of it, and the next scan still tells the change", async () => {
  const opened = openInbox(inbox, cache);
  opened.scan();
  writeFileSync(join(inbox, "a.json"), JSON.stringify({ status: "draft" }));
  assert.equal(opened.look("a").entries.get("a")?.meta.status, "draft");
  const counts = await countCalls(() => opened.look("a"));
  assert.deepEqual([counts.opened, counts.looked], [0, 2]);
  rmSync(join(inbox, "a.json"));
  assert.deepEqual(opened.look("a").entries.get("a")?.meta, {});
  assert.deepEqual(opened.scan().changed, new Set(["a"]));
  assert.deepEqual(opened.look("nothing").entries, new Map());
});
