import { spawn } from "node:child_process";
import { closeSync, existsSync, rmSync } from "node:fs";
import { getCompileCacheDir } from "node:module";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { crashPoint } from "../../kernel/crash-point.ts";
import { messageOf, type PrloomError } from "../../kernel/errors.ts";
import { ensureDir, readTail, readTextIfExists, writeRunFile } from "../../kernel/files.ts";
import { openOwn, TO_APPEND } from "../../kernel/own-file.ts";
import { findProgram, trustedPath } from "../../kernel/system/find-program.ts";
import { identityOf } from "../../kernel/system/process-tree.ts";
import { namesUsedUp, passesByItself, usedUp, usedUpError } from "../../kernel/system/used-up.ts";
import type { RunExit, RunRequest, TalkingRun } from "../port.ts";
import { NAMESPACE_ARGS } from "../sandbox/args.ts";
import { tryBwrap } from "../sandbox/try-bwrap.ts";
import { Shim } from "../shim/pool.ts";
import { END_OF_INPUT, INPUT, POLICY, REFUSED, START_LINE, STOP, type StartOrder } from "../shim/shim-protocol.ts";
import { conversationLines, outputLines } from "./output-lines.ts";
import { readExit } from "./run-exit.ts";
import { type ProcessRecord, RUN_FILES, RUN_ID_VARIABLE, SHIM_VARIABLE, type StoredRequest } from "./run-files.ts";
import { endSurvivors } from "./survivors.ts";

export { endSurvivors };

/** The last `bytes` bytes of what the program printed, from a whole character on; "" when it printed nothing. */
export function outputTail(runDir: string, bytes: number): string {
  return readTail(join(runDir, RUN_FILES.output), bytes);
}

/** A bundled shim lies beside the bundle that starts it. */
const shimPath = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../shim/shim.ts" : "./shim.js", import.meta.url),
);

function prepare(request: RunRequest): void {
  const { runDir, runId, cwd, invocation, limits, wrapper = [], opening } = request;
  ensureDir(join(runDir, RUN_FILES.agentDir));
  // Left by a start that was cut off under the same number: they would speak for this run.
  const { exit, process: shim, init, output, unstarted } = RUN_FILES;
  for (const name of [exit, shim, init, output, unstarted]) rmSync(join(runDir, name), { force: true });
  writeRunFile(join(runDir, RUN_FILES.prompt), request.stdin, 0o600);
  const stored: StoredRequest = { runId, cwd, invocation, limits, wrapper, talks: opening !== undefined };
  writeRunFile(join(runDir, RUN_FILES.request), `${JSON.stringify(stored)}\n`, 0o600);
}

/** Our own compile cache, if we have one: a shim run from source then starts in a third of the time. */
function shimCache(): Record<string, string> {
  const dir = getCompileCacheDir();
  return dir === undefined ? {} : { NODE_COMPILE_CACHE: dirname(dir) };
}

function spawnShim({ runDir, runId, shims }: RunRequest): Shim {
  const log = openOwn(join(runDir, RUN_FILES.shimLog), TO_APPEND, 0o600);
  try {
    const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", shimPath], {
      cwd: shims?.cwd ?? runDir,
      detached: true,
      stdio: ["pipe", "pipe", log],
      // Nothing else of ours: an agent of the same user can read the shim's environment.
      env: {
        // For programs of ours, such as bwrap; the agent has its own.
        PATH: trustedPath(process.env.PATH),
        // One that is kept is not found by a run that it had before.
        ...(shims ? {} : { [RUN_ID_VARIABLE]: runId, [SHIM_VARIABLE]: runId }),
        ...shimCache(),
        ...(process.env.PRLOOM_SHIM_CRASH_AT ? { PRLOOM_CRASH_AT: process.env.PRLOOM_SHIM_CRASH_AT } : {}),
      },
    });
    return new Shim(child);
  } finally {
    closeSync(log);
  }
}

