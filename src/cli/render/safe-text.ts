import { withoutEscapes } from "../../kernel/text/terminal-escapes.ts";

/** Characters that steer a terminal or reverse the reading order: a title must not be able to forge what is shown. */
const STEERING = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/gu;

function escaped(char: string): string {
  if (char === "\n") return "\\n";
  if (char === "\r") return "\\r";
  if (char === "\t") return " ";
  return `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
}

/** A value as JSON that may be shown on a terminal as it is: what would steer one is escaped, which JSON reads as the same. */
export function jsonText(value: unknown, indent?: number): string {
  const steering = (char: string): string =>
    char === "\n" ? char : `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
  // The only control characters that JSON has of its own are the newlines between its lines.
  return JSON.stringify(value, null, indent).replace(STEERING, steering);
}

/** One line out of any text: what would steer the terminal is written out instead. */
export function visible(text: string): string {
  return text.toWellFormed().replace(STEERING, escaped);
}

/** Like `visible`, but the text keeps its lines. */
export function visibleLines(text: string): string[] {
  return text.replaceAll("\r\n", "\n").split("\n").map(visible);
}

/** The first line that says something; for places that have room for one. */
export function firstLine(text: string): string {
  return visible(text.trimStart().split(/\r?\n/, 1)[0]?.trimEnd() ?? "");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what this is about
const COLOUR = /\u001b\[[0-9;:]*m/g;

/** What a program printed, with its colours and without anything else that would reach into the terminal. */
export function onlyColour(line: string): string {
  let clean = "";
  let from = 0;
  for (const match of line.matchAll(COLOUR)) {
    clean += withoutSteering(line.slice(from, match.index)) + match[0];
    from = match.index + match[0].length;
  }
  return clean + withoutSteering(line.slice(from));
}

function withoutSteering(text: string): string {
  return withoutEscapes(text).replace(STEERING, (char) => (char === "\t" ? char : ""));
}
