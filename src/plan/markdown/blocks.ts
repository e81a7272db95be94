import type { Block } from "./block.ts";
import { scanBlocks } from "./scan.ts";

export type { Block } from "./block.ts";

/** The blocks of the text; a byte order mark is not one. */
export function blocksOf(text: string): readonly Block[] {
  return scanBlocks(text, text.startsWith("\uFEFF") ? 1 : 0);
}

/** Offset of the line break at or after `from`, or the text's length. */
export function lineEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const char = text[at];
    if (char === "\n" || char === "\r") return at;
  }
  return text.length;
}

/** Offset of the first character after the line that holds `from`. */
export function nextLine(text: string, from: number): number {
  const end = lineEnd(text, from);
  if (text[end] === "\r" && text[end + 1] === "\n") return end + 2;
  return Math.min(end + 1, text.length);
}

/** Offset where the indentation before `at` begins. */
export function beforeIndent(text: string, at: number): number {
  let start = at;
  while (start > 0 && (text[start - 1] === " " || text[start - 1] === "\t")) start -= 1;
  return start;
}

export function linesOf(text: string): string[] {
  return text.split(/\r\n|\n|\r/);
}

/** The line break that the text uses. */
export function newlineOf(text: string): string {
  const end = lineEnd(text, 0);
  if (text[end] !== "\r") return "\n";
  return text[end + 1] === "\n" ? "\r\n" : "\r";
}

/** Columns of white space at the start of a line, tab stops every four. */
export function indentOf(line: string): number {
  let column = 0;
  for (const char of line) {
    if (char === " ") column += 1;
    else if (char === "\t") column += 4 - (column % 4);
    else break;
  }
  return column;
}

/** Removes up to `columns` columns of leading white space. */
export function dedentLine(line: string, columns: number): string {
  let column = 0;
  let at = 0;
  while (at < line.length && column < columns) {
    if (line[at] === " ") column += 1;
    else if (line[at] === "\t") column += 4 - (column % 4);
    else break;
    at += 1;
  }
  return line.slice(at);
}
