import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { governorOfRun } from "../../src/hosts/run-governance.ts";
import { governedFiles } from "./run.ts";

test("without a policy that can be read there is no governor", async (t) => {
  const files = governedFiles();
  t.after(() => files.remove());
  await assert.rejects(governorOfRun("opencode", { ...files, folder: "/nowhere", phase: "x" }));
  writeFileSync(join(files.folder, "graph.json"), "{");
  await assert.rejects(governorOfRun("opencode", { ...files, phase: "x" }));
});
