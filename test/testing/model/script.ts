/** Tokens that an answer is said to have cost. `input` is all that was read; `cached` how much of it came from a cache. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cached?: number;
}

/** One use of a tool, by what it is for; each program gets it under the names of its own tools. */
export type ToolUse =
  | { readonly write: string; readonly content: string }
  | { readonly edit: string; readonly from: string; readonly to: string }
  | { readonly shell: string }
  | { readonly read: string }
  /** Exactly this tool with these arguments, for what only one program has. */
  | { readonly tool: string; readonly args: unknown };

interface Spoken {
  /** Text; before the tools, if there are any. */
  readonly say?: string;
  /** Bytes of a very long text in small pieces, in place of `say`. */
  readonly flood?: number;
  readonly usage?: Usage;
}

/** What the model answers with. The conversation becomes one turn longer by it. */
export type Answering =
  | (Spoken & { readonly say: string })
  | (Spoken & ToolUse)
  /** Several tools at once. */
  | (Spoken & { readonly do: readonly ToolUse[] })
  | (Spoken & { readonly flood: number });

/** What goes wrong before the next answer: `times` requests long, or forever. */
export type Fault = { readonly times?: number } & (
  | {
      /** An HTTP status; 529 is "no room" and has the shape and number that the provider uses for it. */
      readonly fail: number;
      /** Seconds, told in the way of the provider. */
      readonly retryAfter?: number;
      /** Nothing left of a plan or credit; the status is the provider's own. */
      readonly quota?: boolean;
      /** Seconds until a limit of the user's plan ends, told in the way of the provider. */
      readonly limit?: number;
      /** Told with 200, inside of the answer. */
      readonly inStream?: true;
    }
  /** Milliseconds in which nothing at all is sent; the answer follows if the client still waits for it. */
  | { readonly hang: number }
  /** The connection is cut in the middle of the answer. */
  | { readonly drop: true }
  /** What no client of this protocol can read. */
  | { readonly garbage: true }
);

export type Step = Answering | Fault;

/** What is known when a step is chosen. */
export interface Turn {
  /** The newest thing the user said. */
  readonly text: string;
  /** Answers that were given since. */
  readonly answers: number;
  /** What the tools brought since, oldest first. */
  readonly results: readonly string[];
  /** What prloom's prompt names. */
  readonly prompt: PromptNames;
  /** Names of the tools that the program offers. */
  readonly tools: readonly string[];
}

/** Names and paths that a prompt of prloom carries. */
export interface PromptNames {
  readonly stage?: string;
  readonly planId?: string;
  readonly worktree?: string;
  readonly planFile?: string;
  readonly resultFile?: string;
  readonly todoNumber?: number;
  /** The TODO's own words. */
  readonly todo?: string;
  /** It continues an earlier conversation. */
  readonly goesOn: boolean;
  /** An earlier attempt was not accepted. */
  readonly refused: boolean;
}

export type ScriptStep = Step | ((turn: Turn) => Step);

/**
 * What to answer to a user's text. Of the texts of a conversation the newest counts that a rule fits; of the rules the
 * first. Steps are taken one after another, and the last one repeats.
 */
export interface Rule {
  /** Fits the user's text, or what is known about it; absent: any. */
  readonly when?: RegExp | ((turn: Turn) => boolean);
  readonly steps: readonly ScriptStep[];
}

export type Script = readonly Rule[];

function isFault(step: Step): step is Fault {
  return "fail" in step || "hang" in step || "drop" in step || "garbage" in step;
}

/** Where a conversation stands in a script. */
export interface Place {
  readonly rule: number;
  readonly turn: Turn;
}

/** The rule for a conversation, whose turns are given newest first. */
export function placeOf(script: Script, turns: readonly Turn[]): Place | undefined {
  for (const turn of turns) {
    const rule = script.findIndex(({ when }) => fits(when, turn));
    if (rule >= 0) return { rule, turn };
  }
  return undefined;
}

function fits(when: Rule["when"], turn: Turn): boolean {
  if (when === undefined) return true;
  // A copy: one with the flag g would remember where it stopped.
  return typeof when === "function" ? when(turn) : new RegExp(when, when.flags).test(turn.text);
}

export interface Choice {
  /** Faults that come first, each with its position in the rule. */
  readonly fault?: Fault;
  readonly answer: Answering;
  /** Position of the fault, or of the answer, in the rule. */
  readonly position: number;
}

const NOTHING_SAID: Answering = { say: "Done." };

/**
 * The step for a turn. Faults take no turn: they stand before the answer that follows them. `met` says how often the
 * fault at a position has been met already.
 */
export function chooseStep(rule: Rule, turn: Turn, met: (position: number) => number): Choice {
  let left = turn.answers;
  let last: { answer: Answering; position: number } = { answer: NOTHING_SAID, position: rule.steps.length };
  let fault: { fault: Fault; position: number } | undefined;
  for (const [position, written] of rule.steps.entries()) {
    const step = typeof written === "function" ? written(turn) : written;
    if (isFault(step)) {
      const isDue = left === 0 && met(position) < (step.times ?? Number.POSITIVE_INFINITY);
      if (isDue) fault ??= { fault: step, position };
      continue;
    }
    last = { answer: step, position };
    if (left === 0) break;
    left -= 1;
  }
  return fault ? { ...last, ...fault } : last;
}
