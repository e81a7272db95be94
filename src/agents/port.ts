import { STAGES, type Stage } from "../config/agent-words.ts";
import type { JsonFields } from "../kernel/json-fields.ts";
import type { ShimPool } from "./shim/pool.ts";

export { STAGES, type Stage };

/** Why a run has ended; `policy`: it went on asking for what it was refused; `refused`: it would have waited for its provider. */
export const EXIT_REASONS = ["exited", "deadline", "silence", "policy", "refused", "spawn-failed"] as const;

/** How a run's process ended. Only a run that ended by itself, or was ended for its own fault, has one. */
export interface RunExit {
  readonly reason: (typeof EXIT_REASONS)[number];
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
  /** Its model answered before our rules were in force: nothing that it did is taken. */
  readonly isUngoverned?: true;
}

/** Why a program says that it cannot go on; what is done about it depends on this alone. */
export const ERROR_KINDS = [
  /** Not logged in, or the key is refused (401, 403). */
  "auth",
  /** Asked too often (429). */
  "rate-limit",
  /** The provider has no room (503, 529). */
  "overloaded",
  /** Nothing left of a plan or credit: later, or with another agent. */
  "quota",
  /** The provider cannot be reached. */
  "network",
  /** The conversation that was to go on is not known to the program. */
  "session-lost",
  /** The program printed what we do not understand: a version that we do not know. */
  "format",
  "other",
] as const;
export type ErrorKind = (typeof ERROR_KINDS)[number];

export type AgentEvent =
  | { readonly type: "text"; readonly text: string }
  /** The model has answered once more. */
  | { readonly type: "turn" }
  | { readonly type: "tool_call"; readonly id: string; readonly name: string; readonly input: unknown }
  | { readonly type: "tool_result"; readonly id: string; readonly output: string; readonly failed: boolean }
  | {
      /** What came since the last one: the reader adds them up. */
      readonly type: "usage";
      readonly model: string;
      /** All that was read, from a cache or not. */
      readonly input: number;
      readonly output: number;
      /** How much of `input` came from a cache. */
      readonly cached?: number;
      readonly costUsd?: number;
    }
  | { readonly type: "session"; readonly sessionId: string }
  /** The program waits for a person: a permission, a question. */
  | { readonly type: "waiting"; readonly question: string }
  /** A message that was sent to the running program has become a part of its conversation. */
  | { readonly type: "received"; readonly messageId: string }
  | {
      readonly type: "error";
      readonly message: string;
      readonly kind: ErrorKind;
      readonly retryAfterMs?: number;
      /** The program itself goes on trying. */
      readonly retrying?: boolean;
    }
  | { readonly type: "done"; readonly exit: RunExit };

export type ErrorEvent = Extract<AgentEvent, { type: "error" }>;
export type UsageEvent = Extract<AgentEvent, { type: "usage" }>;

/** The program to start; `shell` commands go through `sh -c`. */
export type Invocation = { readonly program: string; readonly args: readonly string[] } | { readonly shell: string };

export interface RunLimits {
  readonly deadlineMs: number;
  readonly silenceMs: number;
  readonly maxOutputBytes: number;
  /** Between asking a program to end and killing it. */
  readonly graceMs: number;
  /** That live at the same time; holds only in a pid namespace. Absent: any number. */
  readonly maxProcesses?: number;
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
  /** Lines that the program is told first, on a stdin that stays open for more; without it stdin is a file with `stdin`. */
  readonly opening?: readonly string[];
  /** Arguments of bwrap to start the program with, from `namespaceWrapper` or `openSandbox`; without them it runs bare. */
  readonly wrapper?: readonly string[];
  /** Called when the run waits for room on the disk: to begin, or to say that it has ended. */
  onFullDisk?(): void;
  /** From which its shim is taken, and to which it goes back. Without it the run has a shim of its own, which ends with it. */
  readonly shims?: ShimPool;
}

export interface LiveRun {
  readonly runDir: string;
  /** Resolves when the shim is gone or free: its exit, or "interrupted" when it wrote none. Never rejects. */
  readonly ended: Promise<RunExit | "interrupted">;
  /** Asks the program to end, kills what remains, and resolves when all of it is gone. Leaves no exit: interrupted. */
  stop(): Promise<void>;
  /** As `AgentRun.send`; absent: it takes no messages. */
  send?(message: AgentMessage): boolean;
}

/** A run of the shim that can be talked to. */
export interface TalkingRun extends LiveRun {
  /** Writes lines to the program's stdin; they are lost when it has ended. Only with `opening`. */
  write(lines: readonly string[]): void;
  /** Closes the program's stdin. */
  end(): void;
  /** Ends the run because of what it asked for: unlike a stop, that leaves an exit. */
  endByPolicy(why: string): void;
  /** Ends the run because its provider refuses it for longer than a run should wait; leaves an exit too. */
  endRefused(): void;
  /** What the program prints, to its end; to be read once. */
  lines(): AsyncIterable<string>;
}

/** A conversation that a call of another one has started. */
export interface SubAgent {
  readonly session: string;
  /** The call that started it, where the program tells it. */
  readonly startedBy?: string;
}

