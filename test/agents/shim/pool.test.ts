import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { RunExit, RunRequest } from "../../../src/agents/port.ts";
import { readExit } from "../../../src/agents/runner/run-exit.ts";
import { endSurvivors, readUnstarted, startRun } from "../../../src/agents/runner/runner.ts";
import { Shim, ShimPool } from "../../../src/agents/shim/pool.ts";
import { DONE, SAID } from "../../../src/agents/shim/shim-protocol.ts";
import { identityOf } from "../../../src/kernel/system/process-tree.ts";
import { usedUp } from "../../../src/kernel/system/used-up.ts";
import { appears, processesIn, shimOf } from "../../testing/agents/agent-scripts.ts";
import { runRequests } from "../../testing/agents/run-requests.ts";

const root = mkdtempSync(join(tmpdir(), "prloom-shims-"));
const pools: ShimPool[] = [];
after(async () => {
  await Promise.all(pools.map((pool) => pool.close()));
  rmSync(root, { recursive: true, force: true });
});

function makePool(): ShimPool {
  const pool = new ShimPool(root);
  pools.push(pool);
  return pool;
}

const requestFor = runRequests(root, "shims");

const WAITS = 'echo here > "$PRLOOM_RUN_DIR/agent"; exec sleep 600';
const isHere = ({ runDir }: RunRequest): Promise<unknown> => appears(join(runDir, "agent", "agent"));
const outputOf = ({ runDir }: RunRequest): string => readFileSync(join(runDir, "output.log"), "utf8");

async function isGone(pid: number): Promise<void> {
  while (identityOf(pid)) await new Promise((resolve) => setImmediate(resolve));
}

/** A run that is complete; returns the pid of its shim. */
async function complete(shims: ShimPool, shell = "true"): Promise<number> {
  const request = requestFor(shell, { shims });
  assert.equal(((await startRun(request).ended) as RunExit).reason, "exited");
  return shimOf(request.runDir);
}

test("one run after the other has the same shim, and each has its own environment, output and exit", async () => {
  const shims = makePool();
  const requests = ["echo $PRLOOM_RUN_DIR; exit 3", "echo $PRLOOM_RUN_DIR >&2; exit 4"].map((shell) =>
    requestFor(shell, { shims }),
  );
  for (const request of requests) await startRun(request).ended;
  const [first, second] = requests;
  assert(first && second);
  assert.equal(shimOf(first.runDir), shimOf(second.runDir));
  assert.deepEqual(
    requests.map(({ runDir }) => readExit(runDir)?.code),
    [3, 4],
  );
  assert.deepEqual(
    requests.map(outputOf),
    requests.map(({ env }) => `${env.PRLOOM_RUN_DIR}\n`),
  );
  for (const { runDir } of requests) assert.equal(readFileSync(join(runDir, "shim.log"), "utf8"), "");
  const environment = readFileSync(`/proc/${shimOf(first.runDir)}/environ`, "utf8");
  assert.doesNotMatch(environment, /PRLOOM_RUN_ID|PRLOOM_SHIM_OF|PRLOOM_RUN_DIR/);
});

test("its pipes are made for several runs at once, and each run has its own", async (t) => {
  const programs = join(root, "programs");
  const calls = join(root, "calls");
  mkdirSync(programs);
  const program = `#!/bin/sh\necho called >> ${calls}\nPATH=\${PATH#*:} exec mkfifo "$@"\n`;
  writeFileSync(join(programs, "mkfifo"), program, { mode: 0o755 });
  const { PATH } = process.env;
  t.after(() => {
    process.env.PATH = PATH;
  });
  process.env.PATH = `${programs}:${PATH}`;
  const shims = makePool();
  const requests = [1, 2, 3, 4, 5].map((number) =>
    requestFor(`echo ${number}; exec >&-; echo ${number} >&2`, { shims }),
  );
  for (const request of requests) await startRun(request).ended;
  assert.deepEqual(requests.map(outputOf), ["1\n1\n", "2\n2\n", "3\n3\n", "4\n4\n", "5\n5\n"]);
  assert.equal(new Set(requests.map(({ runDir }) => shimOf(runDir))).size, 1);
  assert.equal(readFileSync(calls, "utf8"), "called\ncalled\n");
  for (const { runDir } of requests)
    assert.deepEqual(
      readdirSync(runDir).filter((name) => name.startsWith(".")),
      [],
    );
});

test("runs at the same time have a shim each, and what waits is ended with the pool", async () => {
  const shims = makePool();
  const requests = [1, 2, 3].map(() => requestFor("true", { shims }));
  const runs = requests.map(startRun);
  await Promise.all(runs.map(({ ended }) => ended));
  const pids = requests.map(({ runDir }) => shimOf(runDir));
  assert.equal(new Set(pids).size, 3);
  assert(pids.every((pid) => identityOf(pid)));
  await shims.close();
  assert(pids.every((pid) => !identityOf(pid)));
});

