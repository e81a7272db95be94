import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import type { StatusReport } from "../../src/dispatcher/report/read.ts";
import type { PlanRecord } from "../../src/plan/record.ts";
import { CLI, NODE_FLAGS } from "./program.ts";
import { THOROUGH } from "./thorough.ts";

export const TEST_AGENT = fileURLToPath(new URL("./agents/test-agent.mjs", import.meta.url));
/** The same, quicker where it does what agents mostly do. */
const QUICK_AGENT = fileURLToPath(new URL("./agents/test-agent.sh", import.meta.url));

export interface CliResult {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A repository of its own with prloom set up in it, driven through the real CLI. */
export interface Project {
  readonly root: string;
  readonly home: string;
  readonly authority: string;
  /** Runs the CLI to its end. */
  cli(args: readonly string[], env?: Record<string, string>): Promise<CliResult>;
  /** Starts the CLI and leaves it running. */
  spawnCli(args: readonly string[], env?: Record<string, string>, cli?: string): ChildProcess;
  /** `prloom start --until-idle`. */
  work(env?: Record<string, string>): Promise<CliResult>;
  status(): Promise<StatusReport>;
  readonly inbox: string;
  /** Puts a plan into the inbox; queued unless `meta` says otherwise. */
  plan(id: string, todos: readonly string[], meta?: Record<string, unknown>): void;
  /** Puts any bytes into the inbox as a plan's text; queued unless `meta` says otherwise. */
  planFile(id: string, text: string | Uint8Array, meta?: Record<string, unknown>): void;
  /** The config file as it is; `change` is merged over it and written. */
  config(change?: Record<string, unknown>): Record<string, unknown>;
  /** Subjects of the commits on a plan's branch, oldest first. */
  commits(id: string): string[];
  /** A file of one of a plan's runs. */
  runFile(id: string, run: number, name: string): string;
  /** What a run's agent had in its environment. */
  environment(id: string, run: number): Record<string, string>;
  /** Processes that this project started and that are alive, whatever group they are in. */
  processes(): string[];
  record(id: string): PlanRecord;
  /** Where a plan's worktree is while there is one. */
  worktree(id: string): string;
  planText(id: string): string;
  git(...args: string[]): string;
  remove(): void;
}

export interface ProjectOptions {
  readonly behaviour?: string;
  readonly env?: Record<string, string>;
  /** `none` unless given: most tests talk to their agents through files that a sandbox hides. */
  readonly sandbox?: "auto" | "bwrap" | "none";
  /** Merged over the config that the project starts with. */
  readonly config?: Record<string, unknown>;
  /** Where to make it; a temporary folder by default. */
  readonly dir?: string;
}

/** Folders of projects that were not removed. */
const kept = new Set<string>();

// A test that fails leaves its dispatcher, and the test's process would wait for that for ever. The files stay, to be read.
after(() => {
  for (const base of kept) endProcesses(base);
});

export function makeProject(options: ProjectOptions = {}): Project {
  const base = options.dir ?? mkdtempSync(join(tmpdir(), "prloom-e2e-"));
  kept.add(base);
  const root = join(base, "repo");
  const home = join(base, "home");
  for (const dir of [root, home, join(root, "prloom"), join(root, "src")]) mkdirSync(dir, { recursive: true });
  const env = cleanEnvironment(home);
  const git = (...args: string[]): string => execFileSync("git", args, { cwd: root, env, encoding: "utf8" });
  writeFileSync(join(root, "README.md"), "A project\n");
  for (const name of ["a", "b", "c", "d"]) writeFileSync(join(root, "src", `${name}.txt`), `${name}\n`);
  writeFileSync(join(root, "prloom", "config.json"), `${JSON.stringify(configOf(options), null, 2)}\n`);
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("-c", "user.name=Person", "-c", "user.email=person@localhost", "commit", "-qm", "Begin");
  const authority = join(root, ".git", "prloom");
  const spawnCli = (args: readonly string[], extra: Record<string, string> = {}, program = CLI): ChildProcess =>
    spawn(process.execPath, [...NODE_FLAGS, program, ...args], {
      cwd: root,
      env: { ...env, ...extra },
      stdio: ["ignore", "pipe", "pipe"],
    });
  const cli = (args: readonly string[], extra?: Record<string, string>): Promise<CliResult> =>
    finished(spawnCli(args, extra));
  const homeOf = (id: string): string => join(authority, "plans", id);
  const runFile: Project["runFile"] = (id, run, name) =>
    readFileSync(join(homeOf(id), "runs", String(run), name), "utf8");
  const inbox = join(root, "prloom", ".local", "inbox");
  const configFile = join(root, "prloom", "config.json");
  const planFile: Project["planFile"] = (id, text, meta = { status: "queued" }) => {
    mkdirSync(inbox, { recursive: true });
    writeFileSync(join(inbox, `${id}.json`), JSON.stringify(meta));
    writeFileSync(join(inbox, `${id}.md`), text);
  };
  return {
    root,
    home,
    authority,
    cli,
    spawnCli,
    work: (extra) => cli(["start", "--until-idle"], extra),
    async status() {
      return JSON.parse((await cli(["status", "--json"])).stdout);
    },
    inbox,
    planFile,
    plan(id, todos, meta) {
      const items = todos.map((todo) => `- [ ] ${todo}\n`).join("");
      planFile(id, `## Title\n\nPlan ${id}\n\n${items === "" ? "" : `## TODO\n\n${items}`}`, meta);
    },
    config(change) {
      const merged = { ...JSON.parse(readFileSync(configFile, "utf8")), ...change };
      if (change) writeFileSync(configFile, `${JSON.stringify(merged, null, 2)}\n`);
      return merged;
    },
    commits: (id) => git("log", "--reverse", "--format=%s", `main..prloom/${id}`).split("\n").slice(0, -1),
    runFile,
    environment: (id, run) => variablesIn(runFile(id, run, join("agent", "environment"))),
    processes: () => processesOf(base),
    record: (id) => JSON.parse(readFileSync(join(homeOf(id), "state.json"), "utf8")),
    worktree: (id) => join(root, "prloom", ".local", "worktrees", id),
    planText: (id) => readFileSync(join(homeOf(id), "plan.md"), "utf8"),
    git,
    remove() {
      endProcesses(base);
      kept.delete(base);
      rmSync(options.dir ? root : base, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** Longer than anything here takes on a busy machine; one that hangs must tell where, not keep the suite waiting. */
const MAX_WAIT_MS = 240_000;

/** Collects what a process prints until it has ended. */
export async function finished(child: ChildProcess): Promise<CliResult> {
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (data) => (stdout += data));
  child.stderr?.setEncoding("utf8").on("data", (data) => (stderr += data));
  const timer = setTimeout(() => {
    stderr += `\nIt did not end within ${MAX_WAIT_MS / 1000} s and was killed by the test; alive then:\n${familyOf(child)}`;
    child.kill("SIGKILL");
    // Another process that holds its pipes would keep us waiting as well.
    child.stdout?.destroy();
    child.stderr?.destroy();
  }, MAX_WAIT_MS);
  const [code, signal] = await once(child, "close");
  clearTimeout(timer);
  if (stderr.includes("was killed by the test")) throw new Error(`${child.spawnargs.join(" ")}\n${stderr}\n${stdout}`);
  return { code, signal, stdout, stderr };
}

/** All processes with their parents and what they wait for in the kernel, to read after a failure. */
function familyOf(child: ChildProcess): string {
  const rows = execFileSync("ps", ["-eo", "pid,ppid,stat,wchan:24,etimes,args"], { encoding: "utf8" });
  return `its pid: ${child.pid}, exit ${child.exitCode ?? child.signalCode}\n${rows}`;
}

/** As the kernel tells them: `NAME=value`, each with a NUL behind it. */
function variablesIn(text: string): Record<string, string> {
  const pairs = text.split("\0").filter((line) => line !== "");
  return Object.fromEntries(pairs.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
}

/** No identity, no config of the person who runs the tests. */
function cleanEnvironment(home: string): Record<string, string> {
  return {
    PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ""}`,
    HOME: home,
    TMPDIR: process.env.TMPDIR ?? tmpdir(),
    XDG_RUNTIME_DIR: home,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    NO_COLOR: "1",
    // Its thread is a tenth of what a start costs. Tests of it ask for it.
    ...(THOROUGH ? {} : { PRLOOM_WATCHDOG_MS: "0" }),
  };
}

function configOf(options: ProjectOptions): Record<string, unknown> {
  const env = { ...(options.behaviour ? { BEHAVIOUR: options.behaviour } : {}), ...options.env };
  const { sandbox = "none" } = options;
  const agent = { adapter: "command", command: "/bin/sh", args: [QUICK_AGENT, process.execPath], env, sandbox };
  const { limits, ...rest } = (options.config ?? {}) as { limits?: Record<string, unknown> };
  return { agents: { test: agent }, stages: { default: "test" }, limits: { stopGrace: "200ms", ...limits }, ...rest };
}

/** Ids and command lines of the processes that work below a folder or were told of it. */
function processesOf(base: string): string[] {
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid) || !isAlive(Number(pid))) return [];
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
      const environment = readFileSync(`/proc/${pid}/environ`, "utf8");
      const isOurs = `${readlinkSync(`/proc/${pid}/cwd`)}/ ${command} ${environment}`.includes(`${base}/`);
      return isOurs ? [`${pid} ${command}`] : [];
    } catch {
      return []; // it ended, or it is not ours to look at
    }
  });
}

function endProcesses(base: string): void {
  for (const line of processesOf(base)) killIfAlive(Number.parseInt(line, 10));
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Whether a process of this id is alive (not merely a zombie). */
export function isAlive(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false; // ended, perhaps while we looked
  }
}
