import { STAGES } from "../../config/agent-words.ts";
import { misuse, showValue } from "../calls/misuse.ts";
import type { AgentOptions } from "./context-types.ts";

/** What each option must be, in words, and whether a value is that. */
const RULES: Readonly<Record<keyof AgentOptions, { readonly must: string; is(value: unknown): boolean }>> = {
  stage: {
    must: `one of ${STAGES.join(", ")}`,
    is: (value) => STAGES.some((stage) => stage === value),
  },
  model: { must: "a string that is not empty", is: (value) => typeof value === "string" && value.trim() !== "" },
  files: {
    must: "a list of file names",
    is: (value) => Array.isArray(value) && value.every((name) => typeof name === "string" && name !== ""),
  },
  timeoutMs: {
    must: "a number of milliseconds above 0",
    is: (value) => typeof value === "number" && Number.isFinite(value) && value > 0,
  },
};
const HINT =
  'Write runAgent(prompt, {stage: "reviewer", model, files: ["a.ts"], timeoutMs: 60_000}); all of them may be left out.';

/** The options of `runAgent` as a plugin gave them; throws an error that names the first one that is wrong. */
export function checkAgentOptions(given: unknown): AgentOptions {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw misuse(`runAgent: the options must be an object; they are ${showValue(given)}.`, HINT);
  }
  const checked: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(RULES, name)) throw misuse(`runAgent: there is no option "${name.slice(0, 80)}".`, HINT);
    if (value === undefined) continue;
    const { must, is } = RULES[name as keyof AgentOptions];
    if (!is(value)) throw misuse(`runAgent: ${name} must be ${must}; it is ${showValue(value)}.`, HINT);
    checked[name] = Array.isArray(value) ? [...value] : value;
  }
  return checked;
}
