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

/** That the rules end a run, and why: what was printed, no agent can take away. */
export const policyEndLine = (why: string): string => `${POLICY_END} ${why}`;

/** Why, in such a message; undefined for any other. */
export function readPolicyEnd(message: string): string | undefined {
  const [kind, ...why] = message.split(" ");
  return kind === POLICY_END ? why.join(" ") : undefined;
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