test("each conversation hears its own program only, to its end", async () => {
  const shims = makePool();
  const limits = { deadlineMs: 120_000, silenceMs: 120_000, maxOutputBytes: 10_000_000, graceMs: 200 };
  for (const name of ["one", "two"]) {
    const shell = `read line; echo "${name} $line"; seq 30000; echo end`;
    const run = startRun(requestFor(shell, { shims, limits, opening: ["hello"] }));
    const lines: string[] = [];
    for await (const line of run.lines()) lines.push(line);
    assert.equal(((await run.ended) as RunExit).code, 0);
    assert.deepEqual([lines[0], lines.length, lines.at(-1)], [`${name} hello`, 30_002, "end"]);
  }
});

test("a run is heard, however much the one before said in the moment of its end", { timeout: 60_000 }, async () => {
  const shim = new Shim(spawn("sh", ["-c", 'while read -r file; do cat "$file"; done'], { stdio: "pipe" }));
  const line = `${SAID}${Buffer.alloc(64 * 1024).toString("base64")}\n`;
  for (let count = 1; count <= 5; count += 1) {
    const file = join(root, `said-${count}`);
    writeFileSync(file, `${line.repeat(count)}${DONE}\n`);
    const said = shim.attach({ done: () => undefined, gone: () => undefined });
    shim.tell(file);
    let bytes = 0;
    for await (const chunk of said) bytes += (chunk as Buffer).length;
    assert.equal(bytes, count * 64 * 1024);
  }
  shim.dismiss("");
});

test("a program that says more than is taken leaves nothing behind each time that it waits", {
  timeout: 60_000,
}, async () => {
  const shim = new Shim(spawn("sh", ["-c", 'read -r file; cat "$file"; cat'], { stdio: "pipe" }));
  const file = join(root, "said-much");
  writeFileSync(file, `${`${SAID}${Buffer.alloc(64 * 1024).toString("base64")}\n`.repeat(200)}${DONE}\n`);
  const said = shim.attach({ done: () => undefined, gone: () => undefined });
  const before = said.listenerCount("close");
  shim.tell(file);
  let most = 0;
  for await (const _chunk of said) {
    most = Math.max(most, said.listenerCount("close"));
    await new Promise((resolve) => setImmediate(resolve));
  }
  shim.dismiss("");
  assert.ok(most < before + 5, `${most} listeners`);
});

test("what a run left where nothing finds it does not speak in the next run of its shim", async () => {
  const shims = makePool();
  for (const opening of [undefined, ["hello"]]) {
    const talks = opening === undefined ? {} : { opening };
    const [go, gone] = ["go", "gone"].map((name) =>
      join(root, `${name}-${opening === undefined ? "silent" : "talks"}`),
    );
    const late = `trap "" PIPE; until [ -e ${go} ]; do sleep 0.05; done; echo late; echo late; echo over > ${gone}`;
    const first = requestFor(`setsid env -i PATH="$PATH" sh -c '${late}' & sleep 0.2`, { shims, ...talks });
    assert.equal(((await startRun(first).ended) as RunExit).reason, "exited");
    const second = requestFor(`echo mine; echo > ${go}; until [ -e ${gone} ]; do sleep 0.05; done; sleep 0.2`, {
      shims,
      ...talks,
    });
    const run = startRun(second);
    const lines: string[] = [];
    for await (const line of run.lines()) lines.push(line);
    assert.equal(((await run.ended) as RunExit).reason, "exited");
    assert.deepEqual([outputOf(second), lines], ["mine\n", ["mine"]]);
  }
});

test("a shim whose run was stopped is not used again", async () => {
  const shims = makePool();
  const request = requestFor(WAITS, { shims });
  const run = startRun(request);
  await isHere(request);
  await run.stop();
  assert.equal(await run.ended, "interrupted");
  assert.equal(identityOf(shimOf(request.runDir)), undefined);
  assert.notEqual(await complete(shims), shimOf(request.runDir));
});

test("what is said to a run that is over does not reach the next run of its shim", async () => {
  const shims = makePool();
  const first = startRun(requestFor("true", { shims }));
  await first.ended;
  const request = requestFor(WAITS, { shims });
  const run = startRun(request);
  await isHere(request);
  assert.equal(shimOf(request.runDir), shimOf(first.runDir));
  first.endByPolicy("too late");
  await first.stop();
  assert(identityOf(shimOf(request.runDir)));
  run.endByPolicy("now");
  const exit = (await run.ended) as RunExit;
  assert.deepEqual([exit.reason, exit.error], ["policy", "now"]);
});

