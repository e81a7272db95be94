import { classifyError } from "../dialogue/error-kind.ts";
import { asJson, asNumber, asText } from "../dialogue/json-value.ts";
import type { AgentEvent } from "../port.ts";
import { AUTH_REQUIRED } from "./protocol.ts";

type Failure = Extract<AgentEvent, { type: "error" }>;

/** What the agent was asked when it answered with an error. */
export type Asked = "initialize" | "session" | "resume" | "model" | "ready" | "prompt";

export interface Refusal {
  readonly asked: Asked;
  readonly error: unknown;
  readonly logins: readonly string[];
  readonly now: number;
}

/** An error that an agent answered with, as an event. */
export function acpFailure({ asked, error, logins, now }: Refusal): Failure {
  const { code, message, data } = asJson(error);
  const details = asText(data) ?? asText(asJson(data).details) ?? asText(asJson(data).message);
  const said = [asText(message) ?? JSON.stringify(error ?? null), details].filter((part) => part !== undefined);
  const text = said.join(": ");
  if (code === AUTH_REQUIRED) {
    const offered = logins.length === 0 ? "" : ` (it offers: ${logins.join(", ")})`;
    return { type: "error", kind: "auth", message: `${text}${offered}` };
  }
  // Whatever the reason is: this conversation does not go on.
  if (asked === "resume") return { type: "error", kind: "session-lost", message: text };
  const number = asNumber(code);
  const status = number !== undefined && number >= 400 && number < 600 ? { status: number } : {};
  return { type: "error", message: plain(text), ...classifyError({ text, now, ...status }) };
}

/** Gemini puts the whole answer of its provider into the message. */
function plain(text: string): string {
  try {
    return asText(asJson(asJson(JSON.parse(text)).error).message) ?? text;
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}
