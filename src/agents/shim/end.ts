import { once } from "node:events";
import { constants } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { endProcesses, endRun, processesUnder } from "../../kernel/system/process-tree.ts";
import type { RunExit } from "../port.ts";
import { removeGroup } from "../runner/process-limit.ts";
import type { InitRecord, StoredRequest } from "../runner/run-files.ts";
import { agentItself, type Program } from "./program.ts";

/** Ends all processes of a run; resolves with the number of those that the program left behind. */
export async function endAll(program: Program, request: StoredRequest, init: InitRecord | undefined): Promise<number> {
  const { runId, limits } = request;
  const signalFirst = hasExited(program) ? [] : [agentItself(program, init)];
  const uncounted = [...signalFirst, program.pid, ...(init ? [init.pid] : [])];
  const options = { graceMs: limits.graceMs, signalFirst, uncounted };
  if (!init) return await endRun({ id: runId, groups: [program.pid] }, options);
  // Nothing of the run is anywhere else, but for the bwrap outside: that is our child, and ends with it unless it is stopped.
  const groups = (): number[] => (hasExited(program) ? [] : [program.pid]);
  const leftBehind = await endProcesses(() => processesUnder(init), { ...options, groups });
  await removeGroup(init.group);
  return leftBehind;
}

export function hasExited(program: Program): boolean {
  return program.child.exitCode !== null || program.child.signalCode !== null;
}

/**
 * What was printed last is still in the pipe. A process that we cannot see may hold it open, so not forever, and what it prints
 * later is not read: by then the shim may have another run, and its files the numbers of ours.
 */
export async function drain(program: Program): Promise<void> {
  const open = program.outputs.filter((output) => !output.closed);
  await Promise.race([Promise.all(open.map((output) => once(output, "close"))), sleep(1000)]);
  for (const output of open) output.destroy();
}

/** bwrap ends as a shell does: with 128 and the number of the signal that its program died of. */
export function endOf(program: Program | undefined, request: StoredRequest): Pick<RunExit, "code" | "signal"> {
  const { exitCode: code = null, signalCode: signal = null } = program?.child ?? {};
  if (request.wrapper.length === 0 || code === null || code <= 128) return { code, signal };
  const name = Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
  return name === undefined ? { code, signal } : { code: null, signal: name };
}
