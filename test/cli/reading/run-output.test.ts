import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { agentOutput } from "../../../src/cli/reading/run-output.ts";
import { MAX_FILE_BYTES } from "../../../src/kernel/own-file.ts";
import { thorough } from "../../testing/thorough.ts";

test("of more output than fits into memory the end is shown, and where the rest is", thorough, (t) => {
  const dir = mkdtempSync(join(tmpdir(), "prloom-output-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const path = join(dir, "output.log");
  assert.equal(agentOutput(dir), "");
  writeFileSync(path, "begin\n");
  assert.equal(agentOutput(dir), "begin\n");
  truncateSync(path, MAX_FILE_BYTES);
  appendFileSync(path, "\nend\n");
  const output = agentOutput(dir);
  assert.equal(output.slice(0, output.indexOf("\n")), `… 5 bytes before this are in ${path}`);
  assert.equal(output.slice(-5), "\nend\n");
});
