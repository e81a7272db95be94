import type { StoredStatus } from "../../plan/record.ts";
/** How a message reaches an agent: while it works, or in the prompt of its next run. */
export type How = "live" | "next-turn";

/** What is known about a message and the run that it was given to. */
export interface MessageEvidence {
  /** `none`: the run was not started (yet). */
  readonly run: "none" | "live" | "ended" | "interrupted";
  /** The program has shown, in this run or an earlier one of the conversation, that the message is a part of it. */
  readonly heard: boolean;
  /** What the conversation was about has been done: the TODO, or the design. */
  readonly accepted: boolean;
  /** The next run goes on with the conversation of this one; undefined: that is not known yet. */
  readonly goesOn: boolean | undefined;
}

export type MessageVerdict =
  /** Nothing that happens later can take it out of the conversation. */
  | "delivered"
  /** It is in a conversation that has not done its work yet, and that the next run goes on with. */
  | "carried"
  /** It is in no conversation that goes on: the next turn gets it. */
  | "waits"
  /** It cannot be told yet. */
  | "open";

/**
 * Pure: whether a message that was given to a run still has to be given. A conversation that came to nothing (cut off,
 * refused by its provider, given up) and is not gone on with never was, and what a person said in it has to be said again
 * to the agent that does the work; in one that goes on it must not be.
 */
export function judgeMessage({ run, heard, accepted, goesOn }: MessageEvidence): MessageVerdict {
  if (run === "live") return "open";
  if (!heard) return "waits";
  if (accepted) return "delivered";
  if (goesOn === undefined) return "open";
  return goesOn ? "carried" : "waits";
}

/** What a run left behind that tells whether it got a message. */
export interface RunSigns {
  /** Types of the events that it told. */
  readonly events: ReadonlySet<string>;
  /** Ids of the messages that it said it has received. */
  readonly received: ReadonlySet<string>;
  /** It ended by itself, or for its own fault; a program that could not be started did not. */
  readonly ran: boolean;
  /** An agent that tells nothing about itself: only that it ran can count. */
  readonly isCommand: boolean;
}

/** Pure: whether a run got a message. For a prompt, an answer of the model is the sign: an error may come before it was read. */
export function wasHeard(message: { readonly id: string; readonly how: How }, run: RunSigns): boolean {
  if (message.how === "live") return run.received.has(message.id);
  if (run.isCommand) return run.ran;
  return hasAnswered(run);
}

/** Pure: whether a model has answered in a run. Text alone does not show it: a program may print that it cannot begin. */
function hasAnswered({ events }: Pick<RunSigns, "events">): boolean {
  return events.has("turn") || events.has("tool_call");
}

/** Why a message is not with an agent now. */
export interface WaitingView {
  readonly id: string;
  readonly status: StoredStatus;
  readonly blocked: boolean;
  readonly paused: boolean;
  readonly hidden: boolean;
  /** A person has it open. */
  readonly opened: boolean;
  /** It waits at its gate. */
  readonly gated: boolean;
  /** The agent that is at work; its stage may be one that takes no messages. */
  readonly live: { readonly agent: string; readonly stage: string; readonly listens: boolean } | undefined;
  readonly dispatcher: boolean;
}

/** Pure: what a message waits for, in words that follow "waits for the agent's next turn", and what to type. */
export function whyItWaits(view: WaitingView): { why: string; hint?: string } {
  const { id, live } = view;
  if (live && !live.listens) return { why: `${live.agent} is at work as ${live.stage}, and only the worker is told` };
  if (live) return { why: `${live.agent} takes no messages while it works` };
  if (view.opened) return { why: "a person has the plan open" };
  if (view.blocked) return { why: "the plan is blocked", hint: `\`prloom unblock ${id}\` lets it go on.` };
  if (view.paused) return { why: "the plan is paused", hint: `\`prloom resume ${id}\` lets it go on.` };
  if (view.hidden) return { why: "the plan is hidden", hint: `\`prloom unhide ${id}\` lets it go on.` };
  if (view.status === "draft") return { why: "the plan is a draft", hint: `\`prloom queue ${id}\` lets it start.` };
  if (view.status === "review") {
    const hint = `To make work of it, comment instead: prloom comment ${id} "what you want"`;
    return { why: "the plan is in review, and no turn is due", hint };
  }
  if (view.gated) {
    const hint = `\`prloom approve ${id}\` lets it go on; a message answers nothing.`;
    return { why: "the plan waits for an answer at its gate", hint };
  }
  if (!view.dispatcher) return { why: "no dispatcher is running", hint: "`prloom start` starts one." };
  return { why: view.status === "queued" ? "the plan has not begun" : "no agent is at work at this moment" };
}
