import { asCount, asFields, type JsonFields } from "../../kernel/json-fields.ts";
import type { UsageEvent } from "../port.ts";

/** What one step cost, from the line with which it ends. */
export function usageOfStep({ tokens, cost }: JsonFields, model: string): UsageEvent[] {
  const { input, output, reasoning, cache } = asFields(tokens);
  const { read, write } = asFields(cache);
  const all = {
    input: asCount(input) + asCount(read) + asCount(write),
    output: asCount(output) + asCount(reasoning),
    cached: asCount(read),
  };
  // It says 0 for models whose price it does not know.
  const costUsd = asCount(cost);
  if (all.input === 0 && all.output === 0 && costUsd === 0) return [];
  return [{ type: "usage", model, ...all, ...(costUsd === 0 ? {} : { costUsd }) }];
}
