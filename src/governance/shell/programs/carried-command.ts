import type { EffectTree } from "../effects.ts";
import { parseShell } from "../parse.ts";
import { copyShell, noteUnknown, type Spot } from "../state/state.ts";
import { known, startOf, type Text } from "../values/text.ts";
import { losesData } from "./elsewhere/losing-data.ts";
import { publishes } from "./elsewhere/publishing.ts";
import { behaviourOf } from "./run-program.ts";

/** Names of programs that are words of many others, and would be refused whatever follows them. */
const WORDS = new Set(
  "migrate console stack at batch view ex ed code micro joe pico host mount umount service port security format init reset halt pass op fly flux sam oc sls defaults snap super continue interpreter llm pi amp cursor sweep crush goose cn devin mods junie kimi grok".split(
    " ",
  ),
);

const OPTION_VALUE = /^--?[\w-]+=(.*)$/s;
const SEVERAL_WORDS = /[\s;|&`$]/;

/** Builtins that run what follows them, for programs that give their arguments to a shell. */
const BUILTINS = new Set(["eval", "exec", "command", "builtin", "source", "trap"]);

/** Builtins with which a line begins that writes somewhere or changes what follows; as words among others they say nothing. */
const BEGINS = new Set(["echo", "printf", "cd", "kill", ":", "declare", "export", "set", "unset"]);

/** Words and forms of sentences; what a shell has as keywords is not among them. */
const PROSE =
  /(?:^|\s)(?:the|is|are|was|not|to|of|and|with|use|uses|used|when|that|this|should|must|never|always|can|cannot|without)(?=\s|$)|^[A-Z][a-z]|[a-z][.!?]$/;

function isCommand(word: string): boolean {
  const base = word.slice(word.lastIndexOf("/") + 1);
  return (
    base !== "" &&
    !WORDS.has(base) &&
    (BUILTINS.has(base) || behaviourOf(base) !== undefined || losesData(base) || publishes(base))
  );
}

/** A program that is not known may run what stands in its arguments: that is judged as if it did. */
export function runCarried(args: readonly Text[], spot: Spot, end = args.length): void {
  for (const [at, arg] of args.entries()) {
    if (at >= end) return;
    const text = startOf(arg).trim();
    const value = OPTION_VALUE.exec(text)?.[1] ?? text;
    if (arg.type !== "known") runPartOf(`${value} `, spot);
    else if (SEVERAL_WORDS.test(value)) runLine(value, spot);
    // In prose, names of programs are only words.
    else if (at < args.length - 1 && isCommand(value) && !spot.isProse)
      spot.line.engine.runWords([known(value), ...args.slice(at + 1)], spot);
  }
}

const firstWord = (line: string): string => /^[\w./+-]+/.exec(line)?.[0] ?? "";

/** A line of which only the beginning is known. */
function runPartOf(start: string, spot: Spot): void {
  if (SEVERAL_WORDS.test(start) && isCommand(firstWord(start)))
    noteUnknown(spot, `gives a program a command that cannot be told: ${start}…`);
}

/** A string that may be a line for a shell, or prose: it is the former when a known program is called in it. */
function runLine(line: string, spot: Spot): void {
  const isFirst = isCommand(firstWord(line)) || BEGINS.has(firstWord(line));
  if (!isFirst && "problem" in parseShell(line)) return;
  const tree: EffectTree = { command: line, effects: [], inner: [] };
  spot.line.engine.runSource(known(line), {
    ...spot,
    shell: copyShell(spot.shell),
    tree,
    isProse: !isFirst && PROSE.test(line),
  });
  if (isFirst || callsKnown(tree)) spot.tree.inner.push(tree);
}

function callsKnown({ inner }: EffectTree): boolean {
  return inner.some((one) => isCommand(/^\S*/.exec(one.command)?.[0] ?? "") || callsKnown(one));
}
