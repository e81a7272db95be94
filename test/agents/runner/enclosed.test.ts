import assert from "node:assert/strict";
import { fstatSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openGate, release, spawnEnclosed } from "../../../src/agents/runner/enclosed.ts";
import { withNamedPipes } from "../../../src/agents/runner/named-pipes.ts";

test("a sandbox that could not be made leaves no file open: its shim goes on with other runs", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "prloom-gate-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const fifo = join(dir, "gate");
  const gate = withNamedPipes([fifo], (made) => (made ? openGate(fifo) : undefined));
  if (gate === undefined) return t.skip("there are no named pipes here");
  const stdio = ["pipe", "pipe", "pipe"] as const;
  const start = { bwrap: "/bin/false", wrapper: [], command: ["true"], cwd: dir, env: {}, stdio, detached: false };
  const enclosed = spawnEnclosed({ ...start, gate });
  const written: unknown[] = [];
  const begun = await release(enclosed, { write: (record) => void written.push(record), mayBegin: () => true });
  assert.deepEqual([begun, written], [undefined, []]);
  assert.throws(() => fstatSync(gate), { code: "EBADF" });
});
