import type { Instructions } from "../port.ts";

/** As much as agent programs themselves take of such a file. */
const MAX_LENGTH = 32 * 1024;

/** The prompt with a repository's instructions before it, for programs that leave these out together with its settings. */
export function withInstructions(prompt: string, instructions: Instructions | undefined): string {
  const text = instructions?.text.slice(0, MAX_LENGTH).trim();
  if (!text) return prompt;
  return `This repository has these instructions for you, in its ${instructions?.name}:\n\n${text}\n\n----\n\n${prompt}`;
}
