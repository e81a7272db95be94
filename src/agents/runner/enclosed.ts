import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { closeSync, constants, openSync, writeSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { identityOf, type ProcessIdentity } from "../../kernel/system/process-tree.ts";
import { FILTER_FD, filterFor } from "../sandbox/seccomp.ts";
import { limitProcesses, processLimit } from "./process-limit.ts";
import type { InitRecord } from "./run-files.ts";

/** Numbers that files have in bwrap, beyond the three of every program; all are closed before the program begins. */
const INFO_FD = 3;
const LATCH_FD = 4;

export interface EnclosedStart {
  readonly bwrap: string;
  readonly wrapper: readonly string[];
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdio: readonly ["pipe" | "inherit" | number, "pipe" | "inherit" | number, "pipe" | "inherit" | number];
  readonly detached: boolean;
  /** From `openLatch`. Undefined where there are no named pipes: then the program begins before it is written down. */
  readonly latch: number | undefined;
}

/** A bwrap whose program waits for `release`. */
export interface Enclosed {
  readonly child: ChildProcess;
  /** The first process of the pid namespace; undefined when bwrap ended before it had made one. */
  readonly init: Promise<ProcessIdentity | undefined>;
  /** Lets the program begin. */
  go(): void;
  /** Closes our end of what it waits at; one that was not let go waits on. */
  letBe(): void;
}

/**
 * What the program waits at. Opened for both, so that bwrap itself holds the other end: when we are killed it must go on
 * waiting, and the end of a pipe would let the program begin.
 */
export function openLatch(fifo: string): number {
  return openSync(fifo, constants.O_RDWR);
}

export function spawnEnclosed({ latch, wrapper, ...start }: EnclosedStart): Enclosed {
  const waits = latch === undefined ? [] : ["--block-fd", String(LATCH_FD)];
  const args = [...wrapper, "--info-fd", String(INFO_FD), ...waits, "--", ...start.command];
  const filter = wrapper.includes("--seccomp") ? filterFor(process.arch) : undefined;
  const more: StdioOptions = ["pipe", latch ?? "ignore", filter ? "pipe" : "ignore"];
  const { cwd, env, detached } = start;
  const child = spawn(start.bwrap, args, { cwd, env, detached, stdio: [...start.stdio, ...more] });
  // Without any files left it has no pipes; the error comes in a moment.
  const pipe = (fd: number) => child.stdio?.at(fd);
  if (filter) feed(pipe(FILTER_FD) as Writable | null | undefined, filter);
  const go = (): void => {
    if (latch !== undefined) writeSync(latch, "g");
  };
  const letBe = (): void => {
    if (latch !== undefined) closeSync(latch);
  };
  return { child, init: initOf(pipe(INFO_FD) as Readable | null | undefined), go, letBe };
}

/** bwrap reads it to its end; one that has failed before says why by itself. */
function feed(to: Writable | null | undefined, bytes: Uint8Array): void {
  to?.on("error", () => to.destroy());
  to?.end(bytes);
}

function initOf(info: Readable | null | undefined): Promise<ProcessIdentity | undefined> {
  return new Promise((resolve) => {
    let told = "";
    if (!info) return resolve(undefined);
    info.on("data", (chunk: Buffer) => {
      told += chunk.toString("latin1");
      const pid = /"child-pid":\s*(\d+)\D/.exec(told)?.[1];
      if (pid !== undefined) resolve(identityOf(Number(pid)));
    });
    info.on("error", () => info.destroy()).on("close", () => resolve(undefined));
  });
}

export interface Release {
  /** Absent: no limit. */
  readonly maxProcesses?: number | undefined;
  /** Makes sure that it is on disk. */
  write(record: InitRecord): void | Promise<void>;
  /** Asked last: a run that is being ended must not begin any more. */
  mayBegin(): boolean;
}

/**
 * Lets the program begin once it is written down who the init of its pid namespace is: by that, and by nothing that an
 * agent could change, the end of the run is proven. Resolves with undefined when bwrap failed.
 */
export async function release(enclosed: Enclosed, options: Release): Promise<InitRecord | undefined> {
  try {
    return await letBegin(enclosed, options);
  } finally {
    // Also where bwrap failed: the shim goes on with other runs.
    enclosed.letBe();
  }
}

async function letBegin(enclosed: Enclosed, options: Release): Promise<InitRecord | undefined> {
  const init = await enclosed.init;
  if (!init) return undefined;
  const { maxProcesses } = options;
  const limit = maxProcesses === undefined ? undefined : processLimit(init);
  const record: InitRecord = { ...init, ...(limit?.kind === "group" ? { group: limit.path } : {}) };
  await options.write(record);
  if (limit && maxProcesses !== undefined) await limitProcesses(limit, init.pid, maxProcesses);
  if (options.mayBegin()) enclosed.go();
  return record;
}
