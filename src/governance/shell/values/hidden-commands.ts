import type { ParameterOperation, Word, WordPart } from "unbash";
import { parseShell } from "../parse.ts";
import { copyForReading, noteUnknown, type Spot, spend } from "../state/state.ts";
import { MAX_SHOWN } from "./text.ts";

/** What it costs to parse something, besides its length. */
const PARSING = 16;

const COMMAND = /\$\(|`/;
const PROCESS = /[<>]\(/;
const SUBSTITUTION = /\$[({[]|`|[<>]\(/;

/** Runs what the shell expands here without the parser telling it; quotes in it may be some to the shell, or none. */
function runHidden(text: string, spot: Spot): void {
  spend(spot, PARSING + (text.length >> 3));
  const bare = text.replace(/['"\\]/g, "");
  let isSure = bare === text;
  for (const source of isSure ? [text] : [text, bare]) {
    const parsed = parseShell(`: ${source}`);
    if ("script" in parsed) spot.line.engine.runScript(parsed.script, { ...spot, shell: copyForReading(spot.shell) });
    else isSure = false;
  }
  const instead = "Run the command by itself, and use what it prints.";
  if (!isSure)
    noteUnknown(spot, `may run a command that is hidden in an expansion: ${text.slice(0, MAX_SHOWN)}`, instead);
}

/** A text that the shell expands again, whatever quotes it came out of. */
export function lookAtCommands(text: string, spot: Spot): void {
  if (COMMAND.test(text)) runHidden(text, spot);
}

/** Single quotes are none in arithmetic, and in `${x:-…}` between double quotes or in a here-document. */
export function lookAtQuotes(parts: readonly WordPart[] | undefined, spot: Spot): void {
  for (const part of parts ?? [])
    if (part.type === "SingleQuoted" || part.type === "AnsiCQuoted") lookAtCommands(part.value, spot);
    else if ("parts" in part) lookAtQuotes(part.parts, spot);
}

/** The subscript in `a=([…]=x)`, which is not a word of its own. */
export function lookAtPlace({ text, value }: Word, spot: Spot): void {
  if (text.startsWith("["))
    for (const one of [text, value]) lookAtCommands(one.slice(0, one.lastIndexOf("]=") + 1), spot);
}

/** Lists in which the shell looks up what a name runs. */
export function lookAtRenaming(name: string, spot: Spot): void {
  if (/^BASH_(?:ALIASES|CMDS)\b/.test(name))
    noteUnknown(spot, "gives a program another name", "Call the program by its own name.");
}

/** What the parser does not tell of `${x…}`: an operation that it has no name for, and where a pattern ends whose commands have slashes. */
export function lookAtOperation(operation: ParameterOperation, spot: Spot): void {
  if (operation.type === "Unknown") {
    const { operator } = operation;
    if (operator.startsWith("[") || SUBSTITUTION.test(operator)) runHidden(operator, spot);
  } else if (operation.type === "Replace") {
    const [pattern, replacement] = [operation.pattern.text, operation.replacement.text];
    if (!isWhole(pattern, spot)) runHidden(`${pattern}/${replacement}`, spot);
  } else if (operation.type === "Default") {
    const { operator, operand } = operation;
    lookAtQuotes(operand.parts, spot);
    // A message is expanded as if it were not quoted.
    if (operator.includes("?") && PROCESS.test(operand.text)) runHidden(operand.text, spot);
  }
}

function isWhole(pattern: string, spot: Spot): boolean {
  if (!SUBSTITUTION.test(pattern)) return true;
  spend(spot, PARSING + (pattern.length >> 4));
  return !("problem" in parseShell(`: ${pattern}`));
}
