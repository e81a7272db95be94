import { asFields, asNumber, asString, type JsonFields, jsonIn } from "../../kernel/json-fields.ts";
import { classifyError } from "../dialogue/error-kind.ts";
import type { ErrorEvent, ErrorKind } from "../port.ts";

/** OpenCode's own names for what went wrong. */
const BY_NAME: ReadonlyMap<string, ErrorKind> = new Map([
  ["ProviderAuthError", "auth"],
  ["ContextOverflowError", "other"],
  ["MessageOutputLengthError", "other"],
]);

/** What an `error` line of OpenCode says. */
export function failureOf(error: JsonFields, now: number): ErrorEvent {
  const data = asFields(error.data);
  const name = asString(error.name) ?? "error";
  const told = asString(data.message) ?? asString(error.message) ?? JSON.stringify(error);
  // An error that came inside of an answer is told as it came.
  const message = asString(asFields(jsonIn(told)).message) ?? told;
  const status = asNumber(data.statusCode);
  const { kind, retryAfterMs } = classifyError({
    // What the provider sent says more than OpenCode's sentence about it.
    text: [told, asString(data.responseBody) ?? ""].join("\n"),
    now,
    ...(status === undefined ? {} : { status }),
  });
  const wait = headerMs(asFields(data.responseHeaders)) ?? retryAfterMs;
  return {
    type: "error",
    message: message === "" ? name : message,
    kind: BY_NAME.get(name) ?? kind,
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
  };
}

function headerMs(headers: JsonFields): number | undefined {
  const ms = Number(asString(headers["retry-after-ms"]));
  if (ms > 0) return Math.ceil(ms);
  const seconds = Number(asString(headers["retry-after"]));
  return seconds > 0 ? Math.ceil(seconds * 1000) : undefined;
}

/** "AI_APICallError: Rate limit reached.": the name of a class in front says nothing to people. */
export function withoutClass(text: string): string {
  return text.replace(/^\w*Error: /, "");
}

/** What a sentence that OpenCode printed instead of JSON says. */
export function saidFailure(text: string, now: number): ErrorEvent {
  return { type: "error", message: text, ...classifyError({ text, now }) };
}
