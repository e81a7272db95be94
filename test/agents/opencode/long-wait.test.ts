import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openCodeAdapter } from "../../../src/agents/opencode/adapter.ts";
import { askedAgainLine } from "../../../src/agents/opencode/log-line.ts";
import type { AgentEvent } from "../../../src/agents/port.ts";

test("a program that would wait for hours inside of its run is ended, and its exit says why", async (t) => {
  const root = mkdtempSync(join(tmpdir(), "prloom-long-wait-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const command = join(root, "opencode");
  const message = askedAgainLine(Date.now() + 3_600_000, "The usage limit has been reached");
  const line = `timestamp=2026-11-16T17:51:23.604Z level=ERROR run=a message="${message}"`;
  writeFileSync(command, `#!/bin/sh\necho '${line}'\nexec tail -f /dev/null\n`);
  chmodSync(command, 0o755);
  const events: AgentEvent[] = [];
  const run = openCodeAdapter({ name: "test", command, projectSettings: false }).start({
    stage: "worker",
    prompt: "Do it.",
    cwd: root,
    runDir: join(root, "run"),
    runId: `long-wait-${process.pid}`,
    env: { PATH: process.env.PATH ?? "" },
    limits: { deadlineMs: 120_000, silenceMs: 120_000, maxOutputBytes: 10_000, graceMs: 200 },
    signal: new AbortController().signal,
  });
  for await (const event of run) events.push(event);
  const [refusal, done] = [events.at(-2), events.at(-1)];
  assert.ok(refusal?.type === "error" && done?.type === "done");
  assert.deepEqual([refusal.kind, done.exit.reason], ["quota", "refused"]);
});
