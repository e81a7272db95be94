import { shortHash } from "../../kernel/ids.ts";
import { type Block, dedentLine, indentOf, lineEnd, linesOf } from "../markdown/blocks.ts";

export type TodoState = "open" | "done" | "blocked";

/** What a TODO's context says about how it is to be worked on. */
export interface TodoSettings {
  /** Numbers of TODOs, from 1, that must be done before. */
  readonly after?: readonly number[];
  /** `tests`, `none` or `files <glob>`. */
  readonly expects?: string;
  readonly tools?: readonly string[];
  readonly paths?: readonly string[];
  readonly by?: string;
}

export interface Todo {
  readonly id: string;
  /** Position among the plan's TODOs, from 0. */
  readonly index: number;
  readonly state: TodoState;
  /** The item's first line as written, without bullet and marker. */
  readonly text: string;
  /** What is indented below it, dedented. */
  readonly context: string;
  /** Offset of the one character between the brackets. */
  readonly markerOffset: number;
  readonly start: number;
  readonly end: number;
  readonly settings: TodoSettings;
}

/** A list item that is a TODO, before it has its number. */
export interface TaskItem extends Omit<Todo, "id" | "index"> {
  readonly problems: readonly string[];
}

const MARKER = /\[([ xXbB])\](?=\s|$)/y;
const STATES: Readonly<Record<string, TodoState>> = {
  " ": "open",
  x: "done",
  X: "done",
  b: "blocked",
  B: "blocked",
};
export const MARKS: Readonly<Record<TodoState, string>> = { open: " ", done: "x", blocked: "b" };

/** The task item that a list item is, or undefined when its first paragraph has no marker. */
export function taskItemOf(item: Block, text: string): TaskItem | undefined {
  const first = item.children[0];
  if (first?.type !== "paragraph") return undefined;
  const at = first.start;
  MARKER.lastIndex = at;
  const mark = MARKER.exec(text)?.[1];
  return mark === undefined ? undefined : { ...itemFrom(item, text, at + 3), state: STATES[mark] ?? "open" };
}

/** The same of an item without a marker, as if it had an open one; undefined when it has no words. */
export function plainItemOf(item: Block, text: string): TaskItem | undefined {
  const first = item.children[0];
  return first?.type === "paragraph" ? itemFrom(item, text, first.start) : undefined;
}

function itemFrom(item: Block, text: string, from: number): TaskItem {
  const { start, end } = item;
  const at = item.children[0]?.start ?? start;
  const firstEnd = Math.min(lineEnd(text, at), end);
  const { settings, problems } = settingsOf(item, text);
  return {
    state: "open",
    text: text.slice(from, firstEnd).trim(),
    context: contextOf(text.slice(firstEnd, end), contentColumn(text, at)),
    markerOffset: at + 1,
    start,
    end,
    settings,
    problems,
  };
}

/** Column at which an item's content begins: what belongs to the item is indented at least so far. */
export function contentColumn(text: string, at: number): number {
  let start = at;
  while (start > 0 && text[start - 1] !== "\n" && text[start - 1] !== "\r" && text[start - 1] !== "\uFEFF") start -= 1;
  return indentOf(text.slice(start, at).replace(/[^\t]/g, " "));
}

function contextOf(source: string, column: number): string {
  const lines = linesOf(source).slice(1);
  const indents = lines.filter((line) => line.trim() !== "").map(indentOf);
  const own = indents.filter((indent) => indent >= column);
  const columns = own.reduce((least, indent) => Math.min(least, indent), Number.POSITIVE_INFINITY);
  const width = Number.isFinite(columns) ? columns : column;
  return lines
    .map((line) => dedentLine(line, width).trimEnd())
    .join("\n")
    .replace(/^\n+/, "")
    .trimEnd();
}

/** One setting per line: of the item's own paragraphs, or of the items of a list right below it; never of code. */
function settingsOf(item: Block, text: string): { settings: TodoSettings; problems: string[] } {
  const lines: string[] = [];
  const take = ({ start, end }: Block): void => {
    for (const line of linesOf(text.slice(start, end))) lines.push(line);
  };
  for (const child of item.children) {
    if (child.type === "paragraph") take(child);
    if (child.type !== "list") continue;
    for (const nested of child.children) {
      const paragraph = nested.children[0];
      if (paragraph?.type === "paragraph") take(paragraph);
    }
  }
  return readSettings(lines);
}

/** A longer one is cut: what is wrong with it is told word by word. */
const MAX_SETTING = 2000;
/** A label may be emphasised, or its whole line be code: `**paths:** docs`. */
const SETTING = /^[ \t]*([*_`]*)(after|expects|tools|paths|by)([*_`]*)[ \t]*:(.*)$/i;

/** Words that are so near to a setting that they are hardly anything else. */
const NEAR_MISS = /^[ \t]*[*_`]*(expect|tool|path)[*_`]*[ \t]*:/i;

