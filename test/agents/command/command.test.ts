import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { commandAdapter, invocationOf } from "../../../src/agents/command/adapter.ts";
import type { AgentEvent } from "../../../src/agents/port.ts";
import { findProgram } from "../../../src/kernel/system/find-program.ts";
import { agentContract } from "../../testing/agents/agent-contract.ts";

const adapterModule = new URL("../../../src/agents/command/adapter.ts", import.meta.url).href;
const dir = mkdtempSync(join(tmpdir(), "prloom-command-"));
after(() => rmSync(dir, { recursive: true, force: true }));

agentContract("command", {
  make: (program) => commandAdapter({ name: "test", command: program }),
  source: `import { commandAdapter } from ${JSON.stringify(adapterModule)};
    export const make = (program) => commandAdapter({ name: "test", command: program });`,
});

test("blanks without args mean the shell, anything else a program", () => {
  assert.deepEqual(invocationOf({ command: "agent" }), { program: "agent", args: [] });
  assert.deepEqual(invocationOf({ command: "agent --fast | tee x" }), { shell: "agent --fast | tee x" });
  assert.deepEqual(invocationOf({ command: "my agent", args: ["a b"] }), { program: "my agent", args: ["a b"] });
  assert.deepEqual(invocationOf({ command: "my agent", args: [] }), { program: "my agent", args: [] });
  assert.deepEqual(invocationOf({ command: " agent\n" }), { program: "agent", args: [] });
});

test("a shell command prints lines as text events, then done", async () => {
  const runDir = join(dir, "run");
  const events: AgentEvent[] = [];
  const adapter = commandAdapter({
    name: "test",
    command: 'echo "model $PRLOOM_MODEL"; cat; printf "no newline"',
    model: "m1",
  });
  for await (const event of adapter.start({
    stage: "worker",
    prompt: "first\r\n\nthird ü\n",
    cwd: dir,
    runDir,
    runId: `command-${process.pid}`,
    env: { PATH: process.env.PATH ?? "" },
    limits: { deadlineMs: 60_000, silenceMs: 60_000, maxOutputBytes: 10_000, graceMs: 1000 },
    signal: new AbortController().signal,
  })) {
    events.push(event);
  }
  const texts = events.map((event) => (event.type === "text" ? event.text : event.type));
  assert.deepEqual(texts, ["model m1", "first", "", "third ü", "no newline", "done"]);
});

test("programs are found as the system finds them", () => {
  const bin = join(dir, "bin");
  mkdirSync(join(bin, "folder"), { recursive: true });
  writeFileSync(join(bin, "tool"), "#!/bin/sh\n", { mode: 0o755 });
  writeFileSync(join(bin, "text"), "", { mode: 0o644 });
  const path = `/no/such/folder:${bin}`;
  assert.equal(findProgram("tool", path, "/"), join(bin, "tool"));
  assert.equal(findProgram("text", path, "/"), undefined);
  assert.equal(findProgram("folder", path, "/"), undefined);
  assert.equal(findProgram("./bin/tool", "", dir), join(bin, "tool"));
  assert.equal(findProgram(join(bin, "tool"), undefined, "/"), join(bin, "tool"));
  assert.equal(findProgram("tool", undefined, "/"), undefined);
  assert.equal(findProgram("", path, "/"), undefined);
});
