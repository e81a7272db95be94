import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { acpAdapter } from "../../../src/agents/acp/adapter.ts";
import type { AgentEvent } from "../../../src/agents/port.ts";
import { only, runToEnd, spent } from "../../testing/agents/real-run.ts";

const program = new URL("../fixtures/acp/floods.mjs", import.meta.url).pathname;
const maxOutputBytes = 64 * 1024;

async function run(root: string, flood: number): Promise<AgentEvent[]> {
  const cwd = join(root, "work");
  mkdirSync(cwd);
  return await runToEnd(
    acpAdapter({ name: "test", command: process.execPath, args: [program], projectSettings: false }),
    {
      stage: "worker",
      prompt: "Do it.",
      cwd,
      runDir: join(root, "run"),
      runId: `acp-flood-${process.pid}`,
      env: { PATH: process.env.PATH ?? "", FLOOD: String(flood) },
      limits: { deadlineMs: 120_000, silenceMs: 120_000, maxOutputBytes, graceMs: 1000 },
      sandboxed: true,
      signal: new AbortController().signal,
    },
  );
}

test("an agent that prints more than is kept gets its answers, and its end is heard", async () => {
  const root = mkdtempSync(join(tmpdir(), "prloom-flood-"));
  try {
    const events = await run(root, 2_000_000);
    assert.equal(readFileSync(join(root, "work", "done.txt"), "utf8"), "done\n");
    assert.deepEqual(
      only(events, "error").map(({ message }) => message),
      ["The program printed more than limits.maxOutput; the rest is not kept."],
    );
    assert.deepEqual(
      only(events, "tool_call").map(({ name }) => name),
      ["edit"],
    );
    assert.deepEqual([spent(events).input, spent(events).output], [3, 4]);
    const [done] = only(events, "done");
    assert.deepEqual([done?.exit.reason, done?.exit.code, done?.exit.truncated], ["exited", 0, true]);
    assert(statSync(join(root, "run", "output.log")).size < maxOutputBytes + 2000);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
