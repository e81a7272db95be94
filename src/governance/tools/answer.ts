import type { Brain, FactOutcome } from "../graph/brain.ts";
import type { Fact } from "../graph/facts.ts";

/** Who calls, and for what: known by the run, not by what the model says. */
export interface Caller {
  readonly session: string;
  /** The id of the call: what is recorded for it counts once. */
  readonly call: string;
  readonly role: string;
  /** The node that the session works on. */
  readonly node: string | null;
  readonly now: number;
  /** Under the dispatcher plans are its own. */
  readonly isDispatched: boolean;
  newId(): string;
}

/** What a call comes to: an answer at once, or a fact that is written first and may then be refused. */
export type Prepared =
  | { readonly kind: "answer"; readonly text: string }
  | {
      readonly kind: "fact";
      readonly fact: Fact;
      /** A session that is to be ended. */
      readonly ends?: string | undefined;
      answer(outcome: FactOutcome, brain: Brain): string;
    };

export const answered = (text: string): Prepared => ({ kind: "answer", text });

export function common({ session, call, role, now }: Caller): {
  key: string;
  at: number;
  session: string;
  role: string;
} {
  return { key: `${session}:${call}`, at: now, session, role };
}

/** The answer to a fact: what was refused is told with what to do next. */
export function told(outcome: FactOutcome, done: string, instead: string): string {
  return outcome.kind === "refused" ? `REFUSED: ${outcome.refusal.reason}\n${instead}` : done;
}

export const nextCall = (tool: string, input: Readonly<Record<string, unknown>>): string =>
  `Next: ${tool} ${JSON.stringify(input)}`;
