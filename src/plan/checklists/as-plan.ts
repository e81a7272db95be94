import { PrloomError } from "../../kernel/errors.ts";
import { appendTracedTodos } from "../edit-plan.ts";
import { type Block, beforeIndent, blocksOf, lineEnd, nextLine } from "../markdown/blocks.ts";
import { hasTodoSection, parsePlan } from "../markdown/markdown.ts";
import { plainText } from "../markdown/plain-text.ts";
import { MAX_TODOS } from "../markdown/size-limits.ts";
import { applyEdits } from "../markdown/text-edits.ts";
import { MARKS } from "../todos/todo.ts";
import { readChecklist } from "./checklist.ts";
import { type Box, type Group, groupsOf } from "./groups.ts";
import { isOnlyWork, isToDo } from "./heading-words.ts";
import { isLabel } from "./labels.ts";

/**
 * The text as a plan, where it is clear which of its checkboxes are to be done; as it is, where it is not. Of an issue that was
 * a plan `before` they are, then, those that stand beside TODOs that it had: another heading in it takes back nothing.
 */
export function planFromIssue(text: string, before = ""): string {
  if (!/\[[ xXbB]\]/.test(text)) return text;
  const plan = clearPlan(text);
  return plan === UNCLEAR
    ? once(`${text.length} ${text}${before}`, () => asPlan(text, groupsWith(text, before)))
    : plan;
}

/** No plan is this. */
const UNCLEAR = "";
/** What was asked a moment ago: one upsert asks for the same several times, and of the same text with other ones before it. */
const MAX_RECENT = 8;
const recent = new Map<string, string>();

function once(key: string, make: () => string): string {
  const plan = recent.get(key) ?? make();
  recent.delete(key);
  recent.set(key, plan);
  for (const oldest of recent.keys()) if (recent.size > MAX_RECENT) recent.delete(oldest);
  return plan;
}

/** The plan where nothing before it has to say which boxes are meant. */
function clearPlan(text: string): string {
  return once(`clear ${text}`, () => {
    const doc = parsePlan(text);
    if (doc.tooLarge !== undefined || hasTodoSection(doc)) return text;
    const found = readChecklist(text);
    return found.kind === "todos" || found.kind === "all-ticked" ? asPlan(text, found.groups) : UNCLEAR;
  });
}

function asPlan(text: string, groups: readonly Group[]): string {
  return groups.length === 0 ? text : (withTodos(text, groups) ?? text);
}

/** Headings of tasks that `planFromIssue` leaves in the text of an issue that was a plan `before`: it does not know whether they are meant. */
export function headingsLeft(text: string, before: string): string[] {
  if (hasTodoSection(parsePlan(text)) || clearPlan(text) !== UNCLEAR) return [];
  const found = readChecklist(text);
  const taken = found.kind === "unclear" ? groupsWith(text, before) : [];
  if (found.kind !== "unclear" || taken.length === 0) return [];
  const names = new Set(taken.map(({ heading }) => heading));
  return found.groups.map(({ heading }) => heading).filter((heading) => !names.has(heading));
}

function groupsWith(text: string, before: string): Group[] {
  const known = new Set(parsePlan(before).todos.map((todo) => todo.text));
  if (known.size === 0) return [];
  return groupsOf(text).filter(({ kind, boxes }) => isToDo(kind) && boxes.some((box) => known.has(box.text)));
}

/** The text with the boxes of these groups in a section `## TODO` at its end; undefined where no such section can be added. */
export function withTodos(text: string, groups: readonly Group[]): string | undefined {
  const boxes = groups.flatMap((group) =>
    group.boxes.map((box) => ({ ...box, below: groups.length > 1 ? [group.heading, ...box.below] : box.below })),
  );
  if (boxes.length > MAX_TODOS) return undefined;
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

/** Of each heading above it, every TODO says as much: the words of one, however long, times all of its boxes would fill the memory. */
const MAX_PART = 200;

function contextOf({ below, context }: Box): string {
  const parts = below.map((words) => (words.length > MAX_PART ? `${words.slice(0, MAX_PART)}…` : words));
  return [...(parts.length > 0 ? [`Part of: ${parts.join(" › ")}`] : []), ...(context === "" ? [] : [context])].join(
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

/** Without the headings below which nothing is left and which say nothing that would be missed: a label may be all that an issue says. */
function withoutEmptied(text: string, groups: readonly Group[]): string {
  const names = new Set(groups.map(({ heading }) => heading));
  const blocks = blocksOf(text);
  const cuts = blocks.flatMap((block, index) => {
    const next = blocks[index + 1];
    // A label is for the list that follows it, and that is gone.
    const isEmpty =
      !next || (next.type === "heading" && (next.depth ?? 1) <= (block.depth ?? 7)) || isLabel(block, text);
    // A top heading is the title, whatever is left below it.
    const isHeading = (block.type === "heading" && block.depth !== 1) || block.type === "paragraph";
    const words = wordsOf(text, block);
    // Of several groups each TODO says the words of its own, but not what they link to.
    const isTold = groups.length > 1 && words.length <= MAX_PART && !text.slice(block.start, block.end).includes("](");
    const isNamed = isHeading && names.has(words) && (isOnlyWork(words) || isTold);
    const to = next ? beforeIndent(text, next.start) : text.length;
    return isEmpty && isNamed ? [{ at: beforeIndent(text, block.start), to, text: "" }] : [];
  });
  return applyEdits(text, cuts);
}

function wordsOf(text: string, { start, end, words }: Block): string {
  const source = words ? text.slice(words.start, words.end) : text.slice(start, end);
  return lineEnd(source, 0) < source.length ? "" : plainText(source).replace(/(?<!\s)\s*[:：]$/, "");
}
