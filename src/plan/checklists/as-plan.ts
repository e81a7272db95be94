import { PrloomError } from "../../kernel/errors.ts";
import { appendTracedTodos } from "../edit-plan.ts";
import { type Block, beforeIndent, blocksOf, lineEnd, nextLine } from "../markdown/blocks.ts";
import { hasTodoSection, parsePlan } from "../markdown/markdown.ts";
import { plainText } from "../markdown/plain-text.ts";
import { applyEdits } from "../markdown/text-edits.ts";
import { MARKS } from "../todos/todo.ts";
import { readChecklist } from "./checklist.ts";
import type { Box, Group } from "./groups.ts";

/** The text as a plan, where it is clear which of its checkboxes are to be done; as it is, where it is not. */
export function planFromIssue(text: string): string {
  if (!/\[[ xXbB]\]/.test(text) || hasTodoSection(parsePlan(text))) return text;
  const found = readChecklist(text);
  return found.kind === "todos" || found.kind === "all-ticked" ? (withTodos(text, found.groups) ?? text) : text;
}

/** The text with the boxes of these groups in a section `## TODO` at its end; undefined where no such section can be added. */
export function withTodos(text: string, groups: readonly Group[]): string | undefined {
  const boxes = groups.flatMap((group) =>
    group.boxes.map((box) => ({ ...box, below: groups.length > 1 ? [group.heading, ...box.below] : box.below })),
  );
  const cuts = boxes.map(({ start, end }) => ({ at: beforeIndent(text, start), to: nextLine(text, end), text: "" }));
  const rest = withoutEmptied(applyEdits(text, cuts), groups);
  const todos = boxes.map((box) => ({ text: box.text, context: contextOf(box), from: [] }));
  try {
    return ticked(appendTracedTodos(rest, todos), boxes);
  } catch (error) {
    if (error instanceof PrloomError && error.code === "plan-invalid") return undefined;
    throw error;
  }
}

function contextOf({ below, context }: Box): string {
  return [...(below.length > 0 ? [`Part of: ${below.join(" › ")}`] : []), ...(context === "" ? [] : [context])].join(
    "\n",
  );
}

function ticked(text: string, boxes: readonly Box[]): string {
  const edits = parsePlan(text).todos.flatMap(({ markerOffset }, index) => {
    const state = boxes[index]?.state ?? "open";
    return state === "open" ? [] : [{ at: markerOffset, to: markerOffset + 1, text: MARKS[state] }];
  });
  return applyEdits(text, edits);
}

/** Without the headings below which nothing is left. */
function withoutEmptied(text: string, groups: readonly Group[]): string {
  const names = new Set(groups.map(({ heading }) => heading));
  const blocks = blocksOf(text);
  const cuts = blocks.flatMap((block, index) => {
    const next = blocks[index + 1];
    const isEmpty = !next || (next.type === "heading" && (next.depth ?? 1) <= (block.depth ?? 7));
    // A top heading is the title, whatever is left below it.
    const isHeading = (block.type === "heading" && block.depth !== 1) || block.type === "paragraph";
    const isNamed = isHeading && names.has(wordsOf(text, block));
    const to = next ? beforeIndent(text, next.start) : text.length;
    return isEmpty && isNamed ? [{ at: beforeIndent(text, block.start), to, text: "" }] : [];
  });
  return applyEdits(text, cuts);
}

function wordsOf(text: string, { start, end, words }: Block): string {
  const source = words ? text.slice(words.start, words.end) : text.slice(start, end);
  return lineEnd(source, 0) < source.length ? "" : plainText(source).replace(/\s*[:：]$/, "");
}
