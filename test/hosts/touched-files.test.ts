import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { TouchedFiles } from "../../src/hosts/touched-files.ts";
import { governedFiles } from "./run.ts";

test("a file that we put back after a call is no change of the next one", async (t) => {
  const { root, remove } = governedFiles();
  t.after(remove);
  const touched = new TouchedFiles(root);
  await touched.begin();
  const added = ["src/a.txt", "src/deploy.yml"];
  for (const path of added) writeFileSync(join(root, path), "x\n");
  assert.deepEqual((await touched.look()).toSorted(), added);
  rmSync(join(root, "src/deploy.yml"));
  touched.forget(["src/deploy.yml"]);
  assert.deepEqual(await touched.look(), []);
});
