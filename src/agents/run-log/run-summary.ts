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
}

export const EMPTY_SUMMARY: RunLogSummary = { turns: 0, tools: {}, failedTools: 0, models: {}, errors: [] };

const MAX_ERRORS = 20;
/** Names come from the program, and a model may make up thousands. */
const MAX_NAMES = 100;

/** The summary with one more event in it. */
export function addEvent(summary: RunLogSummary, event: AgentEvent): RunLogSummary {
  switch (event.type) {
    case "turn":
      return { ...withoutTrouble(summary), turns: summary.turns + 1 };
    case "tool_call": {
      const name = event.name in summary.tools || Object.keys(summary.tools).length < MAX_NAMES ? event.name : "others";
      return { ...summary, tools: { ...summary.tools, [name]: (summary.tools[name] ?? 0) + 1 } };
    }
    case "tool_result":
      return event.failed ? { ...summary, failedTools: summary.failedTools + 1 } : summary;
    case "usage":
      return { ...summary, models: { ...summary.models, [event.model]: plus(summary.models[event.model], event) } };
    case "session":
      return { ...summary, sessionId: event.sessionId };
    case "error": {
      const { kind, message, retryAfterMs } = event;
      const error = { kind, message, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
      return { ...summary, errors: [...summary.errors, error].slice(-MAX_ERRORS), trouble: error };
    }
    default:
      return summary;
  }
}

function withoutTrouble({ trouble: _, ...summary }: RunLogSummary): RunLogSummary {
  return summary;
}

function plus(before: ModelUsage | undefined, more: UsageEvent): ModelUsage {
  const cost = [before?.costUsd, more.costUsd].filter((one) => one !== undefined);
  return {
    input: (before?.input ?? 0) + more.input,
    output: (before?.output ?? 0) + more.output,
    cached: (before?.cached ?? 0) + (more.cached ?? 0),
    ...(cost.length === 0 ? {} : { costUsd: cost.reduce((sum, one) => sum + one, 0) }),
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
