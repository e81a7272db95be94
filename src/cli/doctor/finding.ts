import type { ProgramFacts } from "../../agents/inspect-program.ts";
import { messageOf, PrloomError } from "../../kernel/errors.ts";

/** One thing that the doctor looked at. */
export interface Finding {
  readonly name: string;
  /** bad: prloom cannot work like that. */
  readonly state: "ok" | "warn" | "bad";
  readonly text: string;
  readonly hint?: string;
  /** Of an agent program that prloom knows. */
  readonly program?: ProgramFacts;
}

/** Does something; an error with a hint becomes a finding. */
export async function orFinding<T>(
  name: string,
  findings: Finding[],
  act: () => Promise<T> | T,
): Promise<T | undefined> {
  try {
    return await act();
  } catch (error) {
    findings.push(findingOf(name, error));
    return undefined;
  }
}

export function findingOf(name: string, error: unknown): Finding {
  if (error instanceof PrloomError) return { name, state: "bad", text: error.message, hint: error.hint };
  return { name, state: "bad", text: messageOf(error) };
}
