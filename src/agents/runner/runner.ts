import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync, fstatSync, openSync, readSync, rmSync } from "node:fs";
import { getCompileCacheDir } from "node:module";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { crashPoint } from "../../kernel/crash-point.ts";
import { messageOf, type PrloomError } from "../../kernel/errors.ts";
import { ensureDir, isMissing, readTextIfExists, writeRunFile } from "../../kernel/files.ts";
import { findProgram } from "../../kernel/find-program.ts";
import { passesByItself, usedUp, usedUpError } from "../../kernel/used-up.ts";
import type { RunExit, RunRequest, TalkingRun } from "../port.ts";
import { NAMESPACE_ARGS } from "../sandbox/args.ts";
import { tryBwrap } from "../sandbox/try-bwrap.ts";
import { conversationLines, outputLines } from "./output-lines.ts";
import { readExit } from "./run-exit.ts";
import {
  END_OF_INPUT,
  INPUT,
  POLICY,
  RUN_FILES,
  RUN_ID_VARIABLE,
  SHIM_VARIABLE,
  START,
  STOP,
  type StoredRequest,
} from "./run-files.ts";
import { endSurvivors } from "./survivors.ts";

export { endSurvivors };

/** The last `bytes` bytes of what the program printed, from a whole character on; "" when it printed nothing. */
export function outputTail(runDir: string, bytes: number): string {
  let fd: number;
  try {
    fd = openSync(join(runDir, RUN_FILES.output), "r");
  } catch (error) {
    if (isMissing(error)) return "";
    throw error;
  }
  try {
    const { size } = fstatSync(fd);
    const from = Math.max(0, size - bytes);
    const buffer = Buffer.alloc(size - from);
    const tail = buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, from));
    let start = 0;
    while (from > 0 && start < 3 && ((tail[start] ?? 0) & 0xc0) === 0x80) start += 1;
    return tail.subarray(start).toString("utf8");
  } finally {
    closeSync(fd);
  }
}

/** The shim lies beside this file, as source and as bundle. */
export const shimPath = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "./shim.ts" : "./shim.js", import.meta.url),
);

function prepare(request: RunRequest): void {
  const { runDir, runId, cwd, invocation, limits, wrapper = [], opening, rpc = false } = request;
  ensureDir(join(runDir, RUN_FILES.agentDir));
  // Left by a start that was cut off under the same number: they would speak for this run.
  const { exit, process: shim, init, output, unstarted } = RUN_FILES;
  for (const name of [exit, shim, init, output, unstarted]) rmSync(join(runDir, name), { force: true });
  writeRunFile(join(runDir, RUN_FILES.prompt), request.stdin, 0o600);
  const stored: StoredRequest = { runId, cwd, invocation, limits, wrapper, talks: opening !== undefined, rpc };
  writeRunFile(join(runDir, RUN_FILES.request), `${JSON.stringify(stored)}\n`, 0o600);
}

/** Our own compile cache, if we have one: a shim run from source then starts in a third of the time. */
function shimCache(): Record<string, string> {
  const dir = getCompileCacheDir();
  return dir === undefined ? {} : { NODE_COMPILE_CACHE: dirname(dir) };
}

function spawnShim(request: RunRequest): ChildProcess {
  const log = openSync(join(request.runDir, RUN_FILES.shimLog), "a", 0o600);
  try {
    return spawn(process.execPath, ["--disable-warning=ExperimentalWarning", shimPath, request.runDir], {
      cwd: request.runDir,
      detached: true,
      stdio: ["pipe", request.opening ? "pipe" : log, log],
      // Nothing else of ours: an agent of the same user can read the shim's environment.
      env: {
        PATH: process.env.PATH ?? "",
        [RUN_ID_VARIABLE]: request.runId,
        [SHIM_VARIABLE]: request.runId,
        ...shimCache(),
        ...(process.env.PRLOOM_SHIM_CRASH_AT ? { PRLOOM_CRASH_AT: process.env.PRLOOM_SHIM_CRASH_AT } : {}),
      },
    });
  } finally {
    closeSync(log);
  }
}

