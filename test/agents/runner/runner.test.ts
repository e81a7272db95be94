import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { RunExit, RunRequest } from "../../../src/agents/port.ts";
import { readExit } from "../../../src/agents/runner/run-exit.ts";
import type { ProcessRecord } from "../../../src/agents/runner/run-files.ts";
import { endSurvivors, outputTail, startRun } from "../../../src/agents/runner/runner.ts";
import { identityOf, processesOfRun } from "../../../src/kernel/system/process-tree.ts";
import { appears, shimOf } from "../../testing/agents/agent-scripts.ts";
import { runRequests } from "../../testing/agents/run-requests.ts";

const root = mkdtempSync(join(tmpdir(), "prloom-runner-"));
const strangers: ChildProcess[] = [];
after(async () => {
  for (const child of strangers) child.kill("SIGKILL");
  // A test that failed half-way must not leave its agents to the machine.
  for (const name of readdirSync(root)) await endSurvivors(join(root, name), { graceMs: 0 });
  rmSync(root, { recursive: true, force: true });
});

const requestFor = runRequests(root, "runner");

const STUBBORN = "trap '' TERM; echo $$ > \"$PRLOOM_RUN_DIR/agent\"; while :; do sleep 0.05; done";

function processFile(runDir: string): string {
  return join(runDir, "process.json");
}

