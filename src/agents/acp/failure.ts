import { asFields, asNumber, asString, jsonIn } from "../../kernel/json-fields.ts";
import { classifyError } from "../dialogue/error-kind.ts";
import type { ErrorEvent } from "../port.ts";
import { AUTH_REQUIRED } from "./protocol.ts";

/** What the agent was asked when it answered with an error. */
export type AskedOfAgent = "initialize" | "session" | "resume" | "model" | "ready" | "prompt";

export interface AnsweredError {
  readonly asked: AskedOfAgent;
  readonly error: unknown;
  readonly logins: readonly string[];
  readonly now: number;
}

/** An error that an agent answered with, as an event. */
export function acpFailure({ asked, error, logins, now }: AnsweredError): ErrorEvent {
  const { code, message, data } = asFields(error);
  const details = asString(data) ?? asString(asFields(data).details) ?? asString(asFields(data).message);
  const said = [asString(message) ?? JSON.stringify(error ?? null), details].filter((part) => part !== undefined);
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
  return asString(asFields(asFields(jsonIn(text)).error).message) ?? text;
}