/** Starts a program through the shim. What it is to do is on disk before anything runs. */
export function startRun(request: RunRequest): TalkingRun {
  prepare(request);
  crashPoint("run-prepared");
  const child = spawnShim(request);
  let isStopped = false;
  const ended = new Promise<RunExit | "interrupted">((resolve) => {
    const over = (): void => resolve(exitOrInterrupted(request.runDir));
    // Node can hang for ever when it gets no thread while it starts.
    const stuck = setTimeout(() => !isRecorded(request.runDir) && child.kill("SIGKILL"), 2 * SHIM_PATIENCE_MS).unref();
    child.once("exit", () => {
      clearTimeout(stuck);
      // It writes down who it is before anything else; one that could not is not a run.
      if (!isStopped) noteUnrecorded(request.runDir);
      over();
    });
    child.once("error", (error) => {
      noteUnstarted(request.runDir, usedUpError(error, "the start of its run"));
      over();
    });
  });
  // A shim that died cannot be told anything; `ended` says so.
  child.stdin?.on("error", () => child.stdin?.destroy());
  const tell = (line: string): void => void (child.stdin?.writable && child.stdin.write(`${line}\n`));
  const write = (lines: readonly string[]): void => tell(`${INPUT}${JSON.stringify(lines)}`);
  tell(`${START}${JSON.stringify(request.env)}`);
  if (request.opening) write(request.opening);
  crashPoint("run-started");
  const stop = async (): Promise<void> => {
    isStopped = true;
    child.stdin?.end(`${STOP}\n`);
    // It waits until we have taken what it has to tell, and we will not take it any more.
    child.stdout?.destroy();
    await within(ended, request.limits.graceMs + SHIM_PATIENCE_MS);
    await endSurvivors(request.runDir, { graceMs: 0 });
  };
  return {
    runDir: request.runDir,
    ended,
    stop,
    write,
    end: () => tell(END_OF_INPUT),
    endByPolicy: (why) => tell(`${POLICY}${JSON.stringify(why)}`),
    lines: () =>
      child.stdout
        ? conversationLines(child.stdout, request.limits.maxOutputBytes)
        : outputLines(request.runDir, ended),
  };
}

/** Why the program of a run was never started, where that passes by itself; undefined when it was. */
export function readUnstarted(runDir: string): PrloomError | undefined {
  const why = readTextIfExists(join(runDir, RUN_FILES.unstarted));
  return why === undefined
    ? undefined
    : usedUp("processes, memory or open files", `the start of its run (${why})`, why);
}

function noteUnstarted(runDir: string, error: unknown): void {
  if (!passesByItself(error)) return;
  try {
    writeRunFile(join(runDir, RUN_FILES.unstarted), messageOf(error), 0o600);
  } catch (unwritable) {
    process.emitWarning(`${runDir}: ${messageOf(unwritable)}`);
  }
}

/** A shim that ends before it could write down who it is was killed by the system, or had no thread, memory or disk. */
function noteUnrecorded(runDir: string): void {
  if (!isRecorded(runDir)) noteUnstarted(runDir, usedUp("processes or memory", "the start of its run", "shim.log"));
}

function isRecorded(runDir: string): boolean {
  return [RUN_FILES.process, RUN_FILES.exit].some((name) => existsSync(join(runDir, name)));
}

/** How long a shim that was told to stop may take beyond the grace, before we end it ourselves. */
const SHIM_PATIENCE_MS = 10_000;

function exitOrInterrupted(runDir: string): RunExit | "interrupted" {
  try {
    return readExit(runDir) ?? "interrupted";
  } catch (error) {
    process.emitWarning(`The exit of ${runDir} cannot be read: ${String(error)}`);
    return "interrupted";
  }
}

async function within(promise: Promise<unknown>, ms: number): Promise<void> {
  const over = new AbortController();
  const timer = sleep(ms, undefined, { signal: over.signal }).catch(() => undefined);
  await Promise.race([promise, timer]);
  over.abort();
}

let namespaceWorks: Promise<boolean> | undefined;

/** Arguments for a run that is not in a sandbox; none where bubblewrap does not work. */
export async function namespaceWrapper(): Promise<readonly string[]> {
  return (await probePidNamespace()) ? NAMESPACE_ARGS : [];
}

/** Whether bubblewrap can give runs a pid namespace on this machine. Asked once. */
export function probePidNamespace(): Promise<boolean> {
  namespaceWorks ??= askForNamespace().catch((error: unknown) => {
    // A machine that has nothing left at the moment has not answered.
    namespaceWorks = undefined;
    throw error;
  });
  return namespaceWorks;
}

async function askForNamespace(): Promise<boolean> {
  const program = findProgram("bwrap", process.env.PATH, "/");
  return program !== undefined && (await tryBwrap(program, NAMESPACE_ARGS)).outcome === "ok";
}
