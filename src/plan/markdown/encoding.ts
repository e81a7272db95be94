import { isSetting, taskItemOf } from "../todos/todo.ts";
import { type Block, blocksOf, linesOf, newlineOf, nextLine } from "./blocks.ts";
import { headingKey, isTodoSection, type PlanDoc, type Section } from "./markdown.ts";
import { visibleText } from "./visible.ts";

/** Ways to write the same lines, the most readable first; a caller takes the first that leaves the plan's structure alone. */
export type LineEncoding = (lines: readonly string[]) => string[];

export const asTheyAre: LineEncoding = (lines) => [...lines];

/** Nothing inside a quotation can be a section or a TODO, and nothing that it opens stays open after it. */
export const quoted: LineEncoding = (lines) => lines.map((line) => (line.trim() === "" ? ">" : `> ${line}`));

/** Headings and task markers get a backslash; text that leaves something open (a code fence, a comment) is quoted. */
export const escaped: LineEncoding = (lines) => {
  const text = lines.join("\n");
  const marks: number[] = [];
  for (const block of blocksOf(text)) {
    if (block.type === "heading" && (block.depth ?? 1) <= 2) marks.push(headingMark(text, block));
    collectTasks(block, text, marks);
  }
  const pieces: string[] = [];
  let from = 0;
  for (const at of marks.sort((a, b) => a - b)) {
    pieces.push(text.slice(from, at));
    from = at;
  }
  pieces.push(text.slice(from));
  const result = linesOf(pieces.join("\\"));
  return leavesOpen(result) ? quoted(lines) : result;
};

/** Where the backslash goes: before the `#`, or before the underline of the other kind of heading. */
function headingMark(text: string, { start, line: first, endLine }: Block): number {
  let at = start;
  for (let line = first; line < endLine; line += 1) at = nextLine(text, at);
  while (text[at] === " " || text[at] === "\t") at += 1;
  return at;
}

function collectTasks(block: Block, text: string, marks: number[]): void {
  const task = block.type === "listItem" ? taskItemOf(block, text) : undefined;
  if (task) marks.push(task.markerOffset - 1);
  for (const child of block.children) collectTasks(child, text, marks);
}

function leavesOpen(lines: readonly string[]): boolean {
  const last = blocksOf(`${lines.join("\n")}\n\n# end`).at(-1);
  return last?.type !== "heading" || last.line !== lines.length + 2;
}

/**
 * Lines for a TODO's context. A line of dashes would make the TODO a heading, `-->` could end a comment of ours, and
 * `expects: none` from a comment would waive a check: all of these get a backslash, which a reader does not see.
 */
export function contextLines(lines: readonly string[]): string[] {
  return lines
    .flatMap(linesOf)
    .map((line) => withoutComments(visibleText(line)).trimEnd())
    .map((line) => (/^\s*(?:=+|-+)$/.test(line) ? line.replace(/[=-]/, "\\$&") : line))
    .map((line) => (isSetting(line) ? line.replace(":", "\\:") : line));
}

/** The same words, with every comment delimiter broken by a backslash. */
export function withoutComments(text: string): string {
  return text.replaceAll("<!--", "<\\!--").replaceAll("-->", "--\\>");
}

/** A name that is safe inside an HTML comment; different names stay different. */
export function commentName(name: string): string {
  const encoded = name.replace(/[^A-Za-z0-9._:/#@+=-]/gu, (char) => encodeURIComponent(char.toWellFormed()));
  return encoded.replace(/-(?=-)|^-|-$/g, "%2D") || "%";
}

/** Which blank lines an insertion needs around it; one that is there already is not doubled. */
export interface Gaps {
  readonly before: boolean;
  readonly after: boolean;
}

/** Puts whole lines at `at`, which is the start of a line or the end of the text; nothing else changes. */
export function insertLines(text: string, at: number, lines: readonly string[], gaps: Gaps): string {
  const newline = newlineOf(text);
  const rest = text.slice(at);
  const gap = gaps.after && rest !== "" && !startsBlank(rest) ? newline : "";
  const glue = glueAt(text, at, { gaps, newline });
  return text.slice(0, at) + glue + lines.map((line) => line + newline).join("") + gap + rest;
}

/** True when the text has nothing in its first line. */
export function startsBlank(text: string): boolean {
  return /^[ \t]*(?:[\r\n]|$)/.test(text);
}

/** The line breaks that whole lines need before them at `at`: to end an open line, and for a blank one. */
export function glueAt(text: string, at: number, { gaps, newline }: { gaps: Gaps; newline: string }): string {
  const first = text.startsWith("\uFEFF") ? 1 : 0;
  const last = lineStart(text, at, first);
  const isOpen = last < at;
  const above = isOpen
    ? text.slice(last, at)
    : text.slice(lineStart(text, beforeBreak(text, last, first), first), last);
  return (isOpen ? newline : "") + (gaps.before && above.trim() !== "" ? newline : "");
}

function lineStart(text: string, at: number, first: number): number {
  let start = at;
  while (start > first && text[start - 1] !== "\n" && text[start - 1] !== "\r") start -= 1;
  return Math.max(start, Math.min(first, at));
}

/** Offset of the line break that ends right before `at`. */
function beforeBreak(text: string, at: number, first: number): number {
  const isPair = text[at - 1] === "\n" && text[at - 2] === "\r";
  return Math.max(at - (isPair ? 2 : 1), first);
}

/** After the last line of a section that is not blank. */
export function contentEnd(text: string, section: Section): number {
  const body = text.slice(section.bodyStart, section.end).trimEnd();
  return body === "" ? section.bodyStart : Math.min(nextLine(text, section.bodyStart + body.length), section.end);
}

/** True when an addition to `heading` changed nothing that a plan's structure consists of, that section aside. */
export function sameStructure(before: PlanDoc, after: PlanDoc, heading: string): boolean {
  const key = sectionKey({ key: headingKey(heading) });
  const known = before.sections.map(sectionKey);
  const now = after.sections.map(sectionKey);
  // As they are written, too: "## TODOs:" in the addition must not take the place of a "## TODO" that it hides.
  const headings = after.sections.map((section) => section.heading);
  if (!known.includes(key)) {
    const added = now.indexOf(key);
    if (added < 0) return false;
    now.splice(added, 1);
    headings.splice(added, 1);
  }
  const written = before.sections.map((section) => section.heading);
  return (
    equal(known, now) &&
    equal(written, headings) &&
    (key === "todo" || equal(before.todos.map(identity), after.todos.map(identity))) &&
    (key === "title" || before.title === after.title) &&
    (key === "depends on" || equal(before.dependsOn, after.dependsOn))
  );
}

function sectionKey(section: Pick<Section, "key">): string {
  return isTodoSection(section) ? "todo" : section.key;
}

function identity(todo: PlanDoc["todos"][number]): string {
  return `${todo.id} ${todo.state} ${todo.context}`;
}

function equal(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((value, at) => value === b[at]);
}
