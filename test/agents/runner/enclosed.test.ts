import assert from "node:assert/strict";
import { fstatSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openLatch, release, spawnEnclosed } from "../../../src/agents/runner/enclosed.ts";
import { withNamedPipes } from "../../../src/agents/runner/named-pipes.ts";

test("a sandbox that could not be made leaves no file open: its shim goes on with other runs", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "prloom-latch-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const fifo = join(dir, "latch");
  const latch = withNamedPipes([fifo], (made) => (made ? openLatch(fifo) : undefined));
  if (latch === undefined) return t.skip("there are no named pipes here");
  const stdio = ["pipe", "pipe", "pipe"] as const;
  const start = { bwrap: "/bin/false", wrapper: [], command: ["true"], cwd: dir, env: {}, stdio, detached: false };
  const enclosed = spawnEnclosed({ ...start, latch });
  const written: unknown[] = [];
  const begun = await release(enclosed, { write: (record) => void written.push(record), mayBegin: () => true });
  assert.deepEqual([begun, written], [undefined, []]);
  assert.throws(() => fstatSync(latch), { code: "EBADF" });
});
