import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { filesSeenFrom } from "../../../src/governance/policy/files-seen.ts";
import { realPath } from "../../../src/governance/policy/paths.ts";

const root = mkdtempSync(join(tmpdir(), "prloom-seen-"));
after(() => rmSync(root, { recursive: true }));

test("links are followed below the other root, absolute ones too", () => {
  mkdirSync(join(root, "shop", "src"), { recursive: true });
  mkdirSync(join(root, "tmp"));
  writeFileSync(join(root, "shop", "src", "a.ts"), "");
  symlinkSync("/shop/src", join(root, "tmp", "there"));
  symlinkSync("/nowhere", join(root, "tmp", "lost"));
  const seen = filesSeenFrom(() => root);
  assert.equal(realPath("/tmp/there/a.ts", "/", seen), "/shop/src/a.ts");
  assert.deepEqual([seen.kind("/tmp/there"), seen.kind("/tmp/there/a.ts")], ["folder", "file"]);
  assert.deepEqual([seen.kind("/tmp/lost"), seen.kind("/etc/passwd")], [undefined, undefined]);
  assert.deepEqual(seen.entries("/tmp").links.toSorted(), ["lost", "there"]);
  assert.deepEqual(seen.entries("/tmp/lost"), { links: [], folders: [], others: [] });
});

test("where the other root is gone, nothing is taken for a path without links", () => {
  const seen = filesSeenFrom(() => join(root, "gone"));
  for (const look of [
    () => realPath("/tmp/there/a.ts", "/", seen),
    () => seen.kind("/tmp"),
    () => seen.entries("/tmp"),
  ])
    assert.throws(look, /cannot be looked at/);
});
