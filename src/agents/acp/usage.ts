import { asCount, asJson, asList, asText, type Json } from "../dialogue/json-value.ts";
import type { AgentEvent } from "../port.ts";

type Usage = Extract<AgentEvent, { type: "usage" }>;

/** What a turn cost, from the answer to `session/prompt`. `model` is the one that the session had. */
export function usageOfTurn(result: Json, model: string): Usage[] {
  const perModel = asList(asJson(asJson(result._meta).quota).model_usage);
  const all = perModel.length > 0 ? perModel.map((one) => geminiUsage(one, model)) : [standardUsage(result, model)];
  return all.filter(({ input, output }) => input > 0 || output > 0);
}

/** Gemini tells it in a field of its own. */
function geminiUsage(told: Json, model: string): Usage {
  const count = asJson(told.token_count);
  return {
    type: "usage",
    model: asText(told.model) ?? model,
    input: asCount(count.input_tokens),
    output: asCount(count.output_tokens),
  };
}

/** Agents differ in whether `inputTokens` has in it what came from a cache; the total tells. */
function standardUsage(result: Json, model: string): Usage {
  const told = asJson(result.usage);
  const read = asCount(told.inputTokens);
  const written = asCount(told.outputTokens);
  const cached = asCount(told.cachedReadTokens);
  const apart = asCount(told.totalTokens) > read + written + asCount(told.thoughtTokens);
  const input = apart ? read + cached + asCount(told.cachedWriteTokens) : read;
  return { type: "usage", model, input, output: written, cached: Math.min(cached, input) };
}
