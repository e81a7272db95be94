import type { ProcessIdentity } from "../../kernel/system/process-tree.ts";
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
  /** What a run that is governed from inside may do; it can only read it. */
  governance: "governance",
  /** The program must say that our rules are in force before its model answers; what it did otherwise is not taken. */
  awaited: "awaited.json",
  /** The same for a program that asks us by hooks: it must have asked one of them before. */
  asks: "asks.json",
  /** In the agent's folder: why the rules inside of it ended the run. */
  policyEnd: "policy-end.json",
} as const;

/** In the environment of everything a run starts; how recovery finds what left the run's process group. */
export const RUN_ID_VARIABLE = "PRLOOM_RUN_ID";

/** In the environment of a shim that has one run only; how recovery finds it without process.json. */
export const SHIM_VARIABLE = "PRLOOM_SHIM_OF";

/** `request.json`: what the shim is to start. The prompt lies beside it; the environment comes through the pipe. */
export interface StoredRequest {
  readonly runId: string;
  readonly cwd: string;
  readonly invocation: Invocation;
  readonly limits: RunLimits;
  /** Arguments of bwrap; empty: the program runs bare. */
  readonly wrapper: readonly string[];
  /** Its stdin is a pipe that stays open. */
  readonly talks: boolean;
}

/** `process.json`: who the shim is, before it is told of the run; and once it has started the agent, who that is. */
export interface ProcessRecord {
  readonly runId: string;
  /** The shim may be another run's once this one has an exit. */
  readonly kept?: boolean | undefined;
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
