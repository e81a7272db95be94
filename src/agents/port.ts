/** What an agent is asked to be. */
export const STAGES = ["designer", "worker", "triage", "reviewer"] as const;
export type Stage = (typeof STAGES)[number];

/** How a run's process ended. Only a run that ended by itself, or was ended for its own fault, has one. */
export interface RunExit {
  readonly reason: "exited" | "deadline" | "silence" | "spawn-failed";
  readonly code: number | null;
  readonly signal: string | null;
  readonly startedAt: string;
  readonly endedAt: string;
  /** Bytes the program printed; `truncated` when not all of them were kept. */
  readonly outputBytes: number;
  readonly truncated: boolean;
  /** Processes that had to be ended because the program left them behind. */
  readonly leftBehind: number;
  readonly error?: string;
}

export type AgentEvent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool_call"; readonly id: string; readonly name: string; readonly input: unknown }
  | { readonly type: "tool_result"; readonly id: string; readonly output: string; readonly failed: boolean }
  | {
      readonly type: "usage";
      readonly model: string;
      readonly input: number;
      readonly output: number;
      readonly costUsd?: number;
    }
  | { readonly type: "session"; readonly sessionId: string }
  | { readonly type: "error"; readonly message: string }
  | { readonly type: "done"; readonly exit: RunExit };

/** The program to start; `shell` commands go through `sh -c`. */
export type Invocation = { readonly program: string; readonly args: readonly string[] } | { readonly shell: string };

export interface RunLimits {
  readonly deadlineMs: number;
  readonly silenceMs: number;
  readonly maxOutputBytes: number;
  /** Between asking a program to end and killing it. */
  readonly graceMs: number;
}

/** One process of an agent, through the shim. */
export interface RunRequest {
  /** `plans/<id>/runs/<n>`: the shim's files. The agent gets `agent/` below it as its own folder. */
  readonly runDir: string;
  /** Unique over all repositories; in the environment of everything the run starts, as PRLOOM_RUN_ID. */
  readonly runId: string;
  readonly cwd: string;
  readonly invocation: Invocation;
  readonly stdin: string;
  /** The whole environment of the program. */
  readonly env: Readonly<Record<string, string>>;
  readonly limits: RunLimits;
  /** Put the program into a pid namespace that dies with it; only where `probePidNamespace` says that this works. */
  readonly pidNamespace?: boolean;
}

export interface LiveRun {
  readonly runDir: string;
  /** Resolves when the shim is gone: its exit, or "interrupted" when it wrote none. Never rejects. */
  readonly ended: Promise<RunExit | "interrupted">;
  /** Asks the program to end, kills what remains, and resolves when all of it is gone. Leaves no exit: interrupted. */
  stop(): Promise<void>;
}

/** What an adapter is given to start a run with. */
export interface AgentRequest {
  readonly stage: Stage;
  readonly prompt: string;
  readonly cwd: string;
  readonly runDir: string;
  readonly runId: string;
  readonly sessionId?: string;
  readonly model?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly limits: RunLimits;
  readonly pidNamespace?: boolean;
  readonly signal: AbortSignal;
}

/**
 * How one kind of agent program is started and understood. The run starts with the call, and when the iteration has
 * ended nothing of it lives. The last event is `done`; without one the run was interrupted.
 */
export interface AgentAdapter {
  readonly name: string;
  /** Whether `sessionId` continues an earlier conversation. */
  readonly resumes: boolean;
  start(request: AgentRequest): AsyncIterable<AgentEvent>;
}
