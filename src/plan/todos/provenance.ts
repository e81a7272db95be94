import { linesOf } from "../markdown/blocks.ts";
import { commentName } from "../markdown/encoding.ts";
import { type Todo, withoutTrailingComments } from "./todo.ts";

/** A comment that asked for a TODO. */
export interface Origin {
  readonly eventId: string;
  readonly author: string;
}

const LINE = /^<!-- from \S+ by \S+ -->$/;
/** Where earlier versions wrote it. */
const AT_THE_END = /<!-- from \S+ by \S+ -->\s*$/;

/** Where a TODO came from, as it is written below the item: a line of its own, so that the item's line is its text. */
export function provenanceLine({ eventId, author }: Origin): string {
  return `<!-- from ${commentName(eventId)} by ${commentName(author)} -->`;
}

/** The lines below the item that tell where it came from. No comment can contain such a line: its words lose what makes an HTML comment. */
export function provenanceLines({ context }: Pick<Todo, "context">): string[] {
  return linesOf(context)
    .map((line) => line.trim())
    .filter((line) => LINE.test(line));
}

/** The ids of the events that asked for a TODO, as far as its lines tell. */
export function eventsBehind(todo: Pick<Todo, "context">): string[] {
  return provenanceLines(todo).flatMap((line) => /^<!-- from (\S+) by /.exec(line)?.[1] ?? []);
}

/** What is written below the item besides where it came from: everything that is about the work. */
export function withoutProvenance({ context }: Pick<Todo, "context">): string {
  const said = linesOf(context).filter((line) => !LINE.test(line.trim()));
  return said.join("\n").trimEnd();
}

/** True for a TODO that a comment asked for; only such a one may be absent from what the plan's source says. */
export function hasProvenance(todo: Pick<Todo, "text" | "context">): boolean {
  return AT_THE_END.test(todo.text) || provenanceLines(todo).length > 0;
}

/** One way to match only: `.` alone stops at U+2028, and a choice of where the words begin is then tried for each blank. */
const ITEM = /^\s*(?:[-*+]|\d{1,9}[.)])\s+\[[ xXbB]\]\s(.*)$/s;

/** Every item of the text with what it came from, even if it was ticked or moved: see `askedKey`. */
export function askedIn(text: string): Set<string> {
  const asked = new Set<string>();
  let words = "";
  for (const line of linesOf(text)) {
    const item = ITEM.exec(line)?.[1];
    if (item !== undefined) words = withoutTrailingComments(item.trimStart());
    const from = item === undefined ? LINE.exec(line.trim())?.[0] : AT_THE_END.exec(item)?.[0];
    if (from !== undefined) asked.add(`${words}\n${from.slice(0, from.lastIndexOf(" by "))}`);
  }
  return asked;
}

/** Names what one event asked for in these words. */
export function askedKey(words: string, eventId: string): string {
  return `${words}\n<!-- from ${commentName(eventId)}`;
}
