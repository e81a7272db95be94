import { errnoOf } from "../kernel/errors.ts";
import { readTextNoFollow } from "../kernel/files.ts";

/** As much as agent programs themselves take of such a file. */
const LONGEST = 32 * 1024;

/**
 * The prompt with a repository's instructions before it, for programs that leave these out together with its settings.
 * The first of the files counts. An agent may have made it a link to what it cannot read itself, so none is followed.
 */
export function withInstructions(prompt: string, folder: string, files: readonly string[]): string {
  for (const file of files) {
    const text = readInstructions(folder, file)?.trim();
    if (text) return `This repository has these instructions for you, in its ${file}:\n\n${text}\n\n----\n\n${prompt}`;
  }
  return prompt;
}

function readInstructions(folder: string, file: string): string | undefined {
  try {
    return readTextNoFollow(folder, file, LONGEST);
  } catch (error) {
    if (errnoOf(error) !== undefined) return undefined; // no right to read it: as if it were not there
    throw error;
  }
}
