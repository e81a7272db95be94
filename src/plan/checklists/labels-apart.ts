import { type Block, blocksOf, lineEnd, newlineOf, nextLine } from "../markdown/blocks.ts";
import { hasTodoSection, parsePlan } from "../markdown/markdown.ts";
import { sizeProblem } from "../markdown/size-limits.ts";
import { applyEdits, type Replacement } from "../markdown/text-edits.ts";
import { isName, labelLines, saysPlainly } from "./labels.ts";

/**
 * The text of an issue with empty lines around labels that follow an item of a list right away: to Markdown such a line is one more of the item,
 * but GitHub shows it below, where its author put it: "- [ ] last task", "Out of scope:", "- [ ] another".
 */
export function withLabelsApart(text: string): string {
  // What is too large to be a plan is not looked at.
  if (!/\[[ xX]\]/.test(text) || sizeProblem(text)) return text;
  const edits = blocksOf(text).flatMap((block) => block.children.flatMap((item) => editsAfter(item, text)));
  return edits.length === 0 || hasTodoSection(parsePlan(text)) ? text : applyEdits(text, edits);
}

/** What an item goes on with below such a line, as a list, is its own: "- [ ] task", "Files:", "  - a.ts". */
function editsAfter(item: Block, text: string): Replacement[] {
  const last = item.children.at(-1);
  if (item.type !== "listItem" || last === undefined) return [];
  if (last.type === "paragraph") return apart(last, text);
  const inner = last.children.at(-1);
  return inner === undefined ? [] : editsAfter(inner, text);
}

function apart(words: Block, text: string): Replacement[] {
  const at = lastLine(words, text);
  if (at === undefined || !isLabelAt(words, text, at)) return [];
  const newline = newlineOf(text);
  const to = nextLine(text, words.end);
  return [{ at, to: at, text: newline }, ...(to < text.length ? [{ at: to, to, text: newline }] : [])];
}

/** Where the last line of several begins, if nothing is in front of it. */
function lastLine({ start, end }: Block, text: string): number | undefined {
  let last = start;
  for (let next = nextLine(text, start); next < end; next = nextLine(text, next)) last = next;
  return last > start && /^[^\s>]/.test(text.slice(last, last + 1)) ? last : undefined;
}

function isLabelAt(block: Block, text: string, at: number): boolean {
  const line = text.slice(at, lineEnd(text, at)).trim();
  // In small letters it is the end of a sentence that was wrapped.
  if (/^(?!\p{Ll})/u.test(line) && saysPlainly(line)) return true;
  const isMarked = labelLines({ ...block, start: at }, text).length > 0;
  return isMarked && (/^(?:\*\*|__|<)/.test(line) || isName(line));
}
