import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { after, before, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { RunExit, RunRequest } from "../../../src/agents/port.ts";
import { countsPerNamespace, groupsFolder, processLimitHere } from "../../../src/agents/runner/process-limit.ts";
import { readExit } from "../../../src/agents/runner/run-exit.ts";
import type { InitRecord } from "../../../src/agents/runner/run-files.ts";
import { endSurvivors, probePidNamespace, startRun } from "../../../src/agents/runner/runner.ts";
import { isInhabited } from "../../../src/agents/runner/survivors.ts";
import { type Mount, NAMESPACE_ARGS, sandboxArgs } from "../../../src/agents/sandbox/args.ts";
import { probeSandbox } from "../../../src/agents/sandbox/probe.ts";
import { identityOf, isAlive, processesOfRun } from "../../../src/kernel/system/process-tree.ts";
import { appears, processesIn } from "../../testing/agents/agent-scripts.ts";
import { runRequests } from "../../testing/agents/run-requests.ts";

const OUTLIVE = fileURLToPath(new URL("../../testing/agents/outlive.pl", import.meta.url));
const isRoot = process.getuid?.() === 0;
const root = mkdtempSync(join(tmpdir(), "prloom-ends-"));
const started: ChildProcess[] = [];
let namespaces = false;
before(async () => {
  namespaces = await probePidNamespace();
});
after(() => {
  for (const child of started) child.kill("SIGKILL");
  rmSync(root, { recursive: true, force: true });
});

const plainRequest = runRequests(root, "ends");
let trees = 0;
function requestFor(shell: string, more: Partial<RunRequest> = {}): RunRequest {
  trees += 1;
  const cwd = join(root, `tree-${trees}`);
  mkdirSync(cwd);
  return plainRequest(shell, {
    cwd,
    stdin: "",
    env: { PATH: process.env.PATH ?? "" },
    wrapper: NAMESPACE_ARGS,
    ...more,
  });
}

const outputOf = ({ runDir }: RunRequest): string => readFileSync(join(runDir, "output.log"), "utf8");
const initOf = (runDir: string): InitRecord => JSON.parse(readFileSync(join(runDir, "init.json"), "utf8"));

/** Arguments of a real sandbox with one folder to write in; undefined where there is none. */
async function sandboxWith(folder: string): Promise<readonly string[] | undefined> {
  const probe = await probeSandbox();
  const mounts: Mount[] = [{ kind: "write", path: folder }];
  return probe.works ? sandboxArgs(mounts, probe.features, totalmem()) : undefined;
}

function needs(context: TestContext, what: Readonly<Record<string, boolean>>): boolean {
  const missing = Object.entries(what).find(([, isThere]) => !isThere)?.[0];
  if (missing !== undefined) context.skip(missing);
  return missing === undefined;
}

const forPerl = (): Record<string, boolean> => ({
  "bubblewrap does not work here": namespaces,
  "perl is not installed": spawnSync("perl", ["-e", "1"]).status === 0,
});
const forOutlive = (): Record<string, boolean> => ({
  ...forPerl(),
  "the attack is written for x86_64": process.arch === "x64",
});

test("an agent that took the namespace's init over is gone when its run ends, and is counted", async (context) => {
  if (!needs(context, forOutlive())) return;
  const request = requestFor("");
  const invocation = { program: "perl", args: [OUTLIVE, request.cwd] };
  const exit = await startRun({ ...request, invocation }).ended;
  const said = readFileSync(join(request.cwd, "said"), "utf8");
  assert.deepEqual(processesIn(request.cwd), []);
  assert(existsSync(join(request.cwd, "stays")));
  if (said.startsWith("no ptrace")) return context.skip("this kernel lets no process be traced by another");
  assert.equal(said, "taken over");
  assert((exit as RunExit).leftBehind >= 1, JSON.stringify(exit));
});

test("in the sandbox it does not even come to that", async (context) => {
  if (!needs(context, forOutlive())) return;
  const request = requestFor("");
  const wrapper = await sandboxWith(request.cwd);
  if (!wrapper) return context.skip("the sandbox does not work here");
  // Where the test itself lies, nothing is seen inside.
  writeFileSync(join(request.cwd, "outlive.pl"), readFileSync(OUTLIVE));
  const invocation = { program: "perl", args: [join(request.cwd, "outlive.pl"), request.cwd] };
  await startRun({ ...request, wrapper, invocation }).ended;
  assert.match(readFileSync(join(request.cwd, "said"), "utf8"), /^no ptrace: Operation not permitted/);
  assert(existsSync(join(request.cwd, "stays")));
  assert.deepEqual(processesIn(request.cwd), []);
});

test("wherever the shim is killed, an agent begins only after its init is written down, and is ended by that", async (context) => {
  if (!needs(context, { "bubblewrap does not work here": namespaces })) return;
  for (const point of ["shim-spawned", "shim-init-recorded", "shim-begun"]) {
    process.env.PRLOOM_SHIM_CRASH_AT = point;
    const limits = { deadlineMs: 120_000, silenceMs: 120_000, maxOutputBytes: 10_000, graceMs: 200, maxProcesses: 50 };
    const request = requestFor("echo begun > begun; exec env -i sleep 600", { limits });
    const run = startRun(request);
    delete process.env.PRLOOM_SHIM_CRASH_AT;
    assert.equal(await run.ended, "interrupted", point);
    const isWritten = existsSync(join(request.runDir, "init.json"));
    assert.equal(isWritten, point !== "shim-spawned", point);
    const init = isWritten ? initOf(request.runDir) : undefined;
    await endSurvivors(request.runDir, { graceMs: 0 });
    if (point !== "shim-begun") assert(!existsSync(join(request.cwd, "begun")), `${point}: the agent began`);
    assert.deepEqual([processesOfRun(request.runId, []), processesIn(request.cwd)], [[], []], point);
    if (init) assert.equal(isAlive(init), false, point);
    if (init?.group !== undefined) assert(!existsSync(init.group), `${point}: ${init.group} is left`);
  }
});

/** A namespace that nothing but its init leads to, as a bwrap without a parent leaves it. */
async function inhabited(): Promise<{ runDir: string; init: InitRecord }> {
  const { runDir, runId, cwd } = requestFor("");
  mkdirSync(runDir);
  const args = ["--dev-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "--info-fd", "3", "--"];
  const child = spawn("bwrap", [...args, "sh", "-c", "echo here > here; sleep 600; :"], {
    cwd,
    env: { PATH: process.env.PATH },
    stdio: ["ignore", "ignore", "inherit", "pipe"],
  });
  started.push(child);
  let told = "";
  for await (const piece of child.stdio[3] as Readable) {
    told += String(piece);
    if (told.includes("}")) break;
  }
  await appears(join(cwd, "here"));
  const info = JSON.parse(told);
  const init = identityOf(info["child-pid"]);
  assert(init);
  child.kill("SIGKILL");
  writeFileSync(join(runDir, "request.json"), JSON.stringify({ runId }));
  writeFileSync(join(runDir, "init.json"), JSON.stringify(init));
  return { runDir, init };
}

test("a run that has an exit and an init that lives is not over, and can be ended", async (context) => {
  if (!needs(context, { "bubblewrap does not work here": namespaces })) return;
  const { runDir, init } = await inhabited();
  writeFileSync(join(runDir, "exit.json"), "{}");
  assert.equal(isInhabited(runDir), true);
  assert((await endSurvivors(runDir, { graceMs: 0 })) >= 2);
  assert.deepEqual([isAlive(init), isInhabited(runDir)], [false, false]);
});

test("an init whose pid was given away, or of another boot, is left alone", async (context) => {
  if (!needs(context, { "bubblewrap does not work here": namespaces })) return;
  const { runDir, init } = await inhabited();
  for (const stale of [{ startTicks: init.startTicks - 1 }, { bootId: "before" }]) {
    writeFileSync(join(runDir, "init.json"), JSON.stringify({ ...init, ...stale }));
    assert.equal(await endSurvivors(runDir, { graceMs: 0 }), 0);
    assert.equal(isAlive(init), true);
  }
  writeFileSync(join(runDir, "init.json"), JSON.stringify(init));
  await endSurvivors(runDir, { graceMs: 0 });
});

/** As many at once as it is let; tells how many. */
const FORKS = `perl -e 'my $n = 0; for (1 .. 200) { my $p = fork(); last unless defined $p; if (!$p) { sleep 600 } $n++ } print "$n\\n"'`;
const MOST = 40;

test("a run has no more processes than it may have", async (context) => {
  if (!needs(context, { ...forPerl(), "nothing limits processes here": processLimitHere() !== undefined })) return;
  const limits = { deadlineMs: 120_000, silenceMs: 120_000, maxOutputBytes: 10_000, graceMs: 200 };
  const free = requestFor(FORKS, { limits });
  await startRun(free).ended;
  assert.equal(outputOf(free), "200\n");
  const held = requestFor(FORKS, { limits: { ...limits, maxProcesses: MOST } });
  assert.equal(((await startRun(held).ended) as RunExit).code, 0);
  const many = Number(outputOf(held));
  assert(many > MOST / 2 && many < MOST, `${many} of ${MOST}`);
  const { group } = initOf(held.runDir);
  if (group !== undefined) assert(!existsSync(group), group);
});

test("an ordinary user's run has no more than it may have, however many that user has elsewhere", async (context) => {
  if (!needs(context, { ...forPerl(), "only root can become another user": isRoot })) return;
  const dir = join(root, "ordinary");
  mkdirSync(dir);
  for (const path of [root, dir]) chmodSync(path, 0o755);
  chownSync(dir, 65534, 65534);
  const runner = new URL("../../../src/agents/runner/runner.ts", import.meta.url).href;
  const limits = { deadlineMs: 60_000, silenceMs: 60_000, maxOutputBytes: 10_000, graceMs: 200, maxProcesses: MOST };
  const request = { ...requestFor(FORKS, { limits }), runDir: join(dir, "run"), cwd: dir };
  const code = `import { startRun } from "${runner}";
    const exit = await startRun(${JSON.stringify(request)}).ended; console.log(JSON.stringify(exit));`;
  const as = ["--reuid=65534", "--regid=65534", "--clear-groups"];
  const elsewhere = spawn("setpriv", [...as, "sh", "-c", `for i in $(seq ${MOST}); do sleep 600 & done; wait`], {
    detached: true,
    stdio: "ignore",
  });
  try {
    const args = [...as, process.execPath, "--input-type=module", "-e", code];
    const { stdout, stderr } = spawnSync("setpriv", args, {
      encoding: "utf8",
      cwd: dir,
      env: { PATH: process.env.PATH },
    });
    assert.match(stdout, /"reason":"exited","code":0/, stderr);
  } finally {
    process.kill(-elsewhere.pid!, "SIGKILL");
  }
  const many = Number(outputOf(request));
  assert(many > MOST / 2 && many < MOST, `${many} of ${MOST}`);
});

const MOUNTS = {
  first: "31 25 0:27 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids",
  other: "30 25 0:26 / /sys/fs/cgroup/cpu rw,relatime shared:1 - cgroup cgroup rw,cpu",
  second: "32 25 0:28 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw",
};

test("control groups are looked for where the kernel has mounted them", () => {
  const { first, other, second } = MOUNTS;
  assert.deepEqual(groupsFolder([second, other, first].join("\n")), { path: "/sys/fs/cgroup/pids", version: 1 });
  assert.deepEqual(groupsFolder([other, second].join("\n")), { path: "/sys/fs/cgroup", version: 2 });
  assert.equal(groupsFolder(other), undefined);
  assert.deepEqual(["5.13.0", "5.14.0-arch", "6.1.0", "4.19.0"].map(countsPerNamespace), [false, true, true, false]);
});

test("in the sandbox nothing can be written in /dev, its shared memory has a size, and the init is not seen", async (context) => {
  const request = requestFor(
    "echo x 2>&1 > /dev/x; echo x > /dev/shm/x && stat -f -c %S:%b /dev/shm; ls /proc/1; echo > /dev/null && echo null; cat /proc/1/mem 2>&1",
  );
  const wrapper = await sandboxWith(request.cwd);
  if (!wrapper) return context.skip("the sandbox does not work here");
  await startRun({ ...request, wrapper }).ended;
  const output = outputOf(request);
  assert.match(output, /\/dev\/x: Read-only file system/);
  assert.match(output, /null\n.*\/proc\/1\/mem: No such file/s);
  const [, unit, blocks] = /^(\d+):(\d+)$/m.exec(output) ?? [];
  if (wrapper.includes("--size")) assert(Number(unit) * (Number(blocks) - 1) <= totalmem() / 4, output);
});

test("a run without a namespace is told apart by nothing of this", async () => {
  const request = requestFor("echo done", { wrapper: [] });
  await startRun(request).ended;
  assert.deepEqual([existsSync(join(request.runDir, "init.json")), readExit(request.runDir)?.code], [false, 0]);
});
