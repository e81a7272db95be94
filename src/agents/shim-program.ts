import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, copyFileSync, openSync, rmSync, statSync } from "node:fs";
import { Socket } from "node:net";
import { join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { existsNoFollow } from "../kernel/files.ts";
import { childrenOf } from "../kernel/process-tree.ts";
import { findProgram } from "./find-program.ts";
import { RUN_FILES, RUN_ID_VARIABLE, type StoredRequest } from "./run-files.ts";

/** What to start, and the environment that came through the pipe. */
export type ProgramRequest = StoredRequest & { readonly env: Readonly<Record<string, string>> };

/** The agent's program while the shim watches it. */
export interface Program {
  readonly pid: number;
  /** stdout, and stderr where it is not the same pipe. */
  readonly outputs: readonly Readable[];
  readonly child: ChildProcess;
}

interface Pipe {
  readonly reader: number;
  readonly writer: number;
}

/**
 * Node gives children sockets, which cannot be opened as /dev/stderr; scripts do that all the time. A named pipe can, and
 * one for both outputs keeps their order. Undefined where the file system has none.
 */
function openOutputPipe(path: string): Pipe | undefined {
  rmSync(path, { force: true });
  if (spawnSync("mkfifo", ["-m", "600", path], { stdio: "ignore" }).status !== 0) return undefined;
  // Opened for both first: the two blocking opens would wait for each other.
  const both = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  try {
    const reader = openSync(path, constants.O_RDONLY);
    return { reader, writer: openSync(path, constants.O_WRONLY) };
  } finally {
    closeSync(both);
    rmSync(path, { force: true });
  }
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

function commandLine(request: ProgramRequest): [string, string[]] {
  const { invocation } = request;
  const [program, args] =
    "shell" in invocation ? ["/bin/sh", ["-c", invocation.shell]] : [invocation.program, [...invocation.args]];
  if (request.wrapper.length === 0) return [program, args];
  const bwrap = findProgram("bwrap", process.env.PATH, "/");
  if (!bwrap) throw new Error("ENOENT: bwrap was not found in PATH");
  return [bwrap, [...request.wrapper, "--", program, ...args]];
}

/** Starts the program in a session and process group of its own. Throws a sentence that names the errno if it cannot. */
export async function startProgram(request: ProgramRequest, runDir: string): Promise<Program> {
  const problem = startProblem(request);
  if (problem) throw new Error(problem);
  const [program, args] = commandLine(request);
  const prompt = request.talks ? undefined : openPrompt(runDir);
  const pipe = openOutputPipe(join(runDir, ".output"));
  const child = spawn(program, args, {
    cwd: request.cwd,
    env: { ...request.env, [RUN_ID_VARIABLE]: request.runId },
    detached: true,
    stdio: [prompt ?? "pipe", pipe?.writer ?? "pipe", pipe?.writer ?? "pipe"],
  });
  if (prompt !== undefined) closeSync(prompt);
  // A program that has ended, or that does not listen, is no fault of ours.
  child.stdin?.on("error", () => child.stdin?.destroy());
  if (pipe) closeSync(pipe.writer);
  if (child.pid === undefined) {
    const [error] = await once(child, "error");
    throw error;
  }
  if (!pipe) return { pid: child.pid, child, outputs: [child.stdout!, child.stderr!] };
  return { pid: child.pid, child, outputs: [new Socket({ fd: pipe.reader, readable: true, writable: false })] };
}

/** The agent itself: wrapped by bwrap it is the oldest child of the namespace's first process, not our child. */
export function agentItself(program: Program, wrapped: boolean): number {
  if (!wrapped) return program.pid;
  const first = childrenOf(program.pid)[0];
  const inside = first ? childrenOf(first.pid) : [];
  const oldest = inside.sort((a, b) => a.startTicks - b.startTicks || a.pid - b.pid)[0];
  return oldest?.pid ?? program.pid;
}
