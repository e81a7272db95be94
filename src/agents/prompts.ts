import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PrloomError } from "../kernel/errors.ts";
import { readCheckedOut } from "../kernel/files.ts";
import { shortHash } from "../kernel/ids.ts";
import { STAGES } from "./port.ts";

/** The prompts that come with prloom: one for each stage, one for a conversation that goes on, and one for a worker that resolves a conflict. */
export const PROMPT_NAMES = [...STAGES, "resume", "resolve"] as const;
export type PromptName = (typeof PROMPT_NAMES)[number];

export interface PromptTemplate {
  readonly stage: PromptName;
  readonly template: string;
  readonly values: Readonly<Record<string, string>>;
}

/** Where the prompts lie that come with prloom. */
const PROMPTS = fileURLToPath(new URL("./prompts", import.meta.url));

const NAME = /\{\{\s*([A-Za-z][\w.-]*)\s*\}\}/g;

/**
 * Fills `{{name}}` in a template, once: what a value brings along is never read as a template. `{{marker}}` is ours: it
 * depends on all values, so no value can contain it, and a template can quote text between two of them.
 */
export function renderPrompt({ stage, template, values }: PromptTemplate): string {
  const known = new Map(Object.entries(values));
  known.set("marker", shortHash(JSON.stringify(Object.entries(values)), 16));
  const unknown = new Set([...template.matchAll(NAME)].map((match) => match[1]!).filter((name) => !known.has(name)));
  if (unknown.size > 0) {
    const names = [...unknown].map((name) => `{{${name}}}`).join(", ");
    const there = [...known.keys()].map((name) => `{{${name}}}`).join(", ");
    throw new PrloomError(
      "config-invalid",
      `The prompt of the stage ${stage} uses ${names}, which prloom does not know.`,
      `Edit prloom/prompts/${stage}.md: it may use ${there}. Then run \`prloom doctor\`.`,
    );
  }
  const filled = template.replace(NAME, (_whole, name: string) => known.get(name) ?? "");
  // A prompt that a user wrote before there were messages must not lose them.
  const messages = values.messages ?? "";
  return messages === "" || /\{\{\s*messages\s*\}\}/.test(template) ? filled : `${filled}\n\n${messages}`;
}

/** The template of a stage: the repository's own text for it, else the one that comes with prloom. */
export function loadPrompt(stage: PromptName, own: string | undefined): string {
  const template = own ?? readCheckedOut(join(PROMPTS, `${stage}.md`));
  if (template !== undefined && template.trim() !== "") return template;
  throw new PrloomError(
    own === undefined ? "config-missing" : "config-invalid",
    own === undefined ? `There is no prompt for the stage ${stage}.` : `prloom/prompts/${stage}.md is empty.`,
    own === undefined
      ? `Write one to prloom/prompts/${stage}.md.`
      : `Write the prompt into it, or remove it to use prloom's own: \`rm prloom/prompts/${stage}.md\`.`,
  );
}
