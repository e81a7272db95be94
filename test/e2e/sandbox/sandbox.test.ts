import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { readDaemonInfo } from "../../../src/dispatcher/commands/control.ts";
import { pathsOf } from "../../../src/dispatcher/paths.ts";
import { startDaemon } from "../../testing/daemon.ts";
import { isAlive, makeProject, type Project } from "../../testing/project.ts";

const ATTACKER = fileURLToPath(new URL("../../agents/sandbox/attacker.mjs", import.meta.url));
const CACHE = fileURLToPath(new URL("../../../node_modules/.cache", import.meta.url));
const SECRET = "a-token-of-the-dispatcher";
const isRoot = userInfo().uid === 0;

const cleanUp: (() => void)[] = [];
after(() => {
  for (const one of cleanUp.reverse()) one();
});

/** Not in the temporary folder, which is hidden as a whole: each thing has to be hidden by itself. */
function project(config: Record<string, unknown> = {}): Project {
  mkdirSync(CACHE, { recursive: true });
  const dir = mkdtempSync(join(CACHE, "prloom-attack-"));
  const made = makeProject({ config, dir });
  cleanUp.push(() => {
    made.remove();
    rmSync(dir, { recursive: true, force: true });
  });
  return made;
}

function put(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/** A socket that counts who came. */
function listen(path: string): { server: Server; came: () => number } {
  let count = 0;
  rmSync(path, { force: true });
  const server = createServer((socket) => {
    count += 1;
    socket.destroy();
  });
  server.listen(path);
  server.unref();
  cleanUp.push(() => server.close());
  return { server, came: () => count };
}

/** A process that has nothing to do with the agent. */
function bystander(): ChildProcess {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
  cleanUp.push(() => void child.kill("SIGKILL"));
  return child;
}

const read = (path: string): string => readFileSync(path, "utf8");

/** Everything of the real repository that an agent could want to change. */
function gitState(p: Project): Record<string, string> {
  const git = join(p.root, ".git");
  return {
    refs: p.git("for-each-ref", "refs/heads/main", "refs/heads/other", "refs/tags"),
    config: read(join(git, "config")),
    hooks: readdirSync(join(git, "hooks")).sort().join(" "),
    status: p.git("status", "--porcelain"),
    branches: p.git("branch", "--format=%(refname)").replace("refs/heads/prloom/attack\n", ""),
  };
}

test("an agent that tries to get out reaches nothing", { timeout: 120_000 }, async () => {
  const p = project({ limits: { attemptsPerTodo: 1 } });
  const base = dirname(p.root);
  const targetsFile = join(p.root, "targets.json");
  const agent = { adapter: "command", command: process.execPath, args: [ATTACKER], sandbox: "bwrap" };
  p.config({ agents: { test: { ...agent, env: { TARGETS: targetsFile } } } });
  const marker = `prloom-attack-${process.pid}`;
  const temporary = mkdtempSync(join(tmpdir(), "prloom-attack-"));
  cleanUp.push(() => rmSync(temporary, { recursive: true, force: true }));
  const trap = join(base, "trap");
  mkdirSync(trap);
  const secrets = [
    put(join(p.home, ".ssh/id_ed25519"), "a private key"),
    put(join(p.home, ".aws/credentials"), "a cloud key"),
    put(join(p.home, ".netrc"), "a password"),
    put(join(p.home, ".claude/.credentials.json"), "a login"),
    put(join(p.home, ".bash_history"), "a history"),
    put(join(temporary, "secret"), "in the temporary folder"),
  ];
  p.plan("bystander", ["[slow] Wait"], { status: "draft" });
  p.git("branch", "other");
  const daemon = await startDaemon(p, { GITHUB_TOKEN: SECRET });
  cleanUp.push(() => {
    if (isAlive(daemon.pid)) process.kill(daemon.pid, "SIGKILL");
  });
  const control = readDaemonInfo(pathsOf({ root: p.root, commonDir: join(p.root, ".git") }))?.socket ?? "";
  const inTmp = listen(join(temporary, "service.sock"));
  const inRun = isRoot ? listen(`/run/prloom-test-${process.pid}.sock`) : undefined;
  const other = bystander();
  const local = join(p.root, "prloom/.local");
  const canary = join(base, "canary");
  const home = join(p.authority, "plans/attack");
  const targets = {
    marker,
    secretBackwards: [...SECRET].reverse().join(""),
    root: p.root,
    local,
    commonDir: join(p.root, ".git"),
    canary,
    trap,
    secrets: [...secrets, join(p.authority, "daemon.json"), join(local, "inbox/bystander.md"), join(home, "plan.md")],
    folders: [join(local, "inbox"), join(p.authority, "plans/bystander"), join(p.home, ".ssh")],
    readOnly: [join(p.root, "README.md"), join(p.root, "prloom/config.json"), "/etc/hostname"],
    forged: [
      join(local, "inbox/forged.md"),
      join(p.authority, "plans/forged/state.json"),
      join(home, "state.json"),
      join(home, "plan.md"),
      join(home, "runs/1/exit.json"),
      join(home, "runs/1/process.json"),
      join(home, "runs/1/init.json"),
      join(home, "runs/2/exit.json"),
      join(p.root, ".git/hooks/post-checkout"),
      join(p.root, ".git/config"),
      join(p.root, ".git/refs/heads/main"),
      join(p.root, ".git/info/attributes"),
      join(p.home, ".bashrc"),
      join(p.home, ".claude/settings.json"),
      join(base, "forged"),
      join(userInfo().homedir, ".prloom-forged"),
      join(temporary, "forged"),
      "/var/tmp/prloom-forged",
    ],
    pids: [daemon.pid, process.pid, other.pid],
    sockets: [control, join(temporary, "service.sock"), `/run/prloom-test-${process.pid}.sock`, "/run/docker.sock"],
  };
  // Looked for outside as well: an agent that gets out writes here.
  const corePattern = read("/proc/sys/kernel/core_pattern");
  put(targetsFile, JSON.stringify(targets));
  const before = gitState(p);
  p.plan("attack", ["Get out"]);
  await daemon.said("attack", /in review/);

  const report: Record<string, string> = JSON.parse(read(join(home, "runs/1/agent/report.json")));
  const worked = Object.entries(report).filter(([, outcome]) => outcome.startsWith("worked"));
  assert.deepEqual(worked, [], "the attacker believes that something worked");
  assert.ok(Object.keys(report).length > 100, "the attacker did not try everything");

  assert.equal(read("/proc/sys/kernel/core_pattern"), corePattern);
  for (const path of targets.forged) assert.doesNotMatch(existsSync(path) ? read(path) : "", /attacked/, path);
  for (const path of targets.readOnly) assert.doesNotMatch(read(path), /attacked/, path);
  assert.deepEqual(readdirSync(trap), [], "something was written through a link");
  assert.equal(existsSync(canary), false, "something that the agent wrote was run outside");
  assert.equal(existsSync(join(p.authority, "plans/forged")), false);
  assert.equal(inTmp.came() + (inRun?.came() ?? 0), 0, "something came to a socket");
  assert.ok(isAlive(daemon.pid), "the dispatcher was stopped");
  assert.ok(isAlive(other.pid ?? 0), "another process was ended");
  assert.equal(p.record("bystander").status, "draft");
  assert.deepEqual(gitState(p), before);
  assert.deepEqual(readdirSync(join(p.root, ".git/worktrees")), ["attack"]);
  // What it left alive is gone with it.
  const lingering = p.processes().concat(processesNaming(marker));
  assert.deepEqual(
    lingering.filter((line) => line.includes("while :")),
    [],
  );
  // What was read back of its folders is not what its links led to.
  assert.equal(existsSync(join(home, "runs/1/evidence/secret.txt")), false);
  // And the commit has what it was asked for, without what agents may not touch.
  const files = p.git("show", "--name-only", "--format=", "prloom/attack").trim().split("\n").sort();
  assert.ok(files.includes("work.txt"));
  for (const kept of ["prloom/config.json", ".claude/settings.json", ".opencode/plugin/evil.js", "opencode.json"]) {
    assert.equal(files.includes(kept), false, kept);
  }
  const worktree = p.worktree("attack");
  assert.equal(existsSync(join(worktree, ".claude")), false, "settings of a program stayed for the next run");
  assert.match(read(join(worktree, ".git")), new RegExp(`gitdir: ${p.root}/.git/worktrees/`));
  await daemon.end();
});

function processesNaming(text: string): string[] {
  return readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid) && isAlive(Number(pid)))
    .map((pid) => {
      try {
        return `${pid} ${read(`/proc/${pid}/cmdline`).replaceAll("\0", " ")}`;
      } catch {
        return ""; // it ended meanwhile
      }
    })
    .filter((line) => line.includes(text));
}
