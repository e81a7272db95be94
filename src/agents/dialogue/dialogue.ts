import type { AgentEvent, AgentMessage, Invocation, Permission, PermitRequest, Told, ToldAnswer } from "../port.ts";

/** What one line of a program's output means. */
export interface Heard {
  readonly events: readonly AgentEvent[];
  /** Lines to tell the program in answer. */
  readonly write?: readonly string[];
  /** The program has said all; its stdin is to be closed. */
  readonly end?: boolean;
  /** Our rules inside of the program end the run, and why. */
  readonly policyEnd?: string;
  /** The program asks whether it may, and waits. */
  readonly ask?: Ask;
  /** The program tells the one who judges the run, and waits. */
  readonly tell?: Tell;
}

export interface Ask {
  readonly request: PermitRequest;
  /** What to tell the program; to be called once. */
  answer(permission: Permission): Heard;
}

export interface Tell {
  readonly told: Told;
  /** As with `Ask`. */
  answer(answer: ToldAnswer): Heard;
}

export const NOTHING_HEARD: Heard = { events: [] };

/**
 * How one run of a program is understood, and talked to: a state machine that does nothing by itself. Whatever a program
 * prints, `read` never throws; what it does not know becomes text or nothing, and the raw output is kept anyway.
 */
export interface Dialogue {
  /** What the program is told first, on a stdin that stays open. Absent: it gets `stdin` and no more. */
  readonly opening?: readonly string[];
  read(line: string): Heard;
  /** Lines that bring a message to the program while it works; undefined when it takes none (now). */
  send?(message: AgentMessage): readonly string[] | undefined;
  /** The program has ended, or its output was cut: what can be told only then. */
  close?(): readonly AgentEvent[];
}

/** What is particular to one run of one kind of agent program. */
export interface AdapterStyle {
  readonly invocation: Invocation;
  /** What the program reads; the prompt when absent. Not used when the dialogue has an `opening`. */
  readonly stdin?: string;
  /** Added to the environment that the request gives. */
  readonly env?: Readonly<Record<string, string>>;
  readonly dialogue: Dialogue;
}