/** True for a line that would be read as a setting. */
export function isSetting(line: string): boolean {
  return SETTING.test(line.replace(/^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+/, ""));
}

function readSettings(lines: readonly string[]): { settings: TodoSettings; problems: string[] } {
  let settings: TodoSettings = {};
  const problems: string[] = [];
  for (const line of lines) {
    const match = SETTING.exec(line);
    if (!match) {
      const missed = NEAR_MISS.exec(line)?.[1]?.toLowerCase();
      if (missed !== undefined) problems.push(`"${missed}:" is ignored: did you mean "${missed}s:"?`);
      continue;
    }
    const [, opened = "", label = "", closed = "", rest = ""] = match;
    const key = label.toLowerCase();
    const value = withoutClosing(rest, closed === "" ? opened : "")
      .replaceAll("`", "")
      .trim();
    const read = readSetting(key, value);
    if (typeof read === "string") problems.push(read);
    else if (key in settings) problems.push(`"${key}: ${value}" is ignored: the first "${key}:" counts.`);
    else settings = { ...settings, ...read };
  }
  return { settings, problems };
}

/** Emphasis that began before the label ends behind the colon, or with the line: there, and not in a pattern of paths. */
function withoutClosing(rest: string, opened: string): string {
  const closing = [...opened].reverse().join("");
  if (rest.startsWith(closing)) return rest.slice(closing.length);
  const text = rest.trimEnd();
  return text.endsWith(closing) ? text.slice(0, text.length - closing.length) : rest;
}

function readSetting(key: string, written: string): TodoSettings | string {
  const value = written.slice(0, MAX_SETTING);
  const words = value.split(/[\s,;]+/).filter((word) => word !== "");
  switch (key) {
    case "after":
      if (words.length > 0 && words.every((word) => /^\d{1,9}$/.test(word))) return { after: words.map(Number) };
      return `"after: ${value}" is ignored: write the numbers of TODOs, such as "after: 1, 2".`;
    case "expects":
      if (/^(tests|none)$/i.test(value)) return { expects: value.toLowerCase() };
      if (/^files\s+\S/i.test(value)) return { expects: `files ${value.slice(5).trim()}` };
      return `"expects: ${value}" is ignored: write "expects: tests", "expects: files <glob>" or "expects: none".`;
    case "by":
      if (/^[a-z][a-z0-9_-]*$/i.test(value)) return { by: value.toLowerCase() };
      return `"by: ${value}" is ignored: write one role, such as "by: executor".`;
    default:
      if (words.length === 0) return `"${key}:" is ignored: it names nothing.`;
      return key === "tools" ? { tools: words } : { paths: words };
  }
}

/** The text without the comments at its end, such as the one that says where the TODO came from. */
export function withoutTrailingComments(text: string): string {
  let rest = text.trimEnd();
  while (rest.endsWith("-->")) {
    const previous = rest.lastIndexOf("-->", rest.length - 4);
    const start = rest.indexOf("<!--", previous < 0 ? 0 : previous + 3);
    if (start < 0) break;
    rest = rest.slice(0, start).trimEnd();
  }
  return rest;
}

/** What the TODO asks for, in one line for people, agents and commits: its text without where it came from. */
export function todoTitle(todo: Pick<Todo, "text">): string {
  return withoutTrailingComments(todo.text);
}

/** Hash of the normalised text; equal TODOs have the same. */
export function todoHash(text: string): string {
  return shortHash(composed(withoutTrailingComments(text)).replace(/\s+/g, " ").trim().toLowerCase());
}

/** As many as Unicode's stream-safe format allows in a row. */
const HEAPED_MARKS = /\p{M}{31}/u;

/** Marks in a row are sorted in time quadratic in their number; no language heaps up so many, so such a text stays as it is. */
function composed(text: string): string {
  return HEAPED_MARKS.test(text) ? text : text.normalize("NFC");
}

const REASON_LINE =
  /^\s*(?:[-*+>]\s+)?(?:\[b\]\s*)?\**(?:reason|blocked(?:\s+(?:by|because|reason))?)\**\s*:\**\s*(\S.*)/i;

/** The reason that one of the lines states ("reason: …", "blocked: …"). */
export function reasonInLines(lines: readonly string[]): string | undefined {
  for (const line of lines) {
    const reason = REASON_LINE.exec(line)?.[1];
    if (reason) return reason.trim();
  }
  return undefined;
}

/** The reason at the end of a TODO's first line: "(blocked: …)". */
export function reasonInText(text: string): string | undefined {
  const line = withoutTrailingComments(text);
  const open = line.toLowerCase().lastIndexOf("(blocked:");
  if (open < 0 || !line.endsWith(")")) return undefined;
  return line.slice(open + "(blocked:".length, -1).trim() || undefined;
}
