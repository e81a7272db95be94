import { parseShell } from "../parse.ts";
import type { Spot } from "../state.ts";
import { known, type Text } from "../text.ts";
import { behaviourOf } from "./run-program.ts";

/** Names of programs that are words of many others, and would be refused whatever follows them. */
const WORDS = new Set(
  "at batch view ex ed code micro joe pico host mount umount service port security format init reset halt pass op fly flux sam oc sls defaults snap super continue interpreter llm pi amp cursor sweep crush goose cn devin".split(
    " ",
  ),
);

/** Where a command can begin in a line for a shell. */
const BEGINS =
  /(?:^|[;|&({\n`!]|\b(?:then|do|else|if|while|until|exec|eval|time|env|nohup|command)\s)\s*(?:\w+=\S*\s+)*["'\\]*([\w./+-]+)/g;
const OPTION_VALUE = /^--?[\w-]+=(.*)$/s;
const SEVERAL_WORDS = /[\s;|&`$]/;

function isCommand(word: string): boolean {
  const base = word.slice(word.lastIndexOf("/") + 1);
  return base !== "" && !WORDS.has(base) && behaviourOf(base) !== undefined;
}

/** A program that is not known may run what stands in its arguments: that is judged as if it did. */
export function runCarried(args: readonly Text[], spot: Spot, end = args.length): void {
  for (const [at, arg] of args.entries()) {
    if (at >= end) return;
    if (arg.type !== "known") continue;
    const text = arg.text.trim();
    const value = OPTION_VALUE.exec(text)?.[1] ?? text;
    if (SEVERAL_WORDS.test(value)) runLine(value, spot);
    else if (isCommand(value) && at < args.length - 1) {
      spot.line.engine.runWords([known(value), ...args.slice(at + 1)], spot);
      return;
    }
  }
}

function runLine(line: string, spot: Spot): void {
  const isFirst = isCommand(/^[\w./+-]+/.exec(line)?.[0] ?? "");
  if (!isFirst && ![...line.matchAll(BEGINS)].some(([, word = ""]) => isCommand(word))) return;
  // Prose with a command in it is often not a line for a shell at all.
  if (isFirst || "script" in parseShell(line)) spot.line.engine.runSource(known(line), spot);
}
