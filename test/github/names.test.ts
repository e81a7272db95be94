import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { isNameOf, namesAfter, namesStore } from "../../src/github/names.ts";

const KNOWN = { id: 1, names: ["acme/old", "acme/app"] };

for (const [what, before, found, names] of [
  ["the first look", undefined, ["acme/app", "acme/app"], ["acme/app"]],
  ["a config with an older name", undefined, ["acme/old", "acme/app"], ["acme/old", "acme/app"]],
  ["nothing new", KNOWN, ["acme/app"], KNOWN.names],
  ["upper and lower case", KNOWN, ["Acme/App"], KNOWN.names],
  ["renamed", KNOWN, ["acme/new"], ["acme/old", "acme/app", "acme/new"]],
  ["renamed back", KNOWN, ["acme/old"], ["acme/app", "acme/old"]],
  ["another repository", { ...KNOWN, id: 2 }, ["acme/app"], ["acme/app"]],
] as const)
  test(`what a repository is and was called: ${what}`, () =>
    assert.deepEqual(namesAfter(before, 1, found), { id: 1, names }));

test("names are compared without case", () => {
  assert.ok(isNameOf(KNOWN, "ACME/old"));
  assert.ok(!isNameOf(KNOWN, "acme/other"));
});

test("names are kept for one GitHub; a file that cannot be read is an error that names it", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "names-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "github-repository.json");
  const store = namesStore(path, "https://one.test");
  assert.equal(store.read(), undefined);
  store.write(KNOWN);
  assert.deepEqual([store.read()?.id, store.read()?.names], [1, KNOWN.names]);
  assert.equal(namesStore(path, "https://other.test").read(), undefined);
  writeFileSync(path, "{");
  assert.throws(() => store.read(), /github-repository\.json cannot be read/);
});
