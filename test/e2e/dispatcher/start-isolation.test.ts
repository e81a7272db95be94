import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { startDaemon } from "../../testing/daemon.ts";
import { CLI } from "../../testing/program.ts";
import { makeProject, type Project } from "../../testing/project.ts";
import { SEED_NOTE, someOf } from "../../testing/sample.ts";
import { story } from "../../testing/story.ts";
import { inTerminal, NO_TERMINAL } from "../../testing/terminal.ts";
import { thorough } from "../../testing/thorough.ts";
import { BROKEN } from "../fixtures/broken-plans.ts";

/** Those that a test names, and some others. */
const NAMED = ["exit-folder", "exit-pipe", "request-folder", "shadow-deep", "shadow-bytes"];
const DRAWN = someOf(BROKEN, 2);
const PLANS = BROKEN.filter((plan) => NAMED.includes(plan.id) || DRAWN.includes(plan));

const step = story(`what one plan left (${SEED_NOTE})`);
let project: Project;
const made: string[] = [];
after(() => {
  execFileSync("rm", ["-rf", ...made]);
});

step("is of every kind", async () => {
  const bus = { retryMin: "10ms", retryMax: "1h" };
  project = makeProject({ config: { bus, limits: { maxOpenPlans: 100, maxRunningAgents: 4 } } });
  made.push(join(project.root, ".."));
  for (const { id } of PLANS) project.plan(id, ["one"]);
  const result = await project.work();
  assert.equal(result.code, 0, result.stderr);
  for (const { id, breaks } of PLANS) {
    const home = join(project.authority, "plans", id);
    const worktree = project.worktree(id);
    breaks({ home, worktree, run: join(home, "runs", "1"), record: join(home, "state.json") });
  }
  for (const cache of ["plans-index.json", "text-cache.json", "inbox-cache.json"]) {
    rmSync(join(project.authority, cache), { force: true });
    mkdirSync(join(project.authority, cache));
  }
  writeFileSync(join(project.inbox, "not a plan.md"), "x");
  mkdirSync(join(project.inbox, "folder.md"));
  project.plan("good", ["one", "two"]);
});
step("keeps no other plan from working, at this start and at the next", async () => {
  for (const good of ["good", "better"]) {
    if (good === "better") project.plan(good, ["one", "two"]);
    const daemon = await startDaemon(project);
    await daemon.said(good, /in review/);
    for (const { id, blocks } of PLANS) if (blocks && good === "good") await daemon.said(id, /^blocked: /);
    const { code, stderr, stdout } = await daemon.end();
    assert.equal(code, 0, `${stderr}${stdout}`);
    assert.deepEqual(project.commits(good), ["one", "two"]);
  }
  const status = await project.cli(["status"]);
  assert.equal(status.code, 0, status.stderr);
  const report = await project.status();
  for (const { id, says } of PLANS) if (says) assert.match(about(report, id), says, id);
});

step("does not hold up the plan itself where only disk space is lost", async () => {
  for (const { id, says, isLost } of PLANS) {
    if (says || isLost) continue;
    const { status, blocked } = project.record(id);
    assert.deepEqual([status, blocked], ["review", undefined], id);
  }
  assert.equal(existsSync(join(project.authority, "plans/shadow-deep/runs/1/shadow")), false);
  assert.equal(existsSync(join(project.authority, "plans/shadow-bytes/runs/1/shadow")), false);
});

step("is tried again at unblock, which says what is still wrong, and lets the plan go on when nothing is", async () => {
  const exit = join(project.authority, "plans/exit-folder/runs/1/exit.json");
  const refused = await project.cli(["unblock", "exit-folder"]);
  assert.equal(refused.code, 1, refused.stdout);
  assert.match(refused.stderr, /EISDIR.*\[recovery-failed\]/);
  assert.equal(project.record("exit-folder").blocked?.cause, "recovery");
  rmSync(exit, { recursive: true });
  const done = await project.cli(["unblock", "exit-folder"]);
  assert.equal(done.code, 0, done.stderr);
  assert.equal(project.record("exit-folder").blocked, undefined);
});

step("is dealt with by the next start by itself once it can be", async () => {
  rmSync(join(project.authority, "plans/request-folder/runs/1/request.json"), { recursive: true });
  const daemon = await startDaemon(project);
  await daemon.said("request-folder", /cleared up/);
  assert.equal((await daemon.end()).code, 0);
  assert.equal(project.record("request-folder").blocked, undefined);
});

step("does not keep it from being deleted", async () => {
  for (const { id, isLost } of DRAWN) {
    if (isLost) continue;
    const { code, stdout, stderr } = await project.cli(["delete", id, "--yes"]);
    assert.equal(code, 0, `${id}: ${stderr}`);
    assert.match(stdout, new RegExp(`deleted ${id}`));
    assert.equal(existsSync(project.worktree(id)), false, id);
  }
});

/** All that `status` says about a plan: its block and hint, or a problem that names it. */
function about(status: Awaited<ReturnType<Project["status"]>>, id: string): string {
  const plan = status.plans.find(({ planId }) => planId === id);
  const problems = status.problems.filter(({ file }) => file.includes(`plans/${id}`));
  return JSON.stringify([plan, problems]).replaceAll("\\n", "\n");
}

