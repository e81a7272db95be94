import { blocksOf, lineEnd } from "../markdown/blocks.ts";
import { applyEdits } from "../markdown/text-edits.ts";

const OPENS = /^(?:`{3,}|~{3,})[ \t]*\[tasklist\][ \t]*$/i;
const CLOSES = /^[ \t]*(?:`{3,}|~{3,})[ \t]*$/;

/**
 * The text of an issue with the fences of GitHub's tasklists taken away: to Markdown they are code, but GitHub showed what
 * is inside as tasks. An empty line stays for each, so that what stands around them does not run into the list.
 */
export function withoutTasklistFences(text: string): string {
  if (!/\[tasklist\]/i.test(text)) return text;
  const cuts = blocksOf(text).flatMap(({ type, start, end }) => {
    const opened = lineEnd(text, start);
    if (type !== "code" || !OPENS.test(text.slice(start, opened))) return [];
    // Looked for in the fence alone: a text has only one kind of line breaks, and the other would be looked for up to its start.
    const inside = text.slice(opened, end);
    const closing = opened + Math.max(inside.lastIndexOf("\n"), inside.lastIndexOf("\r")) + 1;
    // One that is not closed goes to the end of the text.
    const isClosed = closing > opened && CLOSES.test(text.slice(closing, end));
    return [{ at: start, to: opened, text: "" }, ...(isClosed ? [{ at: closing, to: end, text: "" }] : [])];
  });
  return applyEdits(text, cuts);
}
