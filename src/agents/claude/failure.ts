import { asFields, asNumber, asString, type JsonFields } from "../../kernel/json-fields.ts";
import { classifyError, isLasting, refusalInWords } from "../dialogue/error-kind.ts";
import type { ErrorEvent, ErrorKind } from "../port.ts";

/** Claude Code's own names for what went wrong. */
const BY_CODE: ReadonlyMap<string, ErrorKind> = new Map([
  ["authentication_failed", "auth"],
  ["oauth_org_not_allowed", "auth"],
  ["billing_error", "quota"],
  ["rate_limit", "rate-limit"],
  ["overloaded", "overloaded"],
  ["server_error", "overloaded"],
]);

/** A `system` line that says that the provider refused and is asked again. */
export function retryFailure(line: JsonFields): ErrorEvent {
  const code = asString(line.error) ?? "unknown";
  const status = asNumber(line.error_status);
  const wait = asNumber(line.retry_delay_ms);
  const reason = status === undefined ? "no answer" : `status ${status}`;
  const known = BY_CODE.get(code) ?? classifyError({ text: code, ...(status === undefined ? {} : { status }) }).kind;
  return {
    type: "error",
    message: `The provider refused (${reason}, ${code}); attempt ${asNumber(line.attempt) ?? 1}.`,
    // One that gave no answer at all was not reached.
    kind: status === undefined && known === "other" ? "network" : known,
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
    retrying: true,
  };
}

export interface Circumstances {
  /** What the program called the error when it answered in the place of the model. */
  readonly code?: string | undefined;
  /** When a limit of the user's plan ends, in milliseconds since 1970. */
  readonly resetsAt?: number | undefined;
  readonly now: number;
}

/** How its own sentences about limits begin; it looks for the same to know them. Their rest changes from version to version. */
const OF_LIMITS =
  /^(?:you[’']ve (?:hit|reached) your |you[’']re out of (?:extra )?usage\b|your org(?:anization)? is out of usage\b|your seat type doesn[’']t include |your usage allocation has been disabled\b|your group[’']s usage limit is |(?:fable|haiku|mythos|opus|sonnet)\b[^·\n]{0,41} requires usage credits\.)/i;

/** Whether what it said in the place of the model is a refusal. */
export function saysRefusal(text: string, now: number): boolean {
  return OF_LIMITS.test(text) || refusalInWords(text, now) !== undefined;
}

/** What a `result` line says that ended with an error. */
export function resultFailure(line: JsonFields, { code, resetsAt, now }: Circumstances): ErrorEvent {
  const errors = Array.isArray(line.errors) ? line.errors.filter((one) => typeof one === "string") : [];
  const message = asString(line.result) || errors.join("; ") || asString(line.subtype) || "The run failed.";
  const status = asNumber(line.api_error_status);
  const { kind, retryAfterMs } = classifyError({ text: message, now, ...(status === undefined ? {} : { status }) });
  const named = isLasting(status) ? undefined : OF_LIMITS.test(message) ? "quota" : BY_CODE.get(code ?? "");
  const limited = resetsAt !== undefined && resetsAt > now && !isLasting(status);
  return {
    type: "error",
    message,
    kind: limited && kind !== "auth" ? "quota" : kind === "other" ? (named ?? "other") : kind,
    ...(limited ? { retryAfterMs: resetsAt - now } : retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/** A line about the limits of the user's plan: when the one that refuses ends, in milliseconds since 1970. */
export function limitEnd(line: JsonFields): number | undefined {
  const info = asFields(line.rate_limit_info);
  const seconds = asNumber(info.resetsAt);
  return info.status === "rejected" && seconds !== undefined ? seconds * 1000 : undefined;
}
