import { type Block, linesOf } from "../markdown/blocks.ts";
import { type HeadingKind, headingKind, isTasks } from "./heading-words.ts";

/** More words are a sentence, as is "Define acceptance criteria for it". */
const MAX_NAME = 4;

export function isName(words: string): boolean {
  return words.split(" ", MAX_NAME + 1).length <= MAX_NAME;
}

/** Whether a block is such a label, and nothing else. */
export function isLabel(block: Block, text: string): boolean {
  return labelLines(block, text).some(({ line }) => line === text.slice(block.start, block.end).trim());
}

/** Of a label: its colon, perhaps with a remark in brackets behind it. */
const END = String.raw`[:：]?(?:(?:\s*|\s+[*_]+)\((?:[^()]|\([^()]*\))*\)[*_]*[:：]?)?$`;
const BOLD = new RegExp(String.raw`^(?:(\*\*|__)([*_]{0,2})[^*_]+\2\1|<(b|strong)>[^<]+<\/\3>)${END}`, "i");

const TITLE = new RegExp(String.raw`^(?:[*_]+[^*_]+[*_]+|<(b|strong)>[^<]+<\/\1>)${END}`, "i");

/** Emphasised as a whole, its colon inside or behind. */
export function isTitle(line: string): boolean {
  return TITLE.test(line);
}

/** Of a paragraph, the lines that are bold as a whole, and its last one if it ends with a colon, whatever surrounds that. */
export function labelLines({ type, start, end }: Block, text: string): { line: string; at: number }[] {
  if (type !== "paragraph") return [];
  const lines = linesOf(text.slice(start, end)).map((line) => line.trim());
  const isLabel = (line: string, index: number) =>
    BOLD.test(line) || (index === lines.length - 1 && /[:：](?:[*_]{1,3}|<\/b>|<\/strong>)?$/i.test(line));
  return lines.flatMap((line, index) => (isLabel(line, index) ? [{ line, at: start + index }] : []));
}

/** A paragraph whose end is no label. */
export function isProse(block: Block, text: string): boolean {
  const words = text.slice(block.start, block.end).trim();
  return block.type === "paragraph" && !labelLines(block, text).some(({ line }) => words.endsWith(line));
}

/** What a line without a colon says of the list right below it, if it is a name. */
const SAID_PLAINLY: ReadonlySet<HeadingKind> = new Set(["work", "criteria", "out-of-scope"]);

/**
 * Whether a block is a line without any mark that names the list right below it. "Fixes" may stand beside "Features", which says nothing: words
 * for work other than tasks do so only where they end what a label `isLeftOut` says.
 */
export function isPlainLabel(block: Block, text: string, next: Block | undefined, isLeftOut: boolean): boolean {
  if (block.type !== "paragraph" || block.line !== block.endLine || next?.type !== "list") return false;
  return saysPlainly(text.slice(block.start, block.end).trim(), isLeftOut);
}

export function saysPlainly(words: string, isLeftOut = false): boolean {
  if (!/^\p{L}/u.test(words) || !isName(words)) return false;
  const kind = headingKind(words);
  return SAID_PLAINLY.has(kind) && (kind !== "work" || isLeftOut || isTasks(words));
}