/** Before the shim is told of the run: recovery must find the shim, wherever we are killed. */
function recordShim({ runDir, runId, shims }: RunRequest, { child }: Shim): void {
  const who = child.pid === undefined ? undefined : identityOf(child.pid);
  // It has ended already, and `gone` is about to say so.
  if (!who) return;
  const record: ProcessRecord = { ...who, pgid: who.pid, runId, ...(shims ? { kept: true } : {}) };
  try {
    writeRunFile(join(runDir, RUN_FILES.process), `${JSON.stringify(record)}\n`, 0o600);
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
}

/** Starts a program through a shim. What it is to do is on disk before anything runs. */
export function startRun(request: RunRequest): TalkingRun {
  const { runDir, env, shims, opening } = request;
  prepare(request);
  crashPoint("run-prepared");
  const shim = shims?.take() ?? spawnShim(request);
  recordShim(request, shim);
  crashPoint("run-recorded");
  let state: "running" | "stopped" | "over" = "running";
  const { promise: ended, resolve } = Promise.withResolvers<RunExit | "interrupted">();
  // Node can hang for ever when it gets no thread while it starts.
  let isStuck = false;
  const stuck = setTimeout(() => {
    isStuck = !isBegun(runDir) && shim.child.kill("SIGKILL");
  }, 2 * SHIM_PATIENCE_MS).unref();
  const over = (): void => {
    clearTimeout(stuck);
    if (state === "running") state = "over";
    resolve(exitOrInterrupted(runDir));
  };
  const said = shim.attach({
    done: () => {
      if (state === "running") shims?.give(shim);
      over();
    },
    noRoom: () => request.onFullDisk?.(),
    gone: (error) => {
      if (error) noteUnstarted(runDir, usedUpError(error, "the start of its run"));
      // Other shims that end before they have begun count as interrupted: nothing would end a wait for a broken one.
      else if (state === "running" && !isBegun(runDir) && (isStuck || foundNothingLeft(shim, runDir)))
        noteUnstarted(runDir, usedUp("processes or memory", "the start of its run", "shim.log"));
      over();
    },
  });
  // Once the run is over the shim may be another's.
  const tell = (line: string): void => void (state === "running" && shim.tell(line));
  const write = (lines: readonly string[]): void => tell(`${INPUT}${JSON.stringify(lines)}`);
  const order: StartOrder = { runDir, env, kept: shims !== undefined };
  tell(`${START_LINE}${JSON.stringify(order)}`);
  if (opening) write(opening);
  crashPoint("run-started");
  const stop = async (): Promise<void> => {
    if (state === "running") shim.dismiss(STOP);
    if (state !== "over") state = "stopped";
    await within(ended, request.limits.graceMs + SHIM_PATIENCE_MS);
    await endSurvivors(runDir, { graceMs: 0 });
  };
  return {
    runDir,
    ended,
    stop,
    write,
    end: () => tell(END_OF_INPUT),
    endRefused: () => tell(REFUSED),
    endByPolicy: (why) => tell(`${POLICY}${JSON.stringify(why)}`),
    lines: () => (opening ? conversationLines(said, request.limits.maxOutputBytes) : outputLines(runDir, ended)),
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

/** How Node ends, as measured, that gets no thread, memory or file while it starts: it says nothing then that could be read. */
const GIVES_UP: ReadonlySet<string> = new Set(["SIGABRT", "SIGTRAP", "SIGSEGV"]);

function foundNothingLeft({ child: { signalCode } }: Shim, runDir: string): boolean {
  if (signalCode !== null && GIVES_UP.has(signalCode)) return true;
  return namesUsedUp(readTail(join(runDir, RUN_FILES.shimLog), SHIM_WORDS_BYTES));
}

const SHIM_WORDS_BYTES = 4096;

/** Whether its shim has taken it on. */
function isBegun(runDir: string): boolean {
  return [RUN_FILES.output, RUN_FILES.exit].some((name) => existsSync(join(runDir, name)));
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
  const program = findProgram("bwrap", trustedPath(process.env.PATH), "/");
  return program !== undefined && (await tryBwrap(program, NAMESPACE_ARGS)).outcome === "ok";
}