test("what cannot be read of an interrupted run keeps no start in a terminal from working", {
  skip: NO_TERMINAL,
}, async () => {
  const doing =
    'case "$PRLOOM_PLAN_ID" in good) echo x > x; sed -i "s/- \\[ \\]/- [x]/" "$PRLOOM_PLAN_FILE";; *) sleep 60;; esac';
  const w = { adapter: "command", command: "sh", args: ["-c", doing], sandbox: "none" };
  const project = makeProject({ config: { agents: { w }, stages: { default: "w" }, limits: { stopGrace: "200ms" } } });
  made.push(join(project.root, ".."));
  const broken = { exit: "runs/1/exit.json", text: "plan.md" };
  for (const id of Object.keys(broken)) project.plan(id, ["one"]);
  const daemon = await startDaemon(project);
  for (const id of Object.keys(broken)) await daemon.said(id, /worker started/);
  await daemon.end("SIGKILL");
  for (const [id, file] of Object.entries(broken)) {
    const path = join(project.authority, "plans", id, file);
    rmSync(path, { force: true });
    mkdirSync(path);
  }
  project.plan("good", ["one"]);
  const env = { PATH: process.env.PATH ?? "", HOME: project.home, XDG_RUNTIME_DIR: project.home, TERM: "xterm" };
  const line = `'${process.execPath}' '${CLI}' start --until-idle; echo ended $?`;
  const printed = await inTerminal(line, { cwd: project.root, env }).ended;
  assert.match(printed, /ended 0/);
  assert.deepEqual(project.commits("good"), ["one"]);
});

/** Runs a command as a user that is neither root nor any other of this machine. */
function asOrdinary(project: Project, args: readonly string[]): { code: number | null; said: string } {
  const base = join(project.root, "..");
  execFileSync("chown", ["-R", "65534:65534", base]);
  const env = { PATH: process.env.PATH, HOME: project.home, XDG_RUNTIME_DIR: project.home, NO_COLOR: "1" };
  const user = ["--reuid=65534", "--regid=65534", "--clear-groups", process.execPath, CLI, ...args];
  const { status, stdout, stderr } = spawnSync("setpriv", user, { cwd: project.root, env, encoding: "utf8" });
  return { code: status, said: `${stdout}${stderr}` };
}

test(
  "folders that may not be read, of an ordinary user, keep no other plan from working",
  thorough,
  async (context) => {
    if (process.getuid?.() !== 0) return context.skip("needs root to become another user");
    const project = makeProject({ config: { bus: { retryMin: "10ms", retryMax: "1h" } } });
    for (const id of ["shadow", "home", "worktree", "stalled"]) project.plan(id, ["one"]);
    assert.equal(asOrdinary(project, ["start", "--until-idle"]).code, 0);
    const shadow = join(project.authority, "plans/shadow/runs/1/shadow");
    const script = 'mkdir $ARGV[0]; chdir $ARGV[0]; mkdir "\\xff\\xfe"; mkdir "\\xff\\xfe/in"; chmod 0, "\\xff\\xfe"';
    execFileSync("perl", ["-e", script, shadow]);
    const worktree = project.worktree("worktree");
    mkdirSync(join(worktree, "locked", "in"), { recursive: true });
    chmodSync(join(worktree, "locked"), 0);
    chmodSync(join(project.authority, "plans/home"), 0);
    // It is to be blocked for what its watchdog noted, and that cannot be written down.
    const stall = { count: 2, label: "verify", blockedMs: 30_000, of: project.record("stalled").uid };
    const stalls = { schemaVersion: 1, counted: "", plans: { stalled: stall } };
    writeFileSync(join(project.authority, "stalls.json"), JSON.stringify(stalls));
    chmodSync(join(project.authority, "plans/stalled"), 0o500);
    project.plan("good", ["one"]);
    const { code, said } = asOrdinary(project, ["start", "--until-idle"]);
    assert.equal(code, 0, said);
    assert.equal(project.record("good").status, "review", said);
    assert.equal(existsSync(shadow), false, said);
    assert.match(asOrdinary(project, ["status"]).said, /plans\/home.*cannot be used: EACCES/s);
    const deleted = asOrdinary(project, ["delete", "worktree", "--yes"]);
    assert.equal(deleted.code, 0, deleted.said);
    assert.equal(existsSync(worktree), false);
    project.remove();
  },
);

test(
  "a start answers before what a deleted plan left is removed, and --until-idle waits for its end",
  thorough,
  async (context) => {
    const project = makeProject();
    context.after(() => project.remove());
    project.plan("gone", ["one"]);
    await project.work();
    const worktree = project.worktree("gone");
    const inMiddle = { PRLOOM_CRASH_AT: "worktree:forgotten" };
    assert.equal((await project.cli(["delete", "gone", "--yes"], inMiddle)).signal, "SIGKILL");
    const answers = join(project.authority, "daemon.json");
    assert.deepEqual([existsSync(worktree), existsSync(answers)], [true, false]);
    assert.equal((await project.work(inMiddle)).signal, "SIGKILL");
    assert.deepEqual([existsSync(worktree), existsSync(answers)], [true, true]);
    await project.work();
    assert.equal(existsSync(worktree), false);
  },
);
