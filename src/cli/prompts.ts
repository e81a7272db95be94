import { updateSettings } from "@clack/prompts";
import { PrloomError } from "../kernel/errors.ts";

export { confirm, isCancel, select, text } from "@clack/prompts";

/** The answer to a question of `prloom init`; one that was cancelled ends it. */
export function orCancelled<T>(answer: T): Exclude<T, symbol> {
  if (typeof answer !== "symbol") return answer as Exclude<T, symbol>;
  throw new PrloomError("usage", "Nothing was written.", "`prloom init --yes` asks nothing.");
}

// Ctrl-D closes the input of a question, which then would never be answered: it cancels, as Ctrl-C does.
updateSettings({ aliases: { "\u0004": "cancel" } });
