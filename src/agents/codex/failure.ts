import { classifyError, type KnownError } from "../dialogue/error-kind.ts";
import type { ErrorEvent, ErrorKind } from "../port.ts";

/** "Reconnecting... 2/5 (unexpected status 401 …)": it tries again by itself. */
const RETRYING = /^Reconnecting\.\.\.[^(]*\((.*)\)$/s;
const STATUS = /\bstatus:? (\d{3})\b/;

/** What Codex says about a failure of its provider, as an event. */
export function codexFailure(message: string, now: number): ErrorEvent {
  const inner = RETRYING.exec(message)?.[1];
  const text = inner ?? message;
  return { type: "error", message: text, ...known(text, now), ...(inner === undefined ? {} : { retrying: true }) };
}

/** Its own words, which no other program uses. */
const OWN_WORDS: readonly (readonly [ErrorKind, RegExp])[] = [
  ["quota", /^to use codex with your chatgpt plan/i],
  ["overloaded", /^(?:selected )?model is at capacity/i],
  ["auth", /^missing environment variable/i],
];

/** Before what ended an answer too early, which may be the line, or the provider's own reason. */
const BROKEN_OFF = /^(?:stream disconnected before completion|connection failed)(?:: |$)/i;

const BY_REASON: readonly (readonly [ErrorKind, RegExp])[] = [
  [
    "network",
    /^(?:$|(?:the )?(?:response )?stream (?:closed|dropped|ended)|idle timeout|websocket|error (?:sending|decoding)|transport|connection|broken pipe|unexpected eof)/i,
  ],
  ["overloaded", /^(?:an error occurred while processing|the server had an error)/i],
];

function known(text: string, now: number): KnownError {
  const status = STATUS.exec(text)?.[1];
  return status === undefined ? knownByWords(text, now) : classifyError({ text, now, status: Number(status) });
}

function knownByWords(text: string, now: number): KnownError {
  const own = kindIn(OWN_WORDS, text);
  if (own !== undefined) return { kind: own };
  const known = classifyError({ text, now });
  if (known.kind !== "other" || !BROKEN_OFF.test(text)) return known;
  return { kind: kindIn(BY_REASON, text.replace(BROKEN_OFF, "")) ?? "other" };
}

function kindIn(table: readonly (readonly [ErrorKind, RegExp])[], text: string): ErrorKind | undefined {
  return table.find(([, pattern]) => pattern.test(text))?.[0];
}

/** What Codex prints outside of its JSON when it does not even begin. */
export function codexRefusal(line: string, program: string, now: number): ErrorEvent | undefined {
  if (/no rollout found for thread|no (?:saved )?(?:session|thread) found/i.test(line)) {
    return { type: "error", kind: "session-lost", message: line };
  }
  if (/^error: (?:unexpected argument|unrecognized subcommand|invalid value)/.test(line)) {
    const message = `${program} does not know how prloom starts it; it may be too old: ${line}`;
    return { type: "error", kind: "format", message };
  }
  if (/^Error\b|^Not inside a trusted directory/.test(line)) {
    return { type: "error", message: line, ...known(line, now) };
  }
  return undefined;
}
