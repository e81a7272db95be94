import { jsonIn } from "../../kernel/json-fields.ts";

/** One line of OpenCode's log, as `--print-logs` prints it. */
export interface LogLine {
  readonly level: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** A name begins where it begins: looked for from each of its letters, a long word takes time with its square. */
const FIELD = /(?<![\w.])([\w.]+)=("(?:[^"\\]|\\.)*"|\S*)/g;

/** Reads `timestamp=… level=ERROR message="stream error" …`; undefined for any other line. */
export function readLogLine(line: string): LogLine | undefined {
  const level = /^timestamp=\S+ level=([A-Z]+) /.exec(line)?.[1];
  if (level === undefined) return undefined;
  const fields: Record<string, string> = {};
  for (const [, name = "", value = ""] of line.matchAll(FIELD)) fields[name] ??= unquoted(value);
  return { level, fields };
}

function unquoted(value: string): string {
  return value.startsWith('"') ? String(jsonIn(value) ?? value.slice(1, -1)) : value;
}

/** Kinds of what our plugin has the program log; what follows one is for people. */
const ASKED_AGAIN = "prloom:asked-again";
const POLICY_END = "prloom:policy-end";
const IN_FORCE = "prloom:in-force";

/** That the rules end a run, and why: what was printed, no agent can take away. */
export const policyEndLine = (why: string): string => `${POLICY_END} ${why}`;

/** Why, in such a message; undefined for any other. */
export function readPolicyEnd(message: string): string | undefined {
  const [kind, ...why] = message.split(" ");
  return kind === POLICY_END ? why.join(" ") : undefined;
}

/** That our rules are in force in a run: our plugin says so before the model is asked anything. */
export const inForceLine = (runId: string): string => `${IN_FORCE} ${runId}`;

/** What `--format json` prints of an answer of the model begins like this; other plugins may print JSON as well. */
const ANSWERED = /^\{"type":"(?:step_start|text|reasoning|tool_use|step_finish)"/;

/**
 * Whether our rules were in force before the model answered; undefined while it has not. A program without them can be
 * made to print the same by its agent, but only after an answer: what comes first decides. Both outputs are one pipe.
 */
export function rulesInForce(lines: Iterable<string>, runId: string): boolean | undefined {
  const proof = inForceLine(runId);
  for (const line of lines) {
    if (ANSWERED.test(line)) return false;
    // What else is printed may stand before it in its line.
    if (line.includes(proof)) return true;
  }
  return undefined;
}

/** What our plugin puts into the log: the program tells only its plugins how long it waits for its provider. */
export function askedAgainLine(at: number, why: string): string {
  return `${ASKED_AGAIN} ${at}: ${why.replace(/\s+/g, " ").slice(0, 300)}`;
}

/** What such a message says; undefined for any other. */
export function readAskedAgain(message: string): { readonly at: number; readonly why: string } | undefined {
  const [, at, why = ""] = new RegExp(`^${ASKED_AGAIN} (\\d{13}): (.*)$`).exec(message) ?? [];
  return at === undefined ? undefined : { at: Number(at), why };
}
