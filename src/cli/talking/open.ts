import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import * as z from "zod";
import { programOf } from "../../agents/adapters.ts";
import { ENCLOSURE_LEVELS, hasSandbox } from "../../agents/enclosure-level.ts";
import { openLatch, release, spawnEnclosed } from "../../agents/runner/enclosed.ts";
import { closeInherited } from "../../agents/runner/inherited-files.ts";
import { withNamedPipes } from "../../agents/runner/named-pipes.ts";
import { type InitRecord, RUN_FILES } from "../../agents/runner/run-files.ts";
import { FILTER_FD, filterFor } from "../../agents/sandbox/seccomp.ts";
import { terminalArgs } from "../../agents/sandbox/terminal.ts";
import type { StageAgent } from "../../config/presets.ts";
import { callOwner } from "../../dispatcher/commands/owner.ts";
import type { Loom } from "../../dispatcher/loom.ts";
import { environmentOf } from "../../dispatcher/runs/start-agent.ts";
import { messageOf, PrloomError } from "../../kernel/errors.ts";
import { writeRunFile } from "../../kernel/files.ts";
import { findProgram, trustedPath } from "../../kernel/system/find-program.ts";
import { identityOf, type ProcessIdentity } from "../../kernel/system/process-tree.ts";
import { shellWord } from "../../kernel/text/words.ts";
import type { Call } from "../output.ts";
import { reading, refuseInsideRun, suggesting } from "../plans.ts";
import { commandLine } from "../render/command-line.ts";
import { hintLines } from "../render/hint.ts";
import { visible } from "../render/safe-text.ts";

export interface OpenOptions {
  readonly now?: boolean;
  readonly agent?: string;
  readonly shell?: boolean;
  readonly print?: boolean;
}

const openedSchema = z.object({
  agent: z.string(),
  worktree: z.string(),
  runId: z.string(),
  runDir: z.string(),
  wrapper: z.array(z.string()),
  level: z.enum(ENCLOSURE_LEVELS),
  env: z.record(z.string(), z.string().nullable()),
  args: z.array(z.string()).exactOptional(),
  sessionId: z.string().exactOptional(),
  door: z.enum(["closed", "advisory"]).exactOptional(),
});
type Opened = z.infer<typeof openedSchema>;

const closedSchema = z.object({
  status: z.string(),
  todo: z.object({ number: z.int(), title: z.string() }).optional(),
  ended: z.literal(true).optional(),
});

/** What is started in the worktree. */
interface Interface {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Absent: bare. */
  readonly enclosure?: { readonly bwrap: string; readonly wrapper: readonly string[] };
  readonly runDir: string;
  readonly maxProcesses: number;
}

/** Puts a person into the agent's own interface, in the worktree of a plan and enclosed as its runs are. */
export async function open(call: Call, plan: string, options: OpenOptions): Promise<number> {
  refuseInsideRun(call);
  const asked = {
    plan,
    shell: options.shell === true,
    ...(options.agent === undefined ? {} : { agent: options.agent }),
  };
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  if (options.print || call.output.json || !isTerminal) return printCommand(call, plan, asked);
  const who = ownIdentity();
  const ask = () => callOwner(call.cwd, "open", { ...asked, who, now: options.now === true });
  const opened = openedSchema.parse(await suggesting(call, plan, ask));
  try {
    const started = await interfaceOf(call, plan, opened);
    tellWhere(call, plan, opened);
    const isOver = async (): Promise<boolean> => {
      const read = reading(call, ({ store }) => store.byId(plan)?.opened?.ended === true);
      return opened.args !== undefined && (await read.catch(() => false));
    };
    await runInTerminal(opened.args === undefined ? withJobControl(started) : started, isOver);
  } finally {
    await close(call, plan, { who, worktree: opened.worktree });
  }
  return 0;
}

function ownIdentity(): ProcessIdentity {
  const who = identityOf(process.pid);
  if (who) return who;
  throw new Error("this process is not in the process table");
}

/** Nothing is kept open for a command that is only shown: the user who starts it has to see to that. */
async function printCommand(call: Call, plan: string, asked: Record<string, unknown>): Promise<number> {
  const opened = openedSchema.parse(await suggesting(call, plan, () => callOwner(call.cwd, "open", asked)));
  const started = await interfaceOf(call, plan, opened);
  const { cwd, env } = started;
  const command = shownCommand(started);
  const { agent, level, sessionId, door } = opened;
  const shown = { command, cwd, env, callerEnv: call.env };
  call.output.line(commandLine(shown));
  const notes = [
    ...(door === undefined ? [] : [doorWords(opened)]),
    `prloom does not know of what you start yourself: \`prloom pause ${plan}\` before it.`,
  ];
  if (!call.output.json) for (const note of notes) call.output.note(note);
  const line = commandLine(shown);
  call.output.data({
    plan,
    agent,
    level,
    worktree: cwd,
    command,
    line,
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(door === undefined ? {} : { door }),
  });
  return 0;
}

