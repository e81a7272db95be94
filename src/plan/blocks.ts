import type { Nodes, RootContent } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";

/** The blocks of a text. Offsets of the nodes count from `shift`, because the parser drops a byte order mark. */
export interface Blocks {
  readonly nodes: readonly RootContent[];
  readonly shift: number;
}

/**
 * Only blocks matter to us, and emphasis is quadratic in the parser: 80 KB of `*a_ ` took 41 s. An agent could stop the
 * daemon with that.
 */
const BLOCKS_ONLY = {
  disable: {
    null: [
      "attention",
      "autolink",
      "characterEscape",
      "characterReference",
      "codeText",
      "hardBreakEscape",
      "htmlText",
      "labelEnd",
      "labelStartImage",
      "labelStartLink",
    ],
  },
};

/** Containers deeper than this cost time that grows with lines times depth; nobody nests a plan so deep. */
const DEEP = /^((?:[ \t>]|(?:[-*+]|\d{1,9}[.)])(?=[ \t])){48})((?:[ \t>]|(?:[-*+]|\d{1,9}[.)])(?=[ \t]))+)/gm;

/** Parses the block structure of Markdown; linear in the text, whatever the text is. */
export function blocksOf(text: string): Blocks {
  const shift = text.startsWith("\uFEFF") ? 1 : 0;
  const shallow = text
    .slice(shift)
    .replace(DEEP, (_, kept: string, deeper: string) => kept + "x".repeat(deeper.length));
  return { nodes: fromMarkdown(shallow, { extensions: [BLOCKS_ONLY] }).children, shift };
}

export function startOf(node: Nodes, blocks: Blocks): number {
  return (node.position?.start.offset ?? 0) + blocks.shift;
}

export function endOf(node: Nodes, blocks: Blocks): number {
  return (node.position?.end.offset ?? 0) + blocks.shift;
}

const INLINE_MARKUP = /[`*_[\]<>&\\!]/;
const LONGEST_INLINE = 1000;

/** What a reader sees of one line of inline Markdown: links and code reduced to their text. */
export function plainText(source: string): string {
  const line = source.replace(/\s+/g, " ").trim();
  if (line.length > LONGEST_INLINE || !INLINE_MARKUP.test(line)) return line;
  const seen: string[] = [];
  collectText(fromMarkdown(`# ${line}`), seen);
  return seen.join("").trim();
}

function collectText(node: Nodes, into: string[]): void {
  if (node.type === "text" || node.type === "inlineCode") into.push(node.value);
  else if ("children" in node) for (const child of node.children) collectText(child, into);
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
