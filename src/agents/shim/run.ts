/** One run, as the shim has it: from the order to start it to its proven end. */
import { once } from "node:events";
import { closeSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isoTime } from "../../kernel/clock.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { messageOf, PrloomError } from "../../kernel/errors.ts";
import { readTextIfExists, writeRunFile } from "../../kernel/files.ts";
import { openOwn, TO_APPEND } from "../../kernel/own-file.ts";
import { identityOf } from "../../kernel/system/process-tree.ts";
import { passesByItself, usedUpError } from "../../kernel/system/used-up.ts";
import type { RunExit } from "../port.ts";
import { type Enclosed, release } from "../runner/enclosed.ts";
import { type InitRecord, type ProcessRecord, RUN_FILES, type StoredRequest } from "../runner/run-files.ts";
import { Conversation, say } from "./conversation.ts";
import { drain, endAll, endOf, hasExited } from "./end.ts";
import { type OutputLog, openOutputLog } from "./output.ts";
import { noSandbox, type Program, startProgram } from "./program.ts";
import { END_OF_INPUT, INPUT, NO_ROOM, POLICY, REFUSED, STOP, type StartOrder } from "./shim-protocol.ts";

/** Why the run ends. The first reason holds; "interrupted" leaves no exit.json. */
type Ending = RunExit["reason"] | "interrupted";

export interface ShimRun {
  readonly runDir: string;
  /** Of shim.log, for what goes wrong. */
  readonly notes: number;
  readonly request: StoredRequest;
  readonly record: ProcessRecord;
  readonly log: OutputLog;
  readonly startedAt: string;
  readonly timers: Set<NodeJS.Timeout>;
  program?: Program;
  conversation?: Conversation;
  /** Of the pid namespace; absent: there is none, or it is not known yet and the agent has not begun. */
  init?: InitRecord;
  /** What was said to the program before it had started. */
  readonly early: string[];
  lastOutput: number;
  ending?: Ending;
  error?: string;
  /** Called when nothing of it lives and all is told; "interrupted": it left no exit. */
  over(how: "complete" | "interrupted"): void;
}

/** setTimeout fires at once for anything longer. */
const MAX_TIMER = 2 ** 31 - 1;

/** For shim.log. The log may be on the very disk that is full, so a failure here must not become the next problem. */
export function note(problem: string, to = 2): boolean {
  try {
    writeSync(to, `${isoTime(Date.now())} ${problem}\n`);
    return true;
  } catch (error) {
    return error === undefined;
  }
}

function readJson<T>(runDir: string, name: string): T {
  return JSON.parse(readTextIfExists(join(runDir, name)) ?? "") as T;
}

/** Takes on a run that the daemon has prepared, and starts its program. */
export function takeOn({ runDir, env }: StartOrder, over: ShimRun["over"]): ShimRun {
  crashPoint("shim-told");
  const request = readJson<StoredRequest>(runDir, RUN_FILES.request);
  const shim: ShimRun = {
    runDir,
    notes: openOwn(join(runDir, RUN_FILES.shimLog), TO_APPEND, 0o600),
    request,
    record: readJson<ProcessRecord>(runDir, RUN_FILES.process),
    // That it is there tells the daemon that we have begun.
    log: openOutputLog(join(runDir, RUN_FILES.output), request.limits.maxOutputBytes),
    startedAt: isoTime(Date.now()),
    timers: new Set(),
    early: [],
    lastOutput: performance.now(),
    over,
  };
  crashPoint("shim-recorded");
  start(shim, env).catch((error: unknown) => interrupt(shim, error));
  return shim;
}

export function endBecause(shim: ShimRun, ending: Ending): void {
  if (shim.ending !== undefined) return;
  shim.ending = ending;
  for (const timer of shim.timers) clearTimeout(timer);
  finish(shim, ending).catch((error: unknown) => fail(shim, error));
}

function after(shim: ShimRun, ms: number, act: () => void): void {
  const timer = setTimeout(
    () => {
      shim.timers.delete(timer);
      act();
    },
    Math.min(ms, MAX_TIMER),
  );
  shim.timers.add(timer);
}

function watchSilence(shim: ShimRun): void {
  const left = shim.lastOutput + shim.request.limits.silenceMs - performance.now();
  if (left <= 0) endBecause(shim, "silence");
  else after(shim, Math.ceil(left), () => watchSilence(shim));
}

async function start(shim: ShimRun, env: Readonly<Record<string, string>>): Promise<void> {
  let program: Program;
  try {
    program = await startProgram({ ...shim.request, env, isKept: shim.record.kept === true }, shim.runDir);
  } catch (error) {
    shim.error = messageOf(error);
    if (passesByItself(usedUpError(error, "the start of its program"))) leaveUnstarted(shim, shim.error);
    else endBecause(shim, "spawn-failed");
    return;
  }
  crashPoint("shim-spawned");
  shim.program = program;
  for (const line of shim.early.splice(0)) say(program, line);
  program.child.once("exit", (code) => {
    exited(shim, program, code).catch((error: unknown) => interrupt(shim, error));
  });
  relay(shim, program);
  if (program.enclosed) await begin(shim, program.enclosed);
  else recordAgent(shim, program.pid);
  if (shim.ending !== undefined) return;
  after(shim, shim.request.limits.deadlineMs, () => endBecause(shim, "deadline"));
  watchSilence(shim);
}