/** For a shell: the filter of system calls is a file that it has to open. */
function shownCommand({ command, enclosure, runDir }: Interface): readonly string[] {
  if (!enclosure) return command;
  const enclosed = [enclosure.bwrap, ...enclosure.wrapper, "--", ...command];
  const filter = enclosure.wrapper.includes("--seccomp") ? filterFor(process.arch) : undefined;
  if (!filter) return enclosed;
  const file = join(runDir, "filter.bpf");
  writeRunFile(file, filter, 0o600);
  return ["/bin/sh", "-c", `exec "$@" ${FILTER_FD}<"$0"`, file, ...enclosed];
}

async function interfaceOf(call: Call, plan: string, opened: Opened): Promise<Interface> {
  const { agent, env, maxProcesses } = await reading(call, (loom) => environmentFor(loom, plan, opened));
  const { worktree: cwd, runDir } = opened;
  const wanted = opened.args === undefined ? call.env.SHELL || "/bin/sh" : agent.command;
  const program = findProgram(wanted, env.PATH ?? "/usr/bin:/bin", cwd);
  if (program === undefined) {
    const install = programOf(agent)?.install;
    const hint = install === undefined ? "`prloom doctor` checks the agents." : `Install it: \`${install}\``;
    throw new PrloomError("usage", `${wanted}, the program of ${opened.agent}, cannot be found.`, hint);
  }
  const started = { command: [program, ...(opened.args ?? [])], cwd, env, runDir, maxProcesses };
  if (opened.wrapper.length === 0) return started;
  return { ...started, enclosure: { bwrap: bubblewrap(call), wrapper: [...opened.wrapper, ...terminalArgs()] } };
}

/** By its file: in the worktree a name may be that of a program that an agent put there. */
function bubblewrap({ env }: Call): string {
  const file = findProgram("bwrap", trustedPath(env.PATH), "/");
  if (file !== undefined) return file;
  const hint = "`prloom doctor` says how to install it.";
  throw new PrloomError("sandbox-unavailable", "bubblewrap (bwrap) is not in your PATH.", hint);
}

/**
 * A shell stops and resumes programs only in a terminal that it controls, and one in a session of its own has none: `script` makes
 * it one, in there. Where that is not installed, the shell does without.
 */
function withJobControl(started: Interface): Interface {
  // Where every sandbox has it; others of that name know other options.
  const script = findProgram("script", "/usr/bin:/bin", "/");
  if (script === undefined || !started.enclosure?.wrapper.includes("--new-session")) return started;
  if (!spawnSync(script, ["--version"], { encoding: "utf8" }).stdout?.includes("util-linux")) return started;
  const line = `exec ${started.command.map(shellWord).join(" ")}`;
  return { ...started, command: [script, "-qefc", line, "/dev/null"] };
}

interface OwnEnvironment {
  readonly agent: StageAgent;
  readonly env: Record<string, string>;
  readonly maxProcesses: number;
}

function environmentFor(loom: Loom, plan: string, opened: Opened): OwnEnvironment {
  const configured = loom.config.agents[opened.agent];
  if (!configured) {
    const hint = "The config was changed this moment; try again.";
    throw new PrloomError("usage", `There is no agent "${opened.agent}" in prloom/config.json.`, hint);
  }
  const agent = { ...configured, name: opened.agent };
  // The run's id also tells a prloom that is called in there, by the agent or by a person, that it must change nothing.
  const vars = { PRLOOM_RUN_ID: opened.runId, PRLOOM_PLAN_ID: plan, PRLOOM_WORKTREE: opened.worktree };
  const laid = Object.entries(opened.env).map(([name, value]) => [name, value ?? undefined]);
  const enclosure = { wrapper: opened.wrapper, sandboxed: hasSandbox(opened.level), level: opened.level };
  return {
    agent,
    env: environmentOf(loom, agent, { vars, enclosure: { ...enclosure, env: Object.fromEntries(laid) } }),
    maxProcesses: loom.config.limits.maxProcesses,
  };
}

