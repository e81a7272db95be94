import { visibleLines } from "./safe-text.ts";

/** A hint as lines for people; code that is to be copied keeps its own lines. */
export function hintLines(hint: string): string[] {
  const [first = "", ...more] = visibleLines(hint.trimEnd());
  return [`  hint: ${first}`, ...more.map((line) => `    ${line}`.trimEnd())];
}
