import { definitionLines } from "./definitions.ts";
import type { HtmlKind } from "./html-block.ts";
import { isSpaceAt } from "./line-cursor.ts";

export type BlockType =
  | "blockquote"
  | "code"
  | "definition"
  | "heading"
  | "html"
  | "list"
  | "listItem"
  | "paragraph"
  | "thematicBreak";

/** A block of Markdown. Offsets in the text, numbers of lines from 1. */
export interface Block {
  readonly type: BlockType;
  readonly start: number;
  readonly end: number;
  readonly line: number;
  readonly endLine: number;
  readonly children: readonly Block[];
  /** Of a heading: its level, and where its words are. */
  readonly depth?: number;
  readonly words?: Span;
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A block that may still grow. */
export interface Open {
  type: BlockType | "root";
  start: number;
  end: number;
  line: number;
  endLine: number;
  readonly children: Open[];
  depth?: number;
  words?: Span;
  /** Of a list: its bullet or delimiter. Of an item: how far its content is indented. */
  sign?: string;
  indent?: number;
  /** Of fenced code; indented code has none. */
  fence?: string;
  html?: HtmlKind;
  /** Of a paragraph: its lines, without what the blocks around it put before them. */
  rows?: Span[];
}

export function addRow(paragraph: Open, row: Span, number: number): void {
  paragraph.rows ??= [];
  if (paragraph.rows.length === 0) {
    paragraph.start = row.start;
    paragraph.line = number;
  }
  paragraph.rows.push(row);
  paragraph.end = row.end;
  paragraph.endLine = number;
}

/** The definitions at the start of a paragraph become a block of their own, before it. */
export function splitDefinitions(text: string, paragraph: Open, parent: Open | undefined): void {
  const rows = paragraph.rows ?? [];
  if (text[rows[0]?.start ?? 0] !== "[") return;
  const count = definitionLines(rows.map(({ start, end }) => text.slice(start, end)));
  const last = rows[count - 1];
  if (!last || !parent) return;
  const { start, line } = paragraph;
  const endLine = line + count - 1;
  parent.children.splice(-1, 0, { type: "definition", start, end: last.end, line, endLine, children: [] });
  paragraph.rows = rows.slice(count);
  paragraph.start = paragraph.rows[0]?.start ?? last.end;
  paragraph.line += count;
}

export function takesLines(block: Open): boolean {
  return block.type === "code" || block.type === "html";
}

export function canHold(outer: Open["type"], inner: BlockType): boolean {
  if (outer === "list") return inner === "listItem";
  return inner !== "listItem" && (outer === "root" || outer === "blockquote" || outer === "listItem");
}

/** Three or more of the same sign, and nothing else but white space. */
export function isBreak(line: string): boolean {
  const sign = line[0] ?? "";
  if (!"-*_".includes(sign)) return false;
  let count = 0;
  for (let at = 0; at < line.length; at += 1) {
    if (line[at] === sign) count += 1;
    else if (!isSpaceAt(line, at)) return false;
  }
  return count >= 3;
}

export function trimmed(text: string, { start, end }: Span): Span {
  let [from, to] = [start, end];
  while (from < to && isSpaceAt(text, from)) from += 1;
  while (to > from && isSpaceAt(text, to - 1)) to -= 1;
  return { start: from, end: to };
}

/** The words of a heading without the `##` that may follow them. */
export function withoutClosing(text: string, words: Span): Span {
  let end = words.end;
  while (end > words.start && text[end - 1] === "#") end -= 1;
  const isClosing = end === words.start || (end < words.end && isSpaceAt(text, end - 1));
  return isClosing ? trimmed(text, { start: words.start, end }) : words;
}
