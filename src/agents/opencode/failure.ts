import { classifyError } from "../dialogue/error-kind.ts";
import { asJson, asNumber, asText, type Json } from "../dialogue/json-value.ts";
import type { AgentEvent } from "../port.ts";

export type Failure = Extract<AgentEvent, { type: "error" }>;

/** OpenCode's own names for what went wrong. */
const BY_NAME: ReadonlyMap<string, Failure["kind"]> = new Map([
  ["ProviderAuthError", "auth"],
  ["ContextOverflowError", "other"],
  ["MessageOutputLengthError", "other"],
]);

/** What an `error` line of OpenCode says. */
export function failureOf(error: Json, now: number): Failure {
  const data = asJson(error.data);
  const name = asText(error.name) ?? "error";
  const message = asText(data.message) ?? asText(error.message) ?? JSON.stringify(error);
  const status = asNumber(data.statusCode);
  const { kind, retryAfterMs } = classifyError({
    // What the provider sent says more than OpenCode's sentence about it.
    text: [message, asText(data.responseBody) ?? ""].join("\n"),
    now,
    ...(status === undefined ? {} : { status }),
  });
  const wait = headerMs(asJson(data.responseHeaders)) ?? retryAfterMs;
  return {
    type: "error",
    message: message === "" ? name : message,
    kind: BY_NAME.get(name) ?? kind,
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
  };
}

function headerMs(headers: Json): number | undefined {
  const ms = Number(asText(headers["retry-after-ms"]));
  if (ms > 0) return Math.ceil(ms);
  const seconds = Number(asText(headers["retry-after"]));
  return seconds > 0 ? Math.ceil(seconds * 1000) : undefined;
}

/** "AI_APICallError: Rate limit reached.": the name of a class in front says nothing to people. */
export function withoutClass(text: string): string {
  return text.replace(/^\w*Error: /, "");
}

/** What a sentence that OpenCode printed instead of JSON says. */
export function saidFailure(text: string, now: number): Failure {
  return { type: "error", message: text, ...classifyError({ text, now }) };
}
