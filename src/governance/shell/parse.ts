import { type ParsedScript, parse } from "unbash";

export type { ParsedScript };

/** What is longer is not parsed at all. */
export const MAX_COMMAND_BYTES = 64 * 1024;

/** A problem is a clause without its subject. */
export type Parsed = { readonly script: ParsedScript } | { readonly problem: string };

/** The one door to the parser. It recovers from mistakes; a guard must not. */
export function parseShell(source: string): Parsed {
  // No character takes more than three bytes for each unit of its length.
  if (source.length * 3 > MAX_COMMAND_BYTES && Buffer.byteLength(source) > MAX_COMMAND_BYTES)
    return { problem: `is longer than ${MAX_COMMAND_BYTES / 1024} KB` };
  if (source.includes("\0")) return { problem: "contains a NUL character" };
  if (hasLongBraces(source)) return { problem: "has too many braces in a word" };
  try {
    const script = parse(source);
    const [error] = script.errors ?? [];
    return error ? { problem: `cannot be parsed: ${error.message} at character ${error.pos + 1}` } : { script };
  } catch {
    return { problem: "cannot be parsed" };
  }
}

const MAX_BRACES = 4000;
const [SPACE, OPENING] = [" ".charCodeAt(0), "{".charCodeAt(0)];

/** Braces in a word are looked at once for each of them. */
function hasLongBraces(source: string): boolean {
  if (source.length <= MAX_BRACES) return false;
  let braces = 0;
  for (let at = 0; at < source.length; at += 1) {
    const code = source.charCodeAt(at);
    if (code <= SPACE) braces = 0;
    else if (code === OPENING) braces += 1;
    if (braces > MAX_BRACES) return true;
  }
  return false;
}
