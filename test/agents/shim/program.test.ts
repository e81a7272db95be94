import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { RunExit } from "../../../src/agents/port.ts";
import { startRun } from "../../../src/agents/runner/runner.ts";
import { ShimPool } from "../../../src/agents/shim/pool.ts";
import { shimOf } from "../../testing/agents/agent-scripts.ts";
import { runRequests } from "../../testing/agents/run-requests.ts";

const root = mkdtempSync(join(tmpdir(), "prloom-program-"));
const shims = new ShimPool(root);
after(async () => {
  await shims.close();
  rmSync(root, { recursive: true, force: true });
});

const requestFor = runRequests(root, "program");

/** How a run ended, and in which shim. */
async function run(shell: string): Promise<[reason: RunExit["reason"], shim: number]> {
  const request = requestFor(shell, { shims });
  const { reason } = (await startRun(request).ended) as RunExit;
  return [reason, shimOf(request.runDir)];
}

test("a program that cannot be started leaves no file open in its shim", async () => {
  const [, pid] = await run("true");
  const openFiles = (): number => readdirSync(`/proc/${pid}/fd`).length;
  const before = openFiles();
  // Longer than a program's argument may be; with the one that follows as many as pipes are made at once.
  const long = `true # ${"x".repeat(200_000)}`;
  for (const shell of [long, long, long]) assert.deepEqual(await run(shell), ["spawn-failed", pid]);
  assert.deepEqual(await run("true"), ["exited", pid]);
  // That of the last run may be closed a moment later.
  assert.ok(openFiles() <= before + 1, `${openFiles()} instead of ${before}`);
});
