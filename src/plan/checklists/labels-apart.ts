import { type Block, blocksOf, lineEnd, newlineOf, nextLine } from "../markdown/blocks.ts";
import { hasTodoSection, parsePlan } from "../markdown/markdown.ts";
import { sizeProblem } from "../markdown/size-limits.ts";
import { applyEdits, type Replacement } from "../markdown/text-edits.ts";
import { taskItemOf } from "../todos/todo.ts";
import { isName, labelLines } from "./labels.ts";

/**
 * The text of an issue with empty lines around labels that follow a task right away: to Markdown such a line is one more of the task, but
 * GitHub shows it below, where its author put it: "- [ ] last task", "Out of scope:", "- [ ] another".
 */
export function withLabelsApart(text: string): string {
  // What is too large to be a plan is not looked at.
  if (!/\[[ xX]\]/.test(text) || sizeProblem(text)) return text;
  const edits = blocksOf(text).flatMap((block) => editsIn(block, text));
  return edits.length === 0 || hasTodoSection(parsePlan(text)) ? text : applyEdits(text, edits);
}

function editsIn(block: Block, text: string): Replacement[] {
  const [words] = block.type === "listItem" && taskItemOf(block, text) ? block.children : [];
  const inner = block.children.flatMap((child) => editsIn(child, text));
  const at = words === undefined ? undefined : lastLine(words, text);
  if (words === undefined || at === undefined || !isLabelAt(words, text, at)) return inner;
  const newline = newlineOf(text);
  const to = nextLine(text, words.end);
  const after = to < text.length ? [{ at: to, to, text: newline }] : [];
  return [{ at, to: at, text: newline }, ...after, ...inner];
}

/** Where the last line of several begins, if nothing is in front of it. */
function lastLine({ start, end }: Block, text: string): number | undefined {
  let last = start;
  for (let next = nextLine(text, start); next < end; next = nextLine(text, next)) last = next;
  return last > start && /^[^\s>]/.test(text.slice(last, last + 1)) ? last : undefined;
}

function isLabelAt(block: Block, text: string, at: number): boolean {
  const line = text.slice(at, lineEnd(text, at)).trim();
  const isMarked = labelLines({ ...block, start: at }, text).length > 0;
  return isMarked && (/^(?:\*\*|__|<)/.test(line) || isName(line));
}