/** What an agent asks before it does something; what the program says about it is not to be believed. */
export interface PermitRequest {
  /** As the program calls it. */
  readonly tool: string;
  readonly input: unknown;
  /** The folder that it is made in, where the program tells it: relative paths count from there. */
  readonly folder?: string;
  /** By which events know the call, where the program tells it. */
  readonly callId?: string;
  /** Whose call it is; absent: the run's own conversation. */
  readonly by?: SubAgent;
  /** The program says that the call changes nothing. */
  readonly reads: boolean;
  /** For people. */
  readonly question: string;
}

export type Permission =
  | {
      readonly allow: true;
      /** For the agent: that something is wrong with us. */
      readonly note?: string;
    }
  | {
      readonly allow: false;
      /** For the agent: what it is to do instead. */
      readonly reason: string;
      /** It has asked for the same too often: the run ends, and counts as one attempt. */
      readonly endRun?: true;
    };

/** Decides what an agent may do. One that fails permits nothing. */
export type Permit = (request: PermitRequest) => Permission | Promise<Permission>;

/** What a program tells of a run that is judged from outside. */
export type Told =
  /** A call that was permitted is over; of one that started a sub-agent, what that said at its end. */
  | {
      readonly kind: "ended";
      readonly callId: string;
      readonly ok: boolean;
      readonly by?: SubAgent;
      readonly said?: string;
    }
  /** A sub-agent begins, or goes on. */
  | { readonly kind: "sub-agent"; readonly by: SubAgent }
  /** A conversation is given a prompt, or is about to be shortened. */
  | { readonly kind: "prompt" | "compaction"; readonly by?: SubAgent; readonly said?: string };

export interface ToldAnswer {
  /** Of a call: takes the place of its result. Else what the conversation is to know. */
  readonly text?: string | undefined;
  /** Of a call: what the conversation is to know besides its result. */
  readonly note?: string | undefined;
  /** A sub-agent that is to be ended. */
  readonly ends?: string | undefined;
}

/** Judges the calls of a run from outside of its program, which asks before each and tells what came of it. */
export interface Overseer {
  readonly permit: Permit;
  /** Only observes: one that fails changes nothing. */
  tell(told: Told): Promise<ToldAnswer>;
  /** The MCP server with tools of ours, as the program is to start it. */
  readonly server: {
    readonly command: string;
    readonly args: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  };
  /** What its tool for commands is to run them with. */
  readonly shell: string;
}

/** Something a person says to an agent that is at work. */
export interface AgentMessage {
  readonly id: string;
  readonly text: string;
}

/**
 * A repository's instructions for agents, as they stand in the plan's base commit: what an agent writes into its worktree
 * must not become what the next one is told.
 */
export interface Instructions {
  /** Of the file in the repository, for people. */
  readonly name: string;
  readonly text: string;
  /** Where the run finds the same text, absolute; a place in which no agent can write. */
  readonly file: string;
}

/** A part of ours in an agent program. */
export interface Governed {
  /** The file that the program loads, where the run sees it. */
  readonly plugin: string;
  /** What its tool for commands is to run them with. */
  readonly shell: string;
  /** The user's settings with which no tool may be used until ours says otherwise; `more` are rules of theirs from elsewhere. */
  close(given: JsonFields, more: unknown): JsonFields;
  /** Where that finds what the run may do. */
  readonly env: Readonly<Record<string, string>>;
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
  readonly wrapper?: readonly string[];
  readonly shims?: ShimPool;
  /** The run is in a sandbox of ours: the program's own may be left off, and it need not ask. */
  readonly sandboxed?: boolean;
  onFullDisk?(): void;
  /** Asked whenever the program asks; absent: `usualPermit`. */
  readonly permit?: Permit;
  /** What the program is to load of ours, which then decides about its calls. Only for programs that can. */
  readonly governed?: Governed;
  /** Who judges the run from outside; only for programs that ask. Its `permit` counts before the one above. */
  readonly overseer?: Overseer;
  /** Of the first of the program's `instructionFiles` that is there. Left out where the program reads them by itself. */
  readonly instructions?: Instructions;
  readonly signal: AbortSignal;
}

/** The events of one run, and the way to talk to it. */
export interface AgentRun extends AsyncIterable<AgentEvent> {
  /**
   * Hands a message to the program while it works. True: it was written to the program, and `received` follows when
   * that has taken it. False: this program, or this run, takes none any more; it has to wait for the next turn.
   */
  send(message: AgentMessage): boolean;
}

/**
 * How one kind of agent program is started and understood. The run starts with the call, and when the iteration has
 * ended nothing of it lives. The last event is `done`; without one the run was interrupted.
 */
export interface AgentAdapter {
  readonly name: string;
  /** Whether `sessionId` continues an earlier conversation. */
  readonly resumes: boolean;
  start(request: AgentRequest): AgentRun;
  /** Which of the messages that were sent to a run it took, as its output tells; absent: it takes none while it works. */
  receivedIn?(output: string, sent: readonly AgentMessage[]): readonly string[];
}
