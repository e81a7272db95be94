import assert from "node:assert/strict";
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { after, test } from "node:test";
import {
  childrenOf,
  endProcesses,
  endRun,
  identityOf,
  isAlive,
  processesOfRun,
  processesWithVariable,
  processTableFromPs,
  signalProcess,
} from "../../../src/kernel/system/process-tree.ts";

const started: ChildProcess[] = [];
after(() => {
  for (const child of started) child.kill("SIGKILL");
});

let count = 0;
function newRunId(): string {
  count += 1;
  return `tree-${process.pid}-${count}`;
}

/** Starts a shell script that prints one line when it is ready; resolves with that line. */
async function shell(script: string, options: SpawnOptions = {}): Promise<{ child: ChildProcess; said: string }> {
  const child = spawn("sh", ["-c", script], { stdio: ["ignore", "pipe", "inherit"], ...options });
  started.push(child);
  const [data] = await once(child.stdout!, "data");
  return { child, said: String(data).trim() };
}

function runEnvironment(runId: string): NodeJS.ProcessEnv {
  return { ...process.env, PRLOOM_RUN_ID: runId };
}

test("a process that was found once is ended, even if it cannot be found again", async () => {
  const { child } = await shell("echo ready; exec sleep 600");
  const who = identityOf(child.pid!);
  assert(who);
  // One that is dying has no environment any more, so a search by that finds nothing, and the process is still there.
  let looks = 0;
  const once = (): number[] => (looks++ === 0 ? [who.pid] : []);
  assert.equal(await endProcesses(once, { graceMs: 10 }), 1);
  assert.equal(isAlive(who), false);
});

test("an identity holds for one process only", async () => {
  const { child } = await shell("echo ready; exec sleep 600");
  const identity = identityOf(child.pid!);
  assert(identity);
  assert.equal(isAlive(identity), true);
  assert.equal(isAlive({ ...identity, startTicks: identity.startTicks + 1 }), false);
  assert.equal(isAlive({ ...identity, bootId: "another boot" }), false);
  child.kill("SIGKILL");
  await once(child, "exit");
  assert.equal(isAlive(identity), false);
  assert.equal(identityOf(child.pid!), undefined);
});

test("a zombie is dead", async () => {
  // A process that tells its number is past the shell that began it, which would have waited for it.
  const { child, said } = await shell('sleep 600 & exec sh -c "echo $!; exec sleep 600"');
  const zombie = identityOf(Number(said));
  assert(zombie);
  process.kill(zombie.pid, "SIGKILL");
  while (isAlive(zombie)) await new Promise((resolve) => setImmediate(resolve));
  // Its parent never waits for it, so the entry is still there.
  assert.equal(process.kill(zombie.pid, 0), true);
  assert.equal(identityOf(zombie.pid), undefined);
  child.kill("SIGKILL");
});

test("a command name with brackets and blanks does not confuse the fields", async () => {
  const child = spawn("perl", ["-e", '$0 = "x) R 1 1 ("; $| = 1; print "ready\\n"; sleep 600'], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  started.push(child);
  await once(child.stdout, "data");
  assert.equal(
    childrenOf(process.pid).some((found) => found.pid === child.pid),
    true,
  );
  child.kill("SIGKILL");
});

test("a run is found by its id, by its group and by descent", async () => {
  const runId = newRunId();
  const carrier = await shell("setsid sh -c 'sleep 600 & echo $!; wait'", { env: runEnvironment(runId) });
  const stranger = await shell("echo ready; exec sleep 600", { env: runEnvironment(`${runId}0`) });
  const grouped = await shell("env -i sleep 600 & echo $!; wait", { detached: true });
  const byId = processesOfRun(runId, []).map((found) => found.pid);
  assert(byId.includes(carrier.child.pid!) && byId.includes(Number(carrier.said)));
  assert(!byId.includes(stranger.child.pid!) && !byId.includes(grouped.child.pid!) && !byId.includes(process.pid));
  const both = processesOfRun(runId, [grouped.child.pid!]).map((found) => found.pid);
  assert(both.includes(grouped.child.pid!) && both.includes(Number(grouped.said)));

  const heirs = await shell("env -i setsid sleep 600 & echo $!; wait", { env: runEnvironment(runId) });
  assert(processesOfRun(runId, []).some((found) => found.pid === Number(heirs.said)));
  const except = [heirs.child.pid!];
  assert(!processesOfRun(runId, [], { except }).some((found) => except.includes(found.pid)));
  assert.equal(
    processesWithVariable(`PRLOOM_RUN_ID=${runId}`).some((found) => found.pid === heirs.child.pid),
    true,
  );

  const ended = await endRun({ id: runId, groups: [grouped.child.pid!] }, { graceMs: 2000 });
  assert(ended >= 5, `${ended}`);
  assert.deepEqual(processesOfRun(runId, [grouped.child.pid!]), []);
  assert(identityOf(stranger.child.pid!));
  stranger.child.kill("SIGKILL");
});

test("those named first are asked first, and end their own", async () => {
  const runId = newRunId();
  const script = "trap 'kill $child; wait; exit 3' TERM; sleep 600 & child=$!; echo ready; wait";
  const { child } = await shell(script, { env: runEnvironment(runId) });
  const exited = once(child, "exit");
  await endRun({ id: runId, groups: [] }, { graceMs: 60_000, signalFirst: [child.pid!] });
  assert.deepEqual(await exited, [3, null]);
});

test("what ignores SIGTERM is killed; what is stopped too", async () => {
  const runId = newRunId();
  const { child } = await shell("trap '' TERM; echo ready; while :; do sleep 0.05; done", {
    env: runEnvironment(runId),
  });
  const stopped = await shell("echo ready; kill -STOP $$", { env: runEnvironment(runId) });
  await endRun({ id: runId, groups: [] }, { graceMs: 100 });
  assert.equal(identityOf(child.pid!), undefined);
  assert.equal(identityOf(stopped.child.pid!), undefined);
});

test("a program that is another process at each look does not get away", async () => {
  const runId = newRunId();
  const script = '$SIG{TERM} = "IGNORE"; $| = 1; print "ready\\n"; for (1 .. 200_000) { fork and exit }';
  const child = spawn("perl", ["-e", script], {
    detached: true,
    env: runEnvironment(runId),
    stdio: ["ignore", "pipe", "inherit"],
  });
  started.push(child);
  await once(child.stdout, "data");
  await endRun({ id: runId, groups: [child.pid!] }, { graceMs: 20 });
  assert.deepEqual(processesOfRun(runId, [child.pid!]), []);
});

test("what cannot be ended is named, and nothing is claimed", async () => {
  await assert.rejects(
    endProcesses(() => [2 ** 22 + 5], { graceMs: 0, giveUpMs: 30 }),
    /could not be ended: 4194309/,
  );
});

test("init, groups and ourselves are never signalled", async () => {
  for (const pid of [process.pid, 1, 0, -1, -process.pid, Number.NaN, 1.5]) signalProcess(pid, "SIGKILL");
  assert.equal(await endProcesses(() => [process.pid, 1, 0, -1], { graceMs: 0, groups: () => [0, 1, process.pid] }), 0);
});

test("`ps` gives the same table, for systems without /proc", async () => {
  const { child } = await shell("echo ready; exec sleep 600", { detached: true });
  const row = processTableFromPs().find((found) => found.pid === child.pid);
  assert.deepEqual([row?.parent, row?.group], [process.pid, child.pid]);
  assert(Number.isFinite(row?.startTicks));
  child.kill("SIGKILL");
});
