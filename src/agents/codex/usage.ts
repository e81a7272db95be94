import { asCount, type JsonFields } from "../../kernel/json-fields.ts";
import type { UsageEvent } from "../port.ts";

/** Tokens of a conversation so far. */
export interface CodexTokens {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
}

/** Counts what a run spends. Codex counts a conversation from its beginning: `before` is what earlier runs have told. */
export function usageCounter(model: string, before: CodexTokens): (told: JsonFields) => UsageEvent[] {
  let counted = before;
  return (told) => {
    const total = { input: asCount(told.input_tokens), output: asCount(told.output_tokens) };
    const now: CodexTokens = { ...total, cached: Math.min(asCount(told.cached_input_tokens), total.input) };
    const input = Math.max(0, now.input - counted.input);
    const output = Math.max(0, now.output - counted.output);
    const cached = Math.min(input, Math.max(0, now.cached - counted.cached));
    counted = now;
    return input === 0 && output === 0 ? [] : [{ type: "usage", model, input, output, cached }];
  };
}
