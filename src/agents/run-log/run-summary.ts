import { isoTime } from "../../kernel/clock.ts";
import { ownValue } from "../../kernel/json-fields.ts";
import type { AgentEvent, ErrorKind, UsageEvent } from "../port.ts";

/** What one model cost in a run. */
export interface ModelUsage {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  /** Undefined when the program did not tell what it cost. */
  readonly costUsd?: number;
}

/** A run's events, summed: what `prloom show` tells and what budgets count. */
export interface RunLogSummary {
  readonly turns: number;
  /** Calls by the tool's name, as the program calls it. */
  readonly tools: Readonly<Record<string, number>>;
  readonly failedTools: number;
  readonly models: Readonly<Record<string, ModelUsage>>;
  readonly sessionId?: string;
  /** The errors that it met; the newest last, a few at most. */
  readonly errors: readonly RunError[];
  /** The newest error that no answer of the model has followed: what the run ended with, if it has ended. */
  readonly trouble?: RunError;
}

export interface RunError {
  readonly kind: ErrorKind;
  readonly message: string;
  readonly retryAfterMs?: number;
  /** The time at which that is over: what a run met may be read much later. */
  readonly retryAt?: string;
}

export const EMPTY_SUMMARY: RunLogSummary = { turns: 0, tools: {}, failedTools: 0, models: {}, errors: [] };

const MAX_ERRORS = 20;
/** Names come from the program, and a model may make up thousands. */
const MAX_NAMES = 100;

/** The summary with one more event in it; `at`: when that came. */
export function addEvent(summary: RunLogSummary, event: AgentEvent & { readonly at?: string }): RunLogSummary {
  switch (event.type) {
    case "turn":
      return { ...withoutTrouble(summary), turns: summary.turns + 1 };
    case "tool_call": {
      const name = nameIn(summary.tools, event.name);
      return { ...summary, tools: { ...summary.tools, [name]: (ownValue(summary.tools, name) ?? 0) + 1 } };
    }
    case "tool_result":
      return event.failed ? { ...summary, failedTools: summary.failedTools + 1 } : summary;
    case "usage": {
      const name = nameIn(summary.models, event.model);
      return { ...summary, models: { ...summary.models, [name]: plus(ownValue(summary.models, name), event) } };
    }
    case "session":
      return { ...summary, sessionId: event.sessionId };
    case "error": {
      const { kind, message, retryAfterMs } = event;
      const wait = retryAfterMs === undefined ? {} : { retryAfterMs, ...endOfWait(event.at, retryAfterMs) };
      const error = { kind, message, ...wait };
      return { ...summary, errors: [...summary.errors, error].slice(-MAX_ERRORS), trouble: error };
    }
    default:
      return summary;
  }
}

/** No program is waited for so long, and a date could not tell it. */
const MAX_WAIT_MS = 366 * 86_400_000;

function endOfWait(at: string | undefined, ms: number): { retryAt?: string } {
  return at === undefined ? {} : { retryAt: isoTime(Date.parse(at) + Math.min(Math.max(0, ms), MAX_WAIT_MS)) };
}

function nameIn(known: Readonly<Record<string, unknown>>, name: string): string {
  return Object.hasOwn(known, name) || Object.keys(known).length < MAX_NAMES ? name : "others";
}

function withoutTrouble({ trouble: _, ...summary }: RunLogSummary): RunLogSummary {
  return summary;
}

/** More than any run spends. Without it a program could tell so much that the sum is infinite, which no record can say. */
const MAX_TOLD = Number.MAX_SAFE_INTEGER;

function sum(before = 0, more = 0): number {
  return Math.min(before + more, MAX_TOLD);
}

function plus(before: ModelUsage | undefined, more: UsageEvent): ModelUsage {
  const isTold = before?.costUsd !== undefined || more.costUsd !== undefined;
  return {
    input: sum(before?.input, more.input),
    output: sum(before?.output, more.output),
    cached: sum(before?.cached, more.cached),
    ...(isTold ? { costUsd: sum(before?.costUsd, more.costUsd) } : {}),
  };
}

export interface Spending {
  readonly tokens: number;
  readonly usd: number;
}

/** What a run spent; where the program told no cost, the price of the config is used. */
export function spendingOf(
  summary: RunLogSummary,
  price?: { readonly input: number; readonly output: number },
): Spending {
  let tokens = 0;
  let usd = 0;
  for (const { input, output, costUsd } of Object.values(summary.models)) {
    tokens += input + output;
    usd += costUsd ?? (price ? (input * price.input + output * price.output) / 1_000_000 : 0);
  }
  return { tokens, usd };
}