async function begin(shim: ShimRun, enclosed: Enclosed): Promise<void> {
  const init = await release(enclosed, {
    maxProcesses: shim.request.limits.maxProcesses,
    write: async (record) => {
      shim.init = record;
      await writeWithRoom(join(shim.runDir, RUN_FILES.init), record, () => shim.ending !== undefined);
      crashPoint("shim-init-recorded");
    },
    mayBegin: () => shim.ending === undefined,
  });
  if (init) crashPoint("shim-begun");
}

async function exited(shim: ShimRun, program: Program, code: number | null): Promise<void> {
  // A sandbox that has an init was made, and what was printed is the program's.
  if (program.enclosed && !shim.init) {
    await drain(program);
    const why = noSandbox(code, shim.runDir);
    if (why !== undefined) return leaveUnstarted(shim, why);
  }
  endBecause(shim, "exited");
}

/** The system had nothing left to start it with: not a run, and not an attempt. */
function leaveUnstarted(shim: ShimRun, why: string): void {
  writeRunFile(join(shim.runDir, RUN_FILES.unstarted), why, 0o600);
  endBecause(shim, "interrupted");
}

function recordAgent(shim: ShimRun, pid: number): void {
  const agent = { agentPid: pid, agentPgid: pid, agentStartTicks: identityOf(pid)?.startTicks };
  try {
    const record: ProcessRecord = { ...shim.record, ...agent };
    writeRunFile(join(shim.runDir, RUN_FILES.process), `${JSON.stringify(record)}\n`, 0o600);
  } catch (error) {
    // The run id still finds the agent; a full disk is not a reason to end it.
    note(`process.json: ${messageOf(error)}`, shim.notes);
  }
}

function relay(shim: ShimRun, program: Program): void {
  if (shim.request.talks) shim.conversation = new Conversation(program);
  for (const output of program.outputs) {
    output.on("error", (error) => note(`output: ${error.message}`, shim.notes));
    output.on("data", (chunk: Buffer) => {
      shim.lastOutput = performance.now();
      shim.log.write(chunk);
      shim.conversation?.handOn(chunk);
    });
  }
}

async function finish(shim: ShimRun, ending: Ending): Promise<void> {
  const { program } = shim;
  let leftBehind = 0;
  if (program) {
    leftBehind = await endAll(program, shim.request, shim.init);
    if (!hasExited(program)) await once(program.child, "exit");
    shim.conversation?.takeRest();
    await drain(program);
  }
  shim.log.close();
  if (ending !== "interrupted") await writeExit(shim, exitOf(shim, ending, leftBehind));
  await shim.conversation?.delivered();
  conclude(shim, ending === "interrupted" ? "interrupted" : "complete");
}

function conclude(shim: ShimRun, how: "complete" | "interrupted"): void {
  closeSync(shim.notes);
  shim.over(how);
}

function exitOf(shim: ShimRun, reason: RunExit["reason"], leftBehind: number): RunExit {
  const { code, signal } = endOf(shim.program, shim.request);
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
async function writeExit(shim: ShimRun, exit: RunExit): Promise<void> {
  crashPoint("shim-exit");
  await writeWithRoom(join(shim.runDir, RUN_FILES.exit), exit, () => process.stdin.readableEnded);
}

/** Says once that it waits: nothing else of a run on a full disk need be written, and people would not know. */
async function writeWithRoom(path: string, value: object, isInVain: () => boolean): Promise<void> {
  for (let isTold = false; ; isTold = true) {
    try {
      writeRunFile(path, `${JSON.stringify(value)}\n`, 0o600);
      return;
    } catch (error) {
      if (!(error instanceof PrloomError) || error.code !== "disk-full" || isInVain()) throw error;
      if (!isTold) process.stdout.write(`${NO_ROOM}\n`);
      await sleep(500);
    }
  }
}

export function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** A fault of ours: the agent must not go on unwatched, and the run does not count. */
export function interrupt(shim: ShimRun, error: unknown): void {
  note(describe(error), shim.notes);
  endBecause(shim, "interrupted");
}

/** Even ending failed: recovery will try again, and say what it cannot end. */
function fail(shim: ShimRun, error: unknown): void {
  note(describe(error), shim.notes);
  conclude(shim, "interrupted");
}

function endByPolicy(shim: ShimRun, why: string): void {
  if (shim.ending === undefined) shim.error = why;
  endBecause(shim, "policy");
}

/** What the daemon says about the run: what its program is to hear, "stop", "refused", or "policy <why>". */
export function obey(shim: ShimRun, line: string): void {
  if (line === STOP) endBecause(shim, "interrupted");
  else if (line === REFUSED) endBecause(shim, "refused");
  else if (line.startsWith(POLICY)) endByPolicy(shim, JSON.parse(line.slice(POLICY.length)));
  else if (line === END_OF_INPUT || line.startsWith(INPUT)) {
    if (shim.program) say(shim.program, line);
    else shim.early.push(line);
  }
}
