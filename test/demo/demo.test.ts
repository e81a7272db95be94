import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { CLI, COMPILED } from "../testing/program.ts";
import { THOROUGH, thorough } from "../testing/thorough.ts";

const launcher = fileURLToPath(new URL("../../bin/prloom", import.meta.url));

interface Machine {
  readonly dir: string;
  readonly env: Record<string, string>;
  run(program: string, args: string[], cwd: string): { code: number | null; stdout: string; stderr: string };
  prloom(args: string[], cwd: string): string;
  git(args: string[], cwd: string): string;
}

/** A machine on which git was never told who its user is. */
function freshMachine(context: TestContext): Machine {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "prloom-demo-test-")));
  context.after(() => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(join(dir, "home"));
  const own = { HOME: join(dir, "home"), TMPDIR: dir, GIT_CONFIG_NOSYSTEM: "1" };
  const env = { PATH: process.env.PATH ?? "", ...own, ...COMPILED };
  const run: Machine["run"] = (program, args, cwd) => {
    const { status, stdout, stderr } = spawnSync(program, args, { cwd, env, encoding: "utf8", timeout: 120_000 });
    return { code: status, stdout, stderr };
  };
  const must = (program: string, args: string[], cwd: string): string => {
    const { code, stdout, stderr } = run(program, args, cwd);
    assert.equal(code, 0, `${program} ${args.join(" ")}\n${stdout}\n${stderr}`);
    return stdout;
  };
  return {
    dir,
    env,
    run,
    prloom: (args, cwd) => must(process.execPath, [CLI, ...args], cwd),
    git: (args, cwd) => must("git", args, cwd),
  };
}

test("a folder in which no folder can be made is refused, and tried once", (context) => {
  const machine = freshMachine(context);
  writeFileSync(join(machine.dir, "file"), "");
  for (const dir of ["/proc/x", "/proc/x/y", join(machine.dir, "file"), join(machine.dir, "file", "x")]) {
    const { code, stderr } = machine.run(process.execPath, [CLI, "demo", "--dir", dir], machine.dir);
    assert.equal(code, 2, stderr);
    assert.match(stderr, /cannot be made or read: .*\[usage\]\n {2}hint: Name a folder that does not exist yet/);
  }
});

test("the demo works through its plan, and what it proposes to try next works too", (context) => {
  const machine = freshMachine(context);
  const repo = join(machine.dir, "try me");
  const { code, stdout: told, stderr } = machine.run(launcher, ["demo", "--dir", repo], machine.dir);
  assert.equal(code, 0, told + stderr);
  const steps = told.match(/^ {2}\[x\] .+$/gm)?.map((line) => line.slice(6)) ?? [];
  assert.equal(steps.length, 5);
  assert.match(told, /Ready for review: 5 of 5 TODOs, 5 commits, \d+\.\d s\./);
  assert.match(told, /│ edit src\/count\.js/, "what the agent prints is shown while it works");

  const subjects = machine.git(["log", "--reverse", "--format=%s", "main..prloom/tally"], repo);
  assert.deepEqual(subjects.trim().split("\n"), steps);
  const authors = machine.git(["log", "--format=%an <%ae>", "prloom/tally"], repo).trim().split("\n");
  assert.deepEqual([...new Set(authors)], ["prloom <prloom@localhost>"]);

  machine.prloom(["comment", "tally", "Please add a --version flag."], repo);
  machine.prloom(["start", "--until-idle"], repo);
  const shown = JSON.parse(machine.prloom(["show", "tally", "--json"], repo));
  assert.equal(shown.commits.length, 6);
  assert.deepEqual(
    shown.todos.map((todo: { state: string }) => todo.state),
    Array(6).fill("done"),
  );
  assert.equal(shown.thread.length, 3);
  assert.match(shown.thread[2].body, /^Done in [0-9a-f]{12}\.$/);

  machine.prloom(["merge", "tally"], repo);
  machine.git(["diff", "--exit-code"], repo);
  assert.equal(machine.run(process.execPath, ["tally.js", "--version"], repo).stdout, "1.0.0\n");
  const tests = readdirSync(join(repo, "test")).map((name) => join("test", name));
  const result = machine.run(process.execPath, ["--test", ...tests], repo);
  assert.equal(result.code, 0, result.stdout);
  assert.match(readFileSync(join(repo, "README.md"), "utf8"), /--version/);
});

test("Ctrl-C ends it in order: agents are gone, and the summary tells how to go on", thorough, async (context) => {
  const machine = freshMachine(context);
  const repo = join(machine.dir, "stopped");
  const demo = spawn(launcher, ["demo", "--dir", repo], { cwd: machine.dir, env: machine.env });
  let told = "";
  demo.stdout.setEncoding("utf8").on("data", (text: string) => {
    if (!told.includes("│ reading") && (told + text).includes("│ reading")) demo.kill("SIGINT");
    told += text;
  });
  const [code] = await once(demo, "close");
  assert.equal(code, 1, told);
  assert.match(told, /Not finished: 0 of 5 TODOs/);
  assert.match(told, /prloom start --until-idle +# go on where it stopped/);
  const { daemon, plans } = JSON.parse(machine.prloom(["status", "--json"], repo));
  assert.equal(daemon.running, false);
  assert.equal(plans[0].blocked, undefined);
  assert.equal(plans[0].status, "active");
});

test("a folder with something in it is left alone", (context) => {
  const machine = freshMachine(context);
  writeFileSync(join(machine.dir, "home", "diary.txt"), "mine");
  const { code, stderr } = machine.run(process.execPath, [CLI, "demo", "--dir", "home"], machine.dir);
  assert.notEqual(code, 0);
  assert.match(stderr, /is not empty/);
  assert.deepEqual(readdirSync(join(machine.dir, "home")), ["diary.txt"]);
});

test("with --gate the demo shows its plan, and implements it only when a person says yes", thorough, (context) => {
  const machine = freshMachine(context);
  for (const [typed, code, ending] of [
    ["yes\n", 0, /Ready for review/],
    ...(THOROUGH
      ? [["hm\nno\n", 1, /Type yes or no\.[\s\S]*Not approved: 0 of[\s\S]*prloom approve tally/] as const]
      : []),
  ] as const) {
    const args = ["demo", "--gate", "--dir", join(machine.dir, `gate-${code}`)];
    const { env, dir: cwd } = machine;
    const ran = spawnSync(launcher, args, { cwd, env, input: typed, encoding: "utf8", timeout: 120_000 });
    assert.equal(ran.status, code, ran.stdout + ran.stderr);
    assert.match(ran.stdout, /The plan waits for your answer[\s\S]*Type yes to let it be implemented/);
    assert.match(ran.stdout, ending);
  }
});
