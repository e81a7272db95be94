import { type Block, blocksOf, linesOf } from "../markdown/blocks.ts";
import { type Group, groupsOf } from "./groups.ts";
import { isBehindOthers, isExactTodo, isToDo, sameHeading } from "./heading-words.ts";

/** Boxes that are not taken as TODOs, and why. */
export interface LeftOut {
  readonly heading: string;
  readonly count: number;
  readonly why:
    | "placeholders"
    | "crossed out"
    | "conditions"
    | "confirmations"
    | "choices"
    | "out of scope"
    | "what it waits for"
    | "questions"
    | "how a fault is seen"
    | "another group";
}

/** Which checkboxes of a text are its TODOs. */
export type Checklist =
  | { readonly kind: "todos"; readonly groups: readonly Group[]; readonly leftOut: readonly LeftOut[] }
  /** The same, and all of them are done. */
  | { readonly kind: "all-ticked"; readonly groups: readonly Group[]; readonly leftOut: readonly LeftOut[] }
  /** A person must say which. */
  | { readonly kind: "unclear"; readonly groups: readonly Group[]; readonly leftOut: readonly LeftOut[] }
  /** The designer makes them. */
  | { readonly kind: "none"; readonly leftOut: readonly LeftOut[] };

/** Of as many groups as this, side by side, each is a part of the work; two may as well be a choice. */
const PARTS = 3;

/** Which checkboxes of an issue's body, or of a plan that was not written for prloom, are to be done. */
export function readChecklist(text: string): Checklist {
  const all = groupsOf(text);
  const left = all.filter(({ boxes }) => boxes.length > 0);
  const work = left.filter(({ kind }) => kind === "work");
  const first = left.filter(({ kind }) => kind === "other");
  const others = first.length > 0 ? first : left.filter(({ heading }) => isBehindOthers(heading));
  if (work.length > 0) return fromWork(all, work);
  if (others.length === 0) return { kind: "none", leftOut: leftOutOf(all, []) };
  if (others.length === 1) return taken(all, others);
  // Beside parts of the work, tests are another one.
  const parts = left.filter(({ kind }) => kind === "other" || kind === "tests");
  const isOne = parts.length >= PARTS && new Set(parts.map(({ beside }) => beside)).size === 1;
  return isOne ? taken(all, parts) : unclear(all, others);
}

function fromWork(all: readonly Group[], work: readonly Group[]): Checklist {
  const exact = work.filter(({ heading }) => isExactTodo(heading));
  if (exact.length === 1) return taken(all, exact);
  return work.length === 1 ? taken(all, work) : unclear(all, work);
}

/** The groups that a person names, in the order of the text; undefined if there is none of one name. */
export function checklistUnder(text: string, ...headings: readonly string[]): Checklist | undefined {
  const all = groupsOf(text);
  const found = headings.map((heading) => groupsUnder(text, all, heading));
  if (found.some((groups) => groups.length === 0)) return undefined;
  return taken(all, inOrder(found.flat()));
}

/** In the order of the text, and each box once. */
function inOrder(groups: readonly Group[]): Group[] {
  const known = new Set<number>();
  const once = groups.map((group) => {
    const boxes = group.boxes.filter(({ start }) => !known.has(start));
    for (const { start } of boxes) known.add(start);
    return { ...group, boxes };
  });
  const left = once.filter(({ boxes }) => boxes.length > 0);
  return left.sort((one, other) => (one.boxes[0]?.start ?? 0) - (other.boxes[0]?.start ?? 0));
}

/**
 * The group of that name, whatever it would be taken for, with boxes or without, else the part of a group, and the groups that may be
 * something to do, below a heading of that name.
 */
function groupsUnder(text: string, all: readonly Group[], heading: string): readonly Group[] {
  const isNamed = (group: Group): boolean => group.boxes.length > 0 && sameHeading(group.heading, heading);
  const isBelow = ({ boxes, kind, within }: Group): boolean =>
    boxes.length > 0 && isToDo(kind) && within.some((name) => sameHeading(name, heading));
  const plain = () => groupsOf(text, { of: "plain" });
  const ways = [
    () => all.filter(isNamed),
    () => [
      ...partsUnder(
        all.filter(({ kind }) => isToDo(kind)),
        heading,
      ),
      ...all.filter(isBelow),
    ],
    () => partsUnder(all, heading),
    () => plain().filter(isNamed),
    () => partsUnder(plain(), heading),
  ];
  for (const way of ways) {
    const chosen = way();
    if (chosen.length > 0) return chosen;
  }
  return [];
}

