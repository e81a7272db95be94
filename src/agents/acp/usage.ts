import { asCount, asFields, asFieldsList, asString, type JsonFields } from "../../kernel/json-fields.ts";
import type { UsageEvent } from "../port.ts";

/** What a turn cost, from the answer to `session/prompt`. `model` is the one that the session had. */
export function usageOfTurn(result: JsonFields, model: string): UsageEvent[] {
  const perModel = asFieldsList(asFields(asFields(result._meta).quota).model_usage);
  const all = perModel.length > 0 ? perModel.map((one) => geminiUsage(one, model)) : [standardUsage(result, model)];
  return all.filter(({ input, output }) => input > 0 || output > 0);
}

/** Gemini tells it in a field of its own. */
function geminiUsage(told: JsonFields, model: string): UsageEvent {
  const count = asFields(told.token_count);
  return {
    type: "usage",
    model: asString(told.model) ?? model,
    input: asCount(count.input_tokens),
    output: asCount(count.output_tokens),
  };
}

/** Agents differ in whether `inputTokens` has in it what came from a cache; the total tells. */
function standardUsage(result: JsonFields, model: string): UsageEvent {
  const told = asFields(result.usage);
  const read = asCount(told.inputTokens);
  const written = asCount(told.outputTokens);
  const cached = asCount(told.cachedReadTokens);
  const apart = asCount(told.totalTokens) > read + written + asCount(told.thoughtTokens);
  const input = apart ? read + cached + asCount(told.cachedWriteTokens) : read;
  return { type: "usage", model, input, output: written, cached: Math.min(cached, input) };
}
