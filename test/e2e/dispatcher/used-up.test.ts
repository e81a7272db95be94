import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { findProgram } from "../../../src/kernel/system/find-program.ts";
import { appears } from "../../testing/agents/agent-scripts.ts";
import { startDaemon } from "../../testing/daemon.ts";
import { CLI } from "../../testing/program.ts";
import { makeProject, type Project } from "../../testing/project.ts";
import { thorough } from "../../testing/thorough.ts";

/** `man`, which has no processes of its own here, and no other test has: the limit counts all processes of a user. */
const USER = 6;
const MAX_PROCESSES = "150";
const BECOME = [`--reuid=${USER}`, `--regid=${USER}`, "--clear-groups"];

/** The same project, with the dispatcher as an ordinary user who may have only so many processes. */
function limited(project: Project): Project {
  const env = { PATH: process.env.PATH, HOME: project.home, XDG_RUNTIME_DIR: project.home, NO_COLOR: "1" };
  const spawnCli: Project["spawnCli"] = (args) => {
    own(project);
    const command = [...BECOME, "prlimit", `--nproc=${MAX_PROCESSES}`, process.execPath, CLI, ...args];
    return spawn("setpriv", command, { cwd: project.root, env, stdio: ["ignore", "pipe", "pipe"] });
  };
  return { ...project, spawnCli };
}

function own(project: Project): void {
  execFileSync("chown", ["-R", `${USER}:${USER}`, join(project.root, "..")]);
}

/** Takes every process that is left, again and again, and ends with us: another run of this test could not work beside it. */
async function takeAll(): Promise<ChildProcess> {
  const script =
    "$| = 1; my ($us, $me) = (getppid, $$); while (getppid == $us) { my $p = fork; if (!defined $p) { print qq(full\\n) unless $full++; select undef, undef, undef, 0.01; next } if (!$p) { sleep 1 while getppid == $me; exit } }";
  const command = [...BECOME, "prlimit", `--nproc=${MAX_PROCESSES}`, "perl", "-e", script];
  const hog = spawn("setpriv", command, { detached: true, stdio: ["ignore", "pipe", "inherit"] });
  await once(hog.stdout!, "data");
  return hog;
}

/** Works on its TODO without a process of its own: one that it could not start would be its failure, not prloom's. */
const ALONE = `n=-1 text=
while IFS= read -r line; do
  case $line in "- ["*) n=$((n + 1)); [ $n != "$PRLOOM_TODO_INDEX" ] || line="- [x]\${line#- ???}" ;; esac
  text="$text$line
"
done < "$PRLOOM_PLAN_FILE"
printf %s "$text" > "$PRLOOM_PLAN_FILE"
echo "$PRLOOM_TODO" >> work.txt`;

test("with all processes used up plans wait, say so, and lose no attempt", {
  ...thorough,
  timeout: 240_000,
}, async (context) => {
  if (process.getuid?.() !== 0) return context.skip("needs root to become a user with a limit of its own");
  const bus = { retryMin: "100ms", retryMax: "1s" };
  const project = makeProject({ config: { bus, checks: ["true"], limits: { attemptsPerTodo: 1 } } });
  context.after(() => project.remove());
  const gate = join(project.home, "gate");
  mkdirSync(gate);
  const alone = { adapter: "command", command: "/bin/sh", args: ["-ec", ALONE], sandbox: "none" };
  project.config({ agents: { test: { ...agentOf(project), env: { GATE: gate } }, alone } });
  project.plan("working", ["[waits] one"]);
  const daemon = await startDaemon(limited(project));
  await daemon.said("working", /worker started/);
  await appears(join(project.root, "prloom/.local/worktrees/working/half.txt"));

  const hog = await takeAll();
  context.after(() => endGroup(hog));
  project.plan("late", ["one", "two"], { status: "queued", metadata: { agent: "alone" } });
  own(project);
  writeFileSync(join(gate, "working"), "go on\n");
  await daemon.said("late", /has no .* left, so prloom waits/, 2);
  await daemon.said("working", /has no .* left, so prloom waits/, 2);
  const status = spawnSync("setpriv", [...BECOME, process.execPath, CLI, "status", "--json"], {
    cwd: project.root,
    env: { PATH: process.env.PATH, HOME: project.home, XDG_RUNTIME_DIR: project.home },
    encoding: "utf8",
  });
  const { plans } = JSON.parse(status.stdout) as Awaited<ReturnType<Project["status"]>>;
  assert.equal(plans.length, 2);
  for (const { planId, waiting, blocked } of plans) {
    assert.equal(blocked, undefined, planId);
    assert.match(waiting ?? "", /trying again: This user has no .* left/, planId);
  }

  endGroup(hog);
  await daemon.said("working", /in review/);
  await daemon.said("late", /in review/);
  assert.equal((await daemon.end()).code, 0);
  assert.deepEqual([project.record("working").runs, project.record("working").blocked], [1, undefined]);
});

