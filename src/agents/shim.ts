/**
 * The small program between the daemon and one agent: `node shim.ts <runDir>`. It outlives nobody: when its pipe to the
 * daemon closes, it ends all that it started. Imports built-ins and kernel only, because every run waits for its start.
 */
import { once } from "node:events";
import { readFileSync, writeSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { isoTime } from "../kernel/clock.ts";
import { crashPoint } from "../kernel/crash-point.ts";
import { messageOf, PrloomError } from "../kernel/errors.ts";
import { writeRunFile } from "../kernel/files.ts";
import { endRun, identityOf } from "../kernel/process-tree.ts";
import { usedUpError, usedUpWords } from "../kernel/used-up.ts";
import { closeInherited } from "./inherited.ts";
import type { RunExit } from "./port.ts";
import { END_OF_INPUT, INPUT, type ProcessRecord, RUN_FILES, START, STOP, type StoredRequest } from "./run-files.ts";
import { type OutputLog, openOutputLog } from "./shim-output.ts";
import { agentItself, type Program, startProgram } from "./shim-program.ts";

/** Why the run ends. The first reason holds; "interrupted" leaves no exit.json. */
type Ending = RunExit["reason"] | "interrupted";

interface Shim {
  readonly runDir: string;
  readonly request: StoredRequest;
  readonly record: ProcessRecord;
  readonly log: OutputLog;
  readonly startedAt: string;
  readonly timers: Set<NodeJS.Timeout>;
  program?: Program;
  /** What was said to the program before it had started. */
  readonly early: string[];
  lastOutput: number;
  ending?: Ending;
  error?: string;
}

/** setTimeout fires at once for anything longer. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** bwrap, the first process of its namespace, and the agent itself. */
const WITH_NAMESPACE = 3;

/** For shim.log. The log may be on the very disk that is full, so a failure here must not become the next problem. */
function note(problem: string): boolean {
  try {
    writeSync(2, `${isoTime(Date.now())} ${problem}\n`);
    return true;
  } catch (error) {
    return error === undefined;
  }
}

function writeProcessRecord(runDir: string, record: ProcessRecord): void {
  writeRunFile(join(runDir, RUN_FILES.process), `${JSON.stringify(record)}\n`, 0o600);
}

function openShim(runDir: string): Shim {
  const request = JSON.parse(readFileSync(join(runDir, RUN_FILES.request), "utf8")) as StoredRequest;
  const self = identityOf(process.pid);
  if (!self) throw new Error("The shim cannot read its own entry in the process table.");
  const record = { ...self, pgid: process.pid, runId: request.runId };
  writeProcessRecord(runDir, record);
  crashPoint("shim-recorded");
  return {
    runDir,
    request,
    record,
    log: openOutputLog(join(runDir, RUN_FILES.output), request.limits.maxOutputBytes),
    startedAt: isoTime(Date.now()),
    timers: new Set(),
    early: [],
    lastOutput: performance.now(),
  };
}

function decide(shim: Shim, ending: Ending): void {
  if (shim.ending !== undefined) return;
  shim.ending = ending;
  for (const timer of shim.timers) clearTimeout(timer);
  finish(shim, ending).catch(fail);
}

function after(shim: Shim, ms: number, act: () => void): void {
  const timer = setTimeout(
    () => {
      shim.timers.delete(timer);
      act();
    },
    Math.min(ms, LONGEST_TIMER),
  );
  shim.timers.add(timer);
}

function watchSilence(shim: Shim): void {
  const left = shim.lastOutput + shim.request.limits.silenceMs - performance.now();
  if (left <= 0) decide(shim, "silence");
  else after(shim, Math.ceil(left), () => watchSilence(shim));
}

async function start(shim: Shim, env: Readonly<Record<string, string>>): Promise<void> {
  let program: Program;
  try {
    program = await startProgram({ ...shim.request, env }, shim.runDir);
  } catch (error) {
    shim.error = messageOf(error);
    const known = usedUpError(error, "the start of its program");
    if (known === error) decide(shim, "spawn-failed");
    else leaveUnstarted(shim, messageOf(error));
    return;
  }
  crashPoint("shim-spawned");
  shim.program = program;
  for (const line of shim.early.splice(0)) say(program, line);
  program.child.once("exit", (code) => {
    const why = code === BWRAP_FAILED ? whyNoSandbox(shim) : undefined;
    if (why === undefined) decide(shim, "exited");
    else leaveUnstarted(shim, why);
  });
  relay(shim, program);
  recordAgent(shim, program.pid);
  after(shim, shim.request.limits.deadlineMs, () => decide(shim, "deadline"));
  watchSilence(shim);
}

/** With what bwrap ends when it cannot make the sandbox. */
const BWRAP_FAILED = 1;
const LONGEST_COMPLAINT = 300;

/** What bwrap said, if it is all that was printed and the system had no process or memory for the sandbox. */
function whyNoSandbox({ request, runDir, log }: Shim): string | undefined {
  if (request.wrapper.length === 0 || log.bytes() > LONGEST_COMPLAINT) return undefined;
  const printed = readFileSync(join(runDir, RUN_FILES.output), "utf8");
  return /^bwrap: .+\n?$/.test(printed) && usedUpWords(printed.trimEnd(), "") ? printed.trim() : undefined;
}

/** The system had nothing left to start it with: no run, and nobody's attempt. */
function leaveUnstarted(shim: Shim, why: string): void {
  writeRunFile(join(shim.runDir, RUN_FILES.unstarted), why, 0o600);
  decide(shim, "interrupted");
}

function recordAgent(shim: Shim, pid: number): void {
  const agent = { agentPid: pid, agentPgid: pid, agentStartTicks: identityOf(pid)?.startTicks };
  try {
    writeProcessRecord(shim.runDir, { ...shim.record, ...agent });
  } catch (error) {
    // The run id still finds the agent; a full disk is no reason to end it.
    note(`process.json: ${messageOf(error)}`);
  }
}

function relay(shim: Shim, program: Program): void {
  for (const output of program.outputs) {
    output.on("error", (error) => note(`output: ${error.message}`));
    output.on("data", (chunk: Buffer) => {
      shim.lastOutput = performance.now();
      shim.log.write(chunk);
    });
  }
}

async function endAll(shim: Shim, program: Program): Promise<number> {
  const { runId, limits, wrapper } = shim.request;
  const living = !hasExited(program);
  const signalFirst = living ? [agentItself(program, wrapper.length > 0)] : [];
  const ended = await endRun({ id: runId, groups: [program.pid] }, { graceMs: limits.graceMs, signalFirst });
  const expected = living ? (wrapper.length > 0 ? WITH_NAMESPACE : 1) : 0;
  return Math.max(0, ended - expected);
}

function hasExited(program: Program): boolean {
  return program.child.exitCode !== null || program.child.signalCode !== null;
}

/** What was printed last is still in the pipe. Somebody we cannot see may hold it open, so not for ever. */
async function drain(program: Program): Promise<void> {
  const open = program.outputs.filter((output) => !output.closed);
  await Promise.race([Promise.all(open.map((output) => once(output, "close"))), sleep(1000)]);
}

async function finish(shim: Shim, ending: Ending): Promise<void> {
  const { program } = shim;
  let leftBehind = 0;
  if (program) {
    leftBehind = await endAll(shim, program);
    if (!hasExited(program)) await once(program.child, "exit");
    await drain(program);
  }
  shim.log.close();
  if (ending !== "interrupted") await writeExit(shim, exitOf(shim, ending, leftBehind));
  process.exit(0);
}

/** bwrap ends as a shell does: with 128 and the number of the signal that its program died of. */
function endOf({ program, request }: Shim): Pick<RunExit, "code" | "signal"> {
  const { exitCode: code = null, signalCode: signal = null } = program?.child ?? {};
  if (request.wrapper.length === 0 || code === null || code <= 128) return { code, signal };
  const name = Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
  return name === undefined ? { code, signal } : { code: null, signal: name };
}

function exitOf(shim: Shim, reason: RunExit["reason"], leftBehind: number): RunExit {
  const { code, signal } = endOf(shim);
  const error = [shim.error, shim.log.problem()].filter((part) => part !== undefined).join("; ");
  return {
    reason,
    code,
    signal,
    startedAt: shim.startedAt,
    endedAt: isoTime(Date.now()),
    outputBytes: shim.log.bytes(),
    truncated: shim.log.truncated(),
    leftBehind,
    ...(error === "" ? {} : { error }),
  };
}

/** On a full disk we wait for space: a run that is complete must not be repeated because it could not say so. */
async function writeExit(shim: Shim, exit: RunExit): Promise<void> {
  crashPoint("shim-exit");
  for (;;) {
    try {
      writeRunFile(join(shim.runDir, RUN_FILES.exit), `${JSON.stringify(exit)}\n`, 0o600);
      return;
    } catch (error) {
      if (!(error instanceof PrloomError) || error.code !== "disk-full" || process.stdin.readableEnded) throw error;
      await sleep(500);
    }
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** A fault of ours: the agent must not go on unwatched, and the run does not count. */
function interrupt(shim: Shim, error: unknown): void {
  note(describe(error));
  decide(shim, "interrupted");
}

/** Even ending failed: recovery will try again, and say what it cannot end. */
function fail(error: unknown): void {
  note(describe(error));
  process.exit(1);
}

/** Hands on what the daemon says to the program; one that has closed its stdin hears nothing. */
function say({ child }: Program, line: string): void {
  if (!child.stdin?.writable) return;
  if (line === END_OF_INPUT) child.stdin.end();
  else for (const text of JSON.parse(line.slice(INPUT.length)) as string[]) child.stdin.write(`${text}\n`);
}

/**
 * The daemon says "start <environment>" once, then perhaps what the program is to hear, and perhaps "stop"; a closed
 * pipe means that it is dead: a stop too.
 */
function obeyDaemon(shim: Shim): void {
  createInterface({ input: process.stdin }).on("line", (line) => {
    if (line === STOP) decide(shim, "interrupted");
    else if (line === END_OF_INPUT || line.startsWith(INPUT)) {
      if (shim.program) say(shim.program, line);
      else shim.early.push(line);
    } else if (line.startsWith(START)) {
      start(shim, JSON.parse(line.slice(START.length))).catch((error: unknown) => interrupt(shim, error));
    }
  });
  for (const event of ["end", "error", "close"]) process.stdin.on(event, () => decide(shim, "interrupted"));
}

function main(runDir: string): void {
  closeInherited();
  process.on("SIGINT", () => note("SIGINT ignored: the daemon decides"));
  process.on("SIGHUP", () => note("SIGHUP ignored: the daemon decides"));
  const shim = openShim(runDir);
  process.on("SIGTERM", () => decide(shim, "interrupted"));
  process.on("uncaughtException", (error) => interrupt(shim, error));
  obeyDaemon(shim);
}

main(process.argv[2] ?? "");
