import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, copyFileSync, openSync, rmSync, statSync } from "node:fs";
import { Socket } from "node:net";
import { join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { existsNoFollow, readTextIfExists } from "../../kernel/files.ts";
import { findProgram } from "../../kernel/system/find-program.ts";
import { childrenOf, type ProcessIdentity } from "../../kernel/system/process-tree.ts";
import { usedUpWords } from "../../kernel/system/used-up.ts";
import { type Enclosed, openLatch, spawnEnclosed } from "../runner/enclosed.ts";
import { withNamedPipes } from "../runner/named-pipes.ts";
import { RUN_FILES, RUN_ID_VARIABLE, type StoredRequest } from "../runner/run-files.ts";

/** What to start, and the environment that came through the pipe. */
export type ProgramRequest = StoredRequest & {
  readonly env: Readonly<Record<string, string>>;
  /** Others may follow in this process. */
  readonly isKept: boolean;
};

/** The agent's program while the shim watches it. */
export interface Program {
  readonly pid: number;
  /** stdout, and stderr where it is not the same pipe. */
  readonly outputs: readonly Readable[];
  readonly child: ChildProcess;
  /** It waits in there to be released; absent: it runs bare, and has begun. */
  readonly enclosed?: Enclosed;
}

interface Pipe {
  readonly reader: number;
  readonly writer: number;
}

/**
 * Node gives children sockets, which cannot be opened as /dev/stderr; scripts do that all the time. A named pipe can, and
 * one for both outputs keeps their order.
 */
function openOutputPipe(path: string): Pipe {
  // Opened for both first: the two blocking opens would wait for each other.
  const both = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  try {
    const reader = openSync(path, constants.O_RDONLY);
    return { reader, writer: openSync(path, constants.O_WRONLY) };
  } finally {
    closeSync(both);
  }
}

interface Pipes {
  readonly output: Pipe | undefined;
  readonly latch: number | undefined;
}

/** For runs to come. They are open and have no name any more: one that was used is closed, and never another run's. */
const spare: Pipes[] = [];
/** To make them takes a process, for many as for one. */
const MADE_AT_ONCE = 4;

function takePipes(runDir: string, isKept: boolean): Pipes {
  if (spare.length === 0) {
    const numbers = Array.from({ length: isKept ? MADE_AT_ONCE : 1 }, (_, number) => number);
    const names = numbers.map(
      (number) => [join(runDir, `.output-${number}`), join(runDir, `.latch-${number}`)] as const,
    );
    withNamedPipes(names.flat(), (made) => {
      for (const [output, latch] of made ? names : []) {
        spare.push({ output: openOutputPipe(output), latch: openLatch(latch) });
      }
    });
  }
  return spare.pop() ?? { output: undefined, latch: undefined };
}

function openPipes(runDir: string, { wrapper, isKept }: ProgramRequest): Pipes {
  const { output, latch } = takePipes(runDir, isKept);
  if (latch === undefined || wrapper.length > 0) return { output, latch };
  closeSync(latch);
  return { output, latch: undefined };
}

/**
 * The prompt as a nameless file: it can be opened as /dev/stdin, need not be read, and a program that writes to it
 * reaches no file of ours.
 */
function openPrompt(runDir: string): number {
  const copy = join(runDir, ".prompt");
  copyFileSync(join(runDir, RUN_FILES.prompt), copy);
  const fd = openSync(copy, "r");
  rmSync(copy);
  return fd;
}

/** A sentence for a start that failed; Node says ENOENT for a missing folder and a missing program alike. */
function startProblem(request: ProgramRequest): string | undefined {
  if (!statSync(request.cwd, { throwIfNoEntry: false })?.isDirectory()) {
    return `ENOENT: the folder ${request.cwd} does not exist`;
  }
  if ("shell" in request.invocation) return undefined;
  const { program } = request.invocation;
  if (findProgram(program, request.env.PATH, request.cwd)) return undefined;
  const named = program.includes("/");
  if (named && existsNoFollow(resolve(request.cwd, program))) return `EACCES: ${program} is not an executable file`;
  return `ENOENT: ${program} was not found${named ? "" : " in PATH"}`;
}

function commandLine({ invocation }: ProgramRequest): [string, ...string[]] {
  if ("shell" in invocation) return ["/bin/sh", "-c", invocation.shell];
  return [invocation.program, ...invocation.args];
}

type StandardFiles = readonly [number | "pipe", number | "pipe", number | "pipe"];

function spawnProgram(
  request: ProgramRequest,
  stdio: StandardFiles,
  latch: number | undefined,
): Omit<Program, "pid" | "outputs"> {
  const { cwd, wrapper } = request;
  const options = { cwd, env: { ...request.env, [RUN_ID_VARIABLE]: request.runId }, detached: true };
  const [program, ...args] = commandLine(request);
  if (wrapper.length === 0) return { child: spawn(program, args, { ...options, stdio: [...stdio] }) };
  const bwrap = findProgram("bwrap", process.env.PATH, "/");
  if (!bwrap) throw new Error("ENOENT: bwrap was not found in PATH");
  // A session of its own inside: bwrap's group is not the agent's, so that a signal to its own group leaves bwrap alone.
  const own = [...wrapper, "--new-session"];
  const enclosed = spawnEnclosed({ ...options, bwrap, wrapper: own, command: [program, ...args], stdio, latch });
  return { child: enclosed.child, enclosed };
}

/** Others may follow in this process, and need theirs. */
function closeAll(files: readonly (number | undefined)[]): void {
  for (const fd of files) if (fd !== undefined) closeSync(fd);
}

/** Starts the program in a session and process group of its own. Throws a sentence that names the errno if it cannot. */
export async function startProgram(request: ProgramRequest, runDir: string): Promise<Program> {
  const problem = startProblem(request);
  if (problem) throw new Error(problem);
  const prompt = request.talks ? undefined : openPrompt(runDir);
  const { output: pipe, latch } = openPipes(runDir, request);
  const stdio: StandardFiles = [prompt ?? "pipe", pipe?.writer ?? "pipe", pipe?.writer ?? "pipe"];
  let started: Omit<Program, "pid" | "outputs">;
  try {
    started = spawnProgram(request, stdio, latch);
  } catch (error) {
    closeAll([prompt, pipe?.writer, pipe?.reader, latch]);
    throw error;
  }
  const { child } = started;
  // A program that has ended, or that does not listen, is not our fault.
  child.stdin?.on("error", () => child.stdin?.destroy());
  closeAll([prompt, pipe?.writer]);
  if (child.pid === undefined) {
    closeAll([pipe?.reader, latch]);
    const [error] = await once(child, "error");
    throw error;
  }
  if (!pipe) return { pid: child.pid, ...started, outputs: [child.stdout!, child.stderr!] };
  return { pid: child.pid, ...started, outputs: [new Socket({ fd: pipe.reader, readable: true, writable: false })] };
}

/** The agent itself: enclosed it is the oldest child of the namespace's init, not our child. */
export function agentItself(program: Program, init: ProcessIdentity | undefined): number {
  const inside = init ? childrenOf(init.pid) : [];
  const oldest = inside.sort((a, b) => a.startTicks - b.startTicks || a.pid - b.pid)[0];
  return oldest?.pid ?? program.pid;
}

/** With what bwrap ends when it cannot make the sandbox. */
const BWRAP_FAILED = 1;
const MAX_COMPLAINT = 300;

/** What a bwrap that made no sandbox said, if the system had no process or memory for it. */
export function noSandbox(code: number | null, runDir: string): string | undefined {
  if (code !== BWRAP_FAILED) return undefined;
  const printed = (readTextIfExists(join(runDir, RUN_FILES.output)) ?? "").slice(0, MAX_COMPLAINT).trim();
  return usedUpWords(printed, "") ? printed : undefined;
}
