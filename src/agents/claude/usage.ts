import { asCount, asFields, asNumber, type JsonFields } from "../../kernel/json-fields.ts";
import type { UsageEvent } from "../port.ts";

interface Tokens {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
}

/** So many answers can be under way at once, and no run may fill our memory. */
const MAX_ANSWERS = 100;
/** And a run has a few models, with short names; of others more is counted than was spent, as what was told is not taken off. */
const MAX_MODELS = 100;
const MAX_NAME = 200;

const NONE: Tokens = { input: 0, output: 0, cached: 0 };

function combine(a: Tokens, b: Tokens, how: (x: number, y: number) => number): Tokens {
  return { input: how(a.input, b.input), output: how(a.output, b.output), cached: how(a.cached, b.cached) };
}

const plus = (a: Tokens, b: Tokens): Tokens => combine(a, b, (x, y) => x + y);
/** What `a` has beyond `b`. */
const beyond = (a: Tokens, b: Tokens): Tokens => combine(a, b, (x, y) => Math.max(0, x - y));

/**
 * Counts what a run spends. Each answer tells what it read when it begins, and hardly anything of what it wrote; a result
 * tells all that was spent since the one before. So answers are counted as they come, so that budgets hold while the run
 * goes on, and a result brings what is missing. (What a result tells in sum includes earlier runs of the conversation.)
 */
export class UsageCounter {
  /** By message: several lines bring parts of the same one, and those of sub-agents come in between. */
  readonly #answers = new Map<string, Tokens>();
  /** By model: told, and not yet part of a result. */
  readonly #told = new Map<string, Tokens>();

  knows(id: string): boolean {
    return this.#answers.has(id);
  }

  /** What a line of an answer adds. */
  answer(id: string, model: string, usage: JsonFields): UsageEvent[] {
    const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens } = usage;
    const tokens: Tokens = {
      input: asCount(input_tokens) + asCount(cache_creation_input_tokens) + asCount(cache_read_input_tokens),
      output: asCount(output_tokens),
      cached: asCount(cache_read_input_tokens),
    };
    const before = this.#answers.get(id) ?? NONE;
    this.#answers.set(id, combine(tokens, before, Math.max));
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= MAX_ANSWERS) break;
      this.#answers.delete(oldest);
    }
    const more = beyond(tokens, before);
    this.#tell(model, plus(this.#told.get(model) ?? NONE, more));
    return usageEvents(model, more);
  }

  /** What a result adds to what was told. */
  result(sinceLast: JsonFields): UsageEvent[] {
    return Object.entries(sinceLast).flatMap(([model, value]) => {
      const spent = asFields(value);
      const name = this.#nameOf(model, spent);
      const all: Tokens = {
        input:
          asCount(spent.inputTokens) + asCount(spent.cacheCreationInputTokens) + asCount(spent.cacheReadInputTokens),
        output: asCount(spent.outputTokens),
        cached: asCount(spent.cacheReadInputTokens),
      };
      const told = this.#told.get(name) ?? NONE;
      // An answer may be told before a result and counted with the next one.
      this.#tell(name, beyond(told, all));
      return usageEvents(name, beyond(all, told), asNumber(spent.costUSD));
    });
  }

  #tell(model: string, tokens: Tokens): void {
    if (model.length > MAX_NAME || (!this.#told.has(model) && this.#told.size >= MAX_MODELS)) return;
    this.#told.set(model, tokens);
  }

  /** Answers and results may call the same model differently: "name" and "name[1m]". */
  #nameOf(model: string, spent: JsonFields): string {
    const plain = model.endsWith("]") ? model.split("[", 1)[0] : model;
    const names = [model, spent.canonicalModel, plain];
    return names.find((name): name is string => typeof name === "string" && this.#told.has(name)) ?? model;
  }
}

function usageEvents(model: string, tokens: Tokens, cost?: number): UsageEvent[] {
  const costUsd = cost !== undefined && cost > 0 ? cost : undefined;
  if (tokens.input === 0 && tokens.output === 0 && costUsd === undefined) return [];
  return [{ type: "usage", model, ...tokens, ...(costUsd === undefined ? {} : { costUsd }) }];
}