/** process.json once the agent is in it: the shim can only write that after the agent's start. */
async function recordedAgent(runDir: string): Promise<ProcessRecord> {
  for (;;) {
    const record = JSON.parse(readFileSync(processFile(runDir), "utf8")) as ProcessRecord;
    if (record.agentPid !== undefined) return record;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A run whose shim was killed: what a crash of the whole machine room but not of the agent leaves. */
async function orphaned(shell = STUBBORN): Promise<{ request: RunRequest; agent: number }> {
  const request = requestFor(shell);
  const run = startRun(request);
  await appears(join(request.runDir, "agent", "agent"));
  await recordedAgent(request.runDir);
  process.kill(shimOf(request.runDir), "SIGKILL");
  assert.equal(await run.ended, "interrupted");
  const agent = Number(readFileSync(join(request.runDir, "agent", "agent"), "utf8"));
  assert(identityOf(agent));
  return { request, agent };
}

/** A process that is not the run's, leader of its own group. */
async function stranger(): Promise<number> {
  const child = spawn("sh", ["-c", "echo ready; exec sleep 600"], {
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  strangers.push(child);
  await once(child.stdout!, "data");
  return child.pid!;
}

test("a run leaves its files, readable by this user alone, and its exit last", async () => {
  const request = requestFor("cat; echo; env");
  const run = startRun(request);
  const exit = await run.ended;
  assert(exit !== "interrupted");
  assert.deepEqual([exit.reason, exit.code], ["exited", 0]);
  assert.deepEqual(readdirSync(request.runDir).sort(), [
    "agent",
    "exit.json",
    "output.log",
    "process.json",
    "prompt.md",
    "request.json",
    "shim.log",
  ]);
  for (const name of ["request.json", "prompt.md", "process.json", "output.log"]) {
    assert.equal(statSync(join(request.runDir, name)).mode & 0o077, 0, name);
  }
  assert.equal(readFileSync(join(request.runDir, "shim.log"), "utf8"), "");
  const names = outputTail(request.runDir, 10_000)
    .split("\n")
    .slice(1)
    .map((line) => line.split("=")[0]);
  assert.deepEqual(names.filter((name) => !["", "PWD", "SHLVL", "_", "OLDPWD"].includes(name!)).sort(), [
    "PATH",
    "PRLOOM_RUN_DIR",
    "PRLOOM_RUN_ID",
  ]);
  await run.stop();
  assert.deepEqual(readExit(request.runDir), exit);
});

test("process.json names the shim and the agent", async () => {
  const request = requestFor(STUBBORN);
  const run = startRun(request);
  await appears(join(request.runDir, "agent", "agent"));
  const agent = Number(readFileSync(join(request.runDir, "agent", "agent"), "utf8"));
  const record = await recordedAgent(request.runDir);
  const shim = identityOf(record.pid);
  assert.deepEqual([record.startTicks, record.bootId, record.pgid], [shim?.startTicks, shim?.bootId, record.pid]);
  assert.deepEqual([record.agentPid, record.agentPgid], [agent, agent]);
  assert.equal(record.agentStartTicks, identityOf(agent)?.startTicks);
  assert.equal(record.runId, request.runId);
  await run.stop();
  assert.equal(await run.ended, "interrupted");
  assert.equal(identityOf(agent), undefined);
});

/** What a descriptor leads to; "" when it was closed meanwhile, and so holds nothing. */
function linkOf(pid: number, fd: string): string {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

test("the shim holds none of our descriptors and has no secret in its environment", async () => {
  process.env.PRLOOM_TEST_SECRET = "s3cret";
  const mine = join(root, "daemon.lock");
  const held = openSync(mine, "w");
  const request = requestFor(STUBBORN);
  const run = startRun(request);
  delete process.env.PRLOOM_TEST_SECRET;
  await appears(join(request.runDir, "agent", "agent"));
  const environment = readFileSync(`/proc/${shimOf(request.runDir)}/environ`, "utf8");
  assert(!environment.includes("s3cret"));
  assert(environment.includes(`PRLOOM_SHIM_OF=${request.runId}`));
  const links = readdirSync(`/proc/${shimOf(request.runDir)}/fd`).map((fd) => linkOf(shimOf(request.runDir), fd));
  assert(!links.includes(mine), links.join(" "));
  closeSync(held);
  await run.stop();
});

test("what an earlier start under the same number left does not speak for this run", async () => {
  const request = requestFor("exit 4");
  mkdirSync(request.runDir, { recursive: true });
  writeFileSync(join(request.runDir, "exit.json"), JSON.stringify({ reason: "exited", code: 0 }));
  writeFileSync(processFile(request.runDir), "{");
  const exit = await startRun(request).ended;
  assert.equal((exit as RunExit).code, 4);
});

test("two stops, and a stop after the end, are one stop", async () => {
  const request = requestFor(STUBBORN);
  const run = startRun(request);
  await appears(join(request.runDir, "agent", "agent"));
  await Promise.all([run.stop(), run.stop()]);
  await run.stop();
  assert.equal(await run.ended, "interrupted");
  assert.deepEqual(processesOfRun(request.runId, []), []);
});

test("a stop right after the start leaves nothing", async () => {
  for (let round = 0; round < 5; round += 1) {
    const request = requestFor(STUBBORN);
    const run = startRun(request);
    await run.stop();
    assert.equal(await run.ended, "interrupted");
    assert.deepEqual(processesOfRun(request.runId, []), []);
  }
});

test("a shim that hangs is ended with its agent", async () => {
  const { request } = await orphaned();
  const child = spawn("sleep", ["600"], { env: { PATH: process.env.PATH, PRLOOM_SHIM_OF: request.runId } });
  strangers.push(child);
  await once(child, "spawn");
  assert((await endSurvivors(request.runDir, { graceMs: 100 })) >= 2);
  assert.equal(identityOf(child.pid!), undefined);
});

test("survivors are ended with process.json, without it, and with a torn one", async () => {
  for (const damage of ["none", "missing", "torn", "foreign"]) {
    const { request, agent } = await orphaned();
    if (damage === "missing") rmSync(processFile(request.runDir));
    if (damage === "torn") writeFileSync(processFile(request.runDir), '{"runId":"');
    if (damage === "foreign") writeFileSync(processFile(request.runDir), '["x"]');
    assert((await endSurvivors(request.runDir, { graceMs: 100 })) >= 1, damage);
    assert.equal(identityOf(agent), undefined, damage);
    assert.equal(readExit(request.runDir), undefined);
    assert.equal(await endSurvivors(request.runDir, { graceMs: 100 }), 0);
  }
});

test("a survivor in the agent's group is found without its environment, and after the agent itself died", async () => {
  const { request, agent } = await orphaned("env -i sh -c 'sleep 600; :' & echo $! > \"$PRLOOM_RUN_DIR/agent\"; wait");
  const { agentPid } = await recordedAgent(request.runDir);
  assert(agentPid !== undefined);
  process.kill(agentPid, "SIGKILL");
  while (identityOf(agentPid)) await new Promise((resolve) => setImmediate(resolve));
  await endSurvivors(request.runDir, { graceMs: 100 });
  assert.equal(identityOf(agent), undefined);
});

test("a shim that still lives is ended before its agent, so no exit appears", async () => {
  const request = requestFor(STUBBORN);
  const run = startRun(request);
  await appears(join(request.runDir, "agent", "agent"));
  rmSync(processFile(request.runDir));
  assert((await endSurvivors(request.runDir, { graceMs: 100 })) >= 2);
  assert.equal(await run.ended, "interrupted");
  assert.deepEqual(processesOfRun(request.runId, []), []);
});

test("pids that were given to strangers, and everything after a restart, are left alone", async () => {
  const pid = await stranger();
  const now = identityOf(pid)!;
  const write = (record: object): string => {
    const { runDir, runId } = requestFor("true");
    mkdirSync(runDir);
    writeFileSync(join(runDir, "request.json"), JSON.stringify({ runId }));
    writeFileSync(processFile(runDir), JSON.stringify({ runId, pgid: pid, ...record }));
    return runDir;
  };
  const old = now.startTicks - 1;
  const agent = { agentPid: pid, agentPgid: pid };
  const cases = {
    "shim's pid": { ...now, startTicks: old },
    "agent's pid": { ...now, startTicks: old, ...agent, agentStartTicks: old },
    "agent's pid, start unknown": { ...now, startTicks: old, ...agent },
    "other boot": { ...now, bootId: "before", ...agent, agentStartTicks: now.startTicks },
  };
  for (const [name, record] of Object.entries(cases)) {
    assert.equal(await endSurvivors(write(record), { graceMs: 0 }), 0, name);
    assert(identityOf(pid), name);
  }
  assert.equal(await endSurvivors(join(root, "no-such-run"), { graceMs: 0 }), 0);
});

test("a shim that is killed at each of its steps leaves an interrupted run that can be cleaned", async () => {
  for (const point of ["shim-told", "shim-recorded", "shim-spawned", "shim-exit"]) {
    process.env.PRLOOM_SHIM_CRASH_AT = point;
    const request = requestFor("sleep 0.1");
    const run = startRun(request);
    delete process.env.PRLOOM_SHIM_CRASH_AT;
    assert.equal(await run.ended, "interrupted", point);
    await endSurvivors(request.runDir, { graceMs: 100 });
    assert.deepEqual(processesOfRun(request.runId, []), [], point);
    assert.equal(readExit(request.runDir), undefined, point);
  }
});

test("a torn or foreign exit.json is not an exit", () => {
  const dir = join(root, "exits");
  mkdirSync(dir);
  for (const text of ["", "{", "[]", '{"reason":"finished"}', "null"]) {
    writeFileSync(join(dir, "exit.json"), text);
    assert.equal(readExit(dir), undefined, text);
  }
});

test("the tail begins with a whole character", () => {
  const dir = join(root, "tail");
  mkdirSync(dir);
  assert.equal(outputTail(dir, 10), "");
  writeFileSync(join(dir, "output.log"), "aü€😀");
  const tails = Array.from({ length: 11 }, (_, bytes) => outputTail(dir, bytes));
  assert.deepEqual(tails, ["", "", "", "", "😀", "😀", "😀", "€😀", "€😀", "ü€😀", "aü€😀"]);
});
