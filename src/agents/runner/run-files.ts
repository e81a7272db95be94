import type { ProcessIdentity } from "../../kernel/process-tree.ts";
import type { Invocation, RunLimits } from "../port.ts";

/** What lies in a run's folder. `agent/` is the agent's own; the rest is between the runner and the shim. */
export const RUN_FILES = {
  request: "request.json",
  prompt: "prompt.md",
  process: "process.json",
  init: "init.json",
  output: "output.log",
  exit: "exit.json",
  /** Why the program was never started; then there is no exit. */
  unstarted: "unstarted.txt",
  shimLog: "shim.log",
  agentDir: "agent",
} as const;

/** What the runner says to the shim, one line each; the environment follows the first as JSON. */
export const START = "start ";
export const STOP = "stop";
/** A JSON list of lines for the program's stdin follows. */
export const INPUT = "input ";
export const END_OF_INPUT = "end";
/** The policy ends the run; why follows as JSON. */
export const POLICY = "policy ";

/** In the environment of everything a run starts; how recovery finds what left the run's process group. */
export const RUN_ID_VARIABLE = "PRLOOM_RUN_ID";

/** In the environment of the shim alone; how recovery finds a shim that has not written process.json yet. */
export const SHIM_VARIABLE = "PRLOOM_SHIM_OF";

/**
 * `request.json`: what the shim is to start. The prompt lies beside it; the environment comes through the pipe, since it
 * may hold secrets, and those are not written down.
 */
export interface StoredRequest {
  readonly runId: string;
  readonly cwd: string;
  readonly invocation: Invocation;
  readonly limits: RunLimits;
  /** Arguments of bwrap; empty: the program runs bare. */
  readonly wrapper: readonly string[];
  /** Its stdin is a pipe that stays open. */
  readonly talks: boolean;
  /** What it prints is JSON-RPC. */
  readonly rpc: boolean;
}

/** `process.json`: who the shim is, and once it has started the agent, who that is. */
export interface ProcessRecord {
  readonly runId: string;
  readonly pid: number;
  readonly pgid: number;
  readonly startTicks: number;
  readonly bootId: string;
  readonly agentPid?: number | undefined;
  readonly agentPgid?: number | undefined;
  /** Absent when the agent had ended before it could be looked at. */
  readonly agentStartTicks?: number | undefined;
}

/**
 * `init.json`: the first process of the run's pid namespace, written before the agent begins. When it is gone, all that
 * the run started is gone; an agent can neither change nor hide it.
 */
export interface InitRecord extends ProcessIdentity {
  /** A control group that was made for the run alone. */
  readonly group?: string;
}