/** What of these groups stands below a heading inside of them. */
function partsUnder(groups: readonly Group[], heading: string): Group[] {
  const isNamed = (words: string): boolean => sameHeading(words, heading);
  return groups.flatMap((group) => {
    const inside = group.boxes.filter(({ below }) => below.some(isNamed));
    const boxes = inside.map((box) => ({ ...box, below: box.below.slice(box.below.findIndex(isNamed) + 1) }));
    return boxes.length > 0 ? [{ ...group, heading: inside[0]?.below.find(isNamed) ?? heading, boxes }] : [];
  });
}

/** Names of all groups, of lists without boxes too. */
export function headingsOf(text: string): string[] {
  return [...groupsOf(text), ...groupsOf(text, { of: "plain" })].map(({ heading }) => heading);
}

const LIKE_A_BOX = /^\s*(?:[-*+]|\d{1,9}[.)])\s*\[\s*(?:[xX*✓✔]\s*)?\](?!\()/u;
const BOX = /^\s*(?:[-*+]|\d{1,9}[.)])\s+\[[ xXbB]\](?:\s|$)/;

/** The lines, from 1, that were perhaps meant as boxes and are none: `- []`, `-[ ]`, `- [ ]x`. */
export function misspeltBoxes(text: string): number[] {
  const isWords = new Set<number>();
  for (const block of blocksOf(text).flatMap(withChildren)) {
    if (block.type !== "paragraph" && block.type !== "listItem") continue;
    for (let line = block.line; line <= (block.type === "paragraph" ? block.endLine : block.line); line += 1)
      isWords.add(line);
  }
  return linesOf(text).flatMap((line, index) =>
    isWords.has(index + 1) && LIKE_A_BOX.test(line) && !BOX.test(line) ? [index + 1] : [],
  );
}

function withChildren(block: Block): Block[] {
  return [block, ...block.children.flatMap(withChildren)];
}

/** Lists below headings that say work, whose items are not boxes: they were perhaps meant. */
export function unticked(text: string): { readonly heading: string; readonly count: number }[] {
  const plain = groupsOf(text, { of: "plain" }).filter(({ kind, boxes }) => kind === "work" && boxes.length > 0);
  return plain.map(({ heading, boxes }) => ({ heading, count: boxes.length }));
}

function taken(all: readonly Group[], groups: readonly Group[]): Checklist {
  const isDone = groups.every(({ boxes }) => boxes.every(({ state }) => state === "done"));
  return { kind: isDone ? "all-ticked" : "todos", groups, leftOut: leftOutOf(all, groups) };
}

/** There is nothing to choose where something is open in one of them only, or in none. */
function unclear(all: readonly Group[], groups: readonly Group[]): Checklist {
  const open = groups.filter(({ boxes }) => boxes.some(({ state }) => state !== "done"));
  if (open.length < 2) return taken(all, open.length === 1 ? open : groups);
  return { kind: "unclear", groups, leftOut: leftOutOf(all, groups) };
}

const WHY = {
  work: "another group",
  other: "another group",
  criteria: "conditions",
  tests: "conditions",
  confirmation: "confirmations",
  choice: "choices",
  "out-of-scope": "out of scope",
  waits: "what it waits for",
  question: "questions",
  fault: "how a fault is seen",
} as const satisfies Record<Group["kind"], LeftOut["why"]>;

function leftOutOf(all: readonly Group[], chosen: readonly Group[]): LeftOut[] {
  const isChosen = new Set(chosen.flatMap(({ boxes }) => boxes.map(({ start }) => start)));
  return all.flatMap((group) => {
    const { heading, boxes, placeholders, crossedOut, kind } = group;
    const rest = boxes.filter(({ start }) => !isChosen.has(start)).length;
    return [
      ...(placeholders > 0 ? [{ heading, count: placeholders, why: "placeholders" as const }] : []),
      ...(crossedOut > 0 ? [{ heading, count: crossedOut, why: "crossed out" as const }] : []),
      ...(rest > 0 ? [{ heading, count: rest, why: WHY[kind] }] : []),
    ];
  });
}
