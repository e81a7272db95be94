import { rmSync, statSync } from "node:fs";
import { isoTime } from "../../kernel/clock.ts";
import { appendOwn } from "../../kernel/own-file.ts";
import type { Located } from "../paths.ts";
import type { Records } from "../records.ts";

const MAX_FILE_BYTES = 1024 * 1024;
const MAX_STACK = 10_000;

/** Writes down where a plugin or a bridge threw; a file that has grown long starts anew. Never throws itself. */
export function keepStack(
  { paths, clock }: Located & Pick<Records, "clock">,
  what: string,
  error: unknown,
): string | undefined {
  const file = paths.pluginErrors;
  try {
    const stack = error instanceof Error ? error.stack : undefined;
    if (typeof stack !== "string") return undefined;
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > MAX_FILE_BYTES) rmSync(file);
    appendOwn(file, `${isoTime(clock.now())} ${what}\n${stack.slice(0, MAX_STACK)}\n\n`);
    return file;
  } catch {
    // What is told of the error does not depend on it.
    return undefined;
  }
}