test("clearing up after a complete run leaves its shim to the run that it has now", async () => {
  const shims = makePool();
  const over = requestFor("true", { shims });
  await startRun(over).ended;
  const request = requestFor(WAITS, { shims });
  const run = startRun(request);
  await isHere(request);
  assert.equal(shimOf(request.runDir), shimOf(over.runDir));
  assert.equal(await endSurvivors(over.runDir, { graceMs: 0 }), 0);
  assert(identityOf(shimOf(request.runDir)));
  // That of the run itself ends it.
  assert((await endSurvivors(request.runDir, { graceMs: 0 })) >= 2);
  assert.equal(await run.ended, "interrupted");
  assert.equal(readExit(request.runDir), undefined);
});

const agents = new URL("../../../src/agents/", import.meta.url).href;

/** A process that starts a complete run, and then the one that is given. */
function daemonWith(requests: readonly RunRequest[], env: NodeJS.ProcessEnv = {}): ReturnType<typeof spawn> {
  const code = `import { startRun } from "${agents}runner/runner.ts"; import { ShimPool } from "${agents}shim/pool.ts";
    const shims = new ShimPool(${JSON.stringify(root)});
    for (const request of ${JSON.stringify(requests)}) await startRun({ ...request, shims }).ended;`;
  return spawn(process.execPath, ["--input-type=module", "-e", code], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "inherit"],
  });
}

test("a daemon that has nothing to do but to keep shims ends, and they end with it", async () => {
  const request = requestFor("true");
  const daemon = daemonWith([request]);
  const [code] = await once(daemon, "exit");
  assert.equal(code, 0);
  await isGone(shimOf(request.runDir));
});

test("when its daemon is killed, a shim ends what it has, whichever run that is", async () => {
  const requests = [requestFor("true"), requestFor(WAITS)];
  const last = requests[1]!;
  mkdirSync(join(last.runDir, "agent"), { recursive: true });
  const daemon = daemonWith(requests);
  await isHere(last);
  assert.equal(shimOf(last.runDir), shimOf(requests[0]!.runDir));
  daemon.kill("SIGKILL");
  await isGone(shimOf(last.runDir));
  assert.deepEqual([readExit(last.runDir), processesIn(last.runDir)], [undefined, []]);
});

test("a daemon that is killed before it told a waiting shim of a run leaves nothing that could begin it", async () => {
  const requests = [requestFor("true"), requestFor(WAITS)];
  const daemon = daemonWith(requests, { PRLOOM_CRASH_AT: "run-recorded:2" });
  const [, signal] = await once(daemon, "exit");
  assert.equal(signal, "SIGKILL");
  const last = requests[1]!;
  const pid = shimOf(last.runDir);
  await endSurvivors(last.runDir, { graceMs: 0 });
  assert.equal(identityOf(pid), undefined);
});

// The last three: after them every run of this process has a new shim for a while.
test("a shim that is killed while it waits is replaced", async () => {
  const shims = makePool();
  const pid = await complete(shims);
  process.kill(pid, "SIGKILL");
  await isGone(pid);
  let next = pid;
  // The news of its end may be on the way: then the run is told that it was interrupted, as with every shim that dies.
  while (next === pid) {
    const request = requestFor("true", { shims });
    const ended = await startRun(request).ended;
    if (ended === "interrupted") continue;
    assert.equal(ended.reason, "exited");
    next = shimOf(request.runDir);
  }
});

test("where processes are scarce a run has a new shim, which finds out whether there are enough", async () => {
  const shims = makePool();
  const waiting = await complete(shims);
  usedUp("processes", "a test", undefined);
  assert.notEqual(await complete(shims), waiting);
  await isGone(waiting);
});

test("a shim that dies before it has begun is told as used-up processes only where it found nothing left", async () => {
  const died = async (script: string): Promise<boolean> => {
    const shims = makePool();
    const request = requestFor("true", { shims });
    shims.take = () => new Shim(spawn("sh", ["-c", script, "sh", join(request.runDir, "shim.log")], { stdio: "pipe" }));
    assert.equal(await startRun(request).ended, "interrupted", script);
    return readUnstarted(request.runDir) !== undefined;
  };
  assert.equal(await died("exit 1"), false);
  assert.equal(await died(`echo "Error: Cannot find module 'shim.js'" > "$1"; exit 1`), false);
  assert.equal(await died("kill -KILL $$"), false);
  assert.equal(await died(`echo "Error: ENFILE: file table overflow, open 'shim.js'" > "$1"; exit 1`), true);
  for (const signal of ["ABRT", "TRAP", "SEGV"]) assert.equal(await died(`kill -${signal} $$`), true, signal);
});
