import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { commandAdapter } from "../../../src/agents/command/adapter.ts";
import { appears } from "../../testing/agents/agent-scripts.ts";
import { runRequests } from "../../testing/agents/run-requests.ts";

const root = mkdtempSync(join(tmpdir(), "prloom-floods-"));
after(() => rmSync(root, { recursive: true, force: true }));

const LINES = 50_000;

test("a flood of lines that are there already lets others have their turn", { timeout: 120_000 }, async () => {
  const limits = { deadlineMs: 120_000, silenceMs: 120_000, maxOutputBytes: 10_000_000, graceMs: 200 };
  const { runDir, runId, cwd, env } = runRequests(root, "floods")("");
  const adapter = commandAdapter({ name: "flood", command: `seq ${LINES}` });
  const run = adapter.start({
    ...{ runDir, runId, cwd, env, limits },
    prompt: "",
    stage: "worker",
    signal: new AbortController().signal,
  });
  await appears(join(runDir, "exit.json"));
  let turns = 0;
  let isOver = false;
  const others = (): void => {
    turns += 1;
    if (!isOver) setImmediate(others);
  };
  setImmediate(others);
  let texts = 0;
  for await (const { type } of run) if (type === "text") texts += 1;
  isOver = true;
  assert.equal(texts, LINES);
  assert.ok(turns >= 10, `${turns} turns`);
});