test("commit hooks that nothing is left for are asked again, and the plan goes on", thorough, async (context) => {
  const bus = { retryMin: "100ms", retryMax: "1s" };
  const project = makeProject({ config: { bus, limits: { attemptsPerTodo: 1 } } });
  context.after(() => project.remove());
  const faked = exhaustedFor(project, "commit --quiet");
  if (faked === undefined) return context.skip("no bwrap");
  const { tries, bin } = faked;
  writeFileSync(join(project.root, ".git/hooks/pre-commit"), "#!/bin/sh\n", { mode: 0o755 });
  project.plan("one", ["one"]);
  const { stdout, stderr } = await project.work({ PATH: `${bin}:${process.env.PATH}` });
  assert.equal(project.record("one").status, "review", stdout + stderr);
  assert.match(stdout, /has no .* left, so prloom waits/);
  assert.equal(readFileSync(tries, "utf8"), "x\n".repeat(3));
});

test(
  "a plugin's agent that nothing is left for is neither a run nor an attempt of the plugin",
  thorough,
  async (context) => {
    const bus = { retryMin: "100ms", retryMax: "1s", maxAttempts: 2 };
    const plugins = { asks: { module: "./asks.mjs" } };
    const project = makeProject({ config: { bus, plugins } });
    context.after(() => project.remove());
    const quiet = { adapter: "command", command: "sh", args: ["-c", "echo quiet"] };
    project.config({
      agents: { test: agentOf(project), quiet },
      stages: { default: "test", designer: "quiet" },
    });
    const faked = exhaustedFor(project, "echo quiet");
    if (faked === undefined) return context.skip("no bwrap");
    const { tries, bin } = faked;
    const code = `export default () => ({ async onEvent(event, ctx) {
    if (event.type !== "comment") return;
    await ctx.runAgent("look", { stage: "designer" });
    ctx.markEventHandled(event.id);
  } });`;
    writeFileSync(join(project.root, "asks.mjs"), code);
    project.plan("one", ["one"]);
    await project.work();
    const { runs } = project.record("one").spent ?? assert.fail("nothing was spent");
    assert.equal((await project.cli(["comment", "one", "what do you think?"])).code, 0);
    const { stdout, stderr } = await project.work({ PATH: `${bin}:${process.env.PATH}` });
    assert.match(stdout, /onEvent:asks waits with .*has no .* left/, stdout + stderr);
    assert.equal(readFileSync(tries, "utf8"), "x\n".repeat(3), stdout);
    assert.equal((await project.status()).dead.count, 0);
    assert.equal(project.record("one").spent?.runs, runs + 1, "only the one that was started counts");
  },
);

/** A bubblewrap that finds nothing left twice, for commands with these words; undefined where there is no real one. */
function exhaustedFor(project: Project, words: string): { tries: string; bin: string } | undefined {
  const real = findProgram("bwrap", process.env.PATH, "/");
  if (real === undefined) return undefined;
  const tries = join(project.home, "tries");
  const lines = [
    "#!/bin/sh",
    `case "$*" in *"${words}"*) echo x >> ${tries}; test $(wc -l < ${tries}) -gt 2 ||`,
    "  { echo 'bwrap: Creating new namespace failed: Resource temporarily unavailable' >&2; exit 1; } ;; esac",
    `exec ${real} "$@"`,
  ];
  const bin = join(project.home, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "bwrap"), lines.join("\n"), { mode: 0o755 });
  return { tries, bin };
}

function endGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-pid!, "SIGKILL");
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, "ESRCH");
  }
}

function agentOf(project: Project): Record<string, unknown> {
  return (project.config() as { agents: { test: Record<string, unknown> } }).agents.test;
}
