import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { removeFrom } from "../../../src/kernel/removal/remove-held.ts";
import { removeTree } from "../../../src/kernel/removal/remove-tree.ts";

const dir = mkdtempSync(join(tmpdir(), "prloom-removed-"));
after(() => removeTree(dir));

function asideOf(name: string, make: (path: string) => void): string[] {
  const root = join(dir, name, "root");
  mkdirSync(join(root, "all"), { recursive: true });
  for (let at = 0; at < 300; at += 1) make(join(root, "all", `${at}`));
  removeFrom(root, "all");
  assert(!existsSync(join(root, "all")));
  return readdirSync(join(dir, name)).filter((entry) => entry !== "root");
}

test("many folders go aside, and are removed there while everything else goes on; files are removed at once", () => {
  assert.equal(asideOf("files", (path) => writeFileSync(path, "")).length, 0);
  assert.equal(asideOf("folders", (path) => mkdirSync(path)).length, 1);
});