/** What it means that the plan is not approved. */
function doorWords({ args, door }: Opened): string {
  if (args === undefined)
    return "The plan is not approved. The shell is your own: what you change in it is not held back.";
  return door === "closed"
    ? "The plan is not approved: the agent can read, and changes nothing."
    : "The plan is not approved, and nothing keeps the agent from changing files (gates.advisory).";
}

function tellWhere({ output }: Call, plan: string, opened: Opened): void {
  const { agent, sessionId, args, level } = opened;
  const how = args === undefined ? "a shell" : sessionId === undefined ? `${agent}, in a new conversation` : agent;
  output.line(visible(`${plan}: ${how} in ${opened.worktree} (${hasSandbox(level) ? "sandboxed" : "no sandbox"}).`));
  if (opened.door) output.line(doorWords(opened));
  output.line("prloom keeps out of it until you leave.");
  // git in there says that it has committed, on the branch of the plan.
  if (args === undefined && hasSandbox(level))
    output.line("Files that you change stay. Commits that you make do not: they are in the sandbox alone.");
}

/** Signals of the terminal go to all programs in it; ours is to wait for the program, whatever it makes of them. */
async function runInTerminal(started: Interface, isOver: () => Promise<boolean>): Promise<void> {
  // Whatever the person's shell left open would reach the agent, too.
  closeInherited();
  const child = startInTerminal(started);
  const ignore = (): void => undefined;
  const pass = (signal: NodeJS.Signals): void => void child.kill(signal);
  process.on("SIGINT", ignore).on("SIGQUIT", ignore).on("SIGTERM", pass).on("SIGHUP", pass);
  try {
    const ended = once(child, "exit");
    // What ended it before it had begun could not find it.
    if (await isOver()) child.kill("SIGKILL");
    await ended;
  } finally {
    process.off("SIGINT", ignore).off("SIGQUIT", ignore).off("SIGTERM", pass).off("SIGHUP", pass);
  }
}

function startInTerminal(started: Interface): ChildProcess {
  const { command, cwd, env, enclosure, runDir, maxProcesses } = started;
  const [program = "", ...args] = command;
  if (!enclosure) return spawn(program, args, { cwd, env: { ...env }, stdio: "inherit" });
  const fifo = join(runDir, ".latch");
  const latch = withNamedPipes([fifo], (made) => (made ? openLatch(fifo) : undefined));
  const stdio = ["inherit", "inherit", "inherit"] as const;
  const enclosed = spawnEnclosed({ ...enclosure, command, cwd, env, stdio, detached: false, latch });
  const write = (record: InitRecord) => writeRunFile(join(runDir, RUN_FILES.init), JSON.stringify(record), 0o600);
  // What cannot be written down must not begin; the terminal is given back.
  release(enclosed, { maxProcesses, write, mayBegin: () => true }).catch((error: unknown) => {
    process.stderr.write(`${messageOf(error)}\n`);
    enclosed.child.kill("SIGKILL");
  });
  return enclosed.child;
}

interface HeldWorktree {
  readonly who: ProcessIdentity;
  readonly worktree: string;
}

async function close({ cwd, output }: Call, plan: string, { who, worktree }: HeldWorktree): Promise<void> {
  let closed: z.infer<typeof closedSchema>;
  try {
    closed = closedSchema.parse(await callOwner(cwd, "close", { plan, who }));
  } catch (error) {
    if (!(error instanceof PrloomError)) throw error;
    // It is kept open by this very process, so it is free in a moment all the same.
    output.note(`The dispatcher could not be told that you are done (${messageOf(error)}); it will notice.`);
    return;
  }
  if (closed.ended) output.line("The agent was ended: the plan is not approved any more.");
  output.line(visible(`closed; the plan goes on. ${afterwards(closed, worktree)}`));
  if (closed.todo) return;
  const hint = `Add a TODO to have it committed: \`prloom edit ${plan}\`. Or commit it yourself: \`git -C ${shellWord(worktree)} add -A && git -C ${shellWord(worktree)} commit\``;
  for (const line of hintLines(hint)) output.line(line);
}

function afterwards({ status, todo }: z.infer<typeof closedSchema>, worktree: string): string {
  if (todo) return `What you changed in ${worktree} stays and becomes a part of TODO ${todo.number}: ${todo.title}`;
  const why = status === "review" ? "the plan is in review" : "no TODO is open";
  return `What you changed in ${worktree} stays, and prloom does not commit it: ${why}.`;
}
