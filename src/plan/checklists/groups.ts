import { type Block, blocksOf, lineEnd } from "../markdown/blocks.ts";
import { plainText } from "../markdown/plain-text.ts";
import { plainItemOf, type TaskItem, taskItemOf } from "../todos/todo.ts";
import { type HeadingKind, headingKind, isAboutAll, isDependencies, isTasks, isToDo } from "./heading-words.ts";
import { isConfirmation, isCrossedOut, isIssueName, isPlaceholder, isYesOrNo } from "./item-words.ts";
import { isName, isPlainLabel, isProse, isTitle, labelLines } from "./labels.ts";

/** A checkbox of a text, with what it stands below inside its group: headings that say nothing about it, plain items. */
export interface Box extends TaskItem {
  readonly below: readonly string[];
}

/** Checkboxes that belong together: those below the same heading or label. */
export interface Group {
  /** As a person reads it; empty for boxes before any heading. */
  readonly heading: string;
  readonly kind: HeadingKind;
  readonly boxes: readonly Box[];
  /** Boxes that a template left behind. */
  readonly placeholders: number;
  /** Boxes that their author crossed out. */
  readonly crossedOut: number;
  /** Groups with the same value stand side by side. */
  readonly beside: string;
  /** The headings that it stands below, outermost first. */
  readonly within: readonly string[];
}

type Unfinished = Omit<Group, "boxes" | "placeholders" | "crossedOut">;

/** A heading or label whose reach has not ended yet. Labels are deeper than every heading. */
interface Above {
  readonly depth: number;
  readonly text: string;
  /** Only asked of those that have a list below them, or a label. */
  readonly kind: () => HeadingKind;
  readonly at: number;
  /** Names a part by itself. A line that ends with a colon, or a summary, may lead to what stands below a label. */
  readonly isTitle: boolean;
}

const LABEL_DEPTH = 7;
const LEAD_DEPTH = 8;

/** All groups of a text, in order. Quotes and code have none. `of: "plain"`: of lists without boxes instead. */
export function groupsOf(text: string, { of = "boxes" }: { of?: "boxes" | "plain" } = {}): Group[] {
  const found = new Map<string, { group: Unfinished; boxes: Box[] }>();
  const belowItem = itemsThatSpeak();
  for (const { list, above } of listsOf(blocksOf(text), text)) {
    const place = groupBelow(above);
    const boxes = of === "boxes" ? boxesOf(list, text, place.parts) : plainBoxes(list, text, place.parts);
    for (const one of boxes) {
      const { key, group, box } = belowItem(one, place);
      const known = found.get(key);
      if (known) known.boxes.push(box);
      else found.set(key, { group, boxes: [box] });
    }
  }
  return [...found.values()].map(({ group, boxes }) => finished(group, boxes));
}

/** The lists among these blocks, each with the headings and labels that it stands below. */
function listsOf(blocks: readonly Block[], text: string): { list: Block; above: readonly Above[] }[] {
  const found: { list: Block; above: readonly Above[] }[] = [];
  let above: Above[] = [];
  const folded: Above[][] = [];
  let since: Since = { list: -1, words: -1 };
  const title = titleAmong(blocks);
  for (const [index, block] of blocks.entries()) {
    if (block.type === "html") above = belowFolds(block, text, { above, folded, since });
    // A heading that says something is for all that is below it; "Optional" there is a remark.
    const isTold = above.some(({ depth, kind }) => depth < LABEL_DEPTH && kind() !== "other");
    const following = isTold ? undefined : blocks[index + 1];
    const isLeftOut =
      following?.type === "list" && above.some(({ depth, kind }) => depth >= LABEL_DEPTH && !isToDo(kind()));
    const next = aboveFrom(block, text, following, isLeftOut);
    for (const one of block === title ? next.map(asTitle) : next) above = under(above, one, since);
    if (isProse(block, text)) since = { ...since, words: block.end };
    if (block.type !== "list") continue;
    since = { ...since, list: block.end };
    found.push({ list: block, above });
  }
  return found;
}

/** The heading that names all that follows it. */
function titleAmong(blocks: readonly Block[]): Block | undefined {
  const headings = blocks.filter(({ type }) => type === "heading");
  const [title, second] = headings.filter(({ depth }) => depth === 1);
  return second === undefined && title === headings[0] ? title : undefined;
}

/** What a title says against boxes is what the issue is about: "Remove shims that are no longer needed", "Can we drop Node 18?" */
function asTitle(above: Above): Above {
  const kind = () => (isToDo(above.kind()) || !isAboutAll(above.text) ? above.kind() : "other");
  return { ...above, kind };
}

/** Where the last list and the last words ended. */
interface Since {
  readonly list: number;
  readonly words: number;
}

/**
 * A line that says nothing about its list is part of the label right before it that does, and so are those that follow it. Behind words
 * it begins something else: "Expected behavior", a sentence, "We need to:".
 */
function under(above: readonly Above[], next: Above, since: Since): Above[] {
  const last = above.at(-1);
  const isOpen =
    last?.depth === LEAD_DEPTH || (last?.depth === LABEL_DEPTH && last.kind() !== "other" && since.list < last.at);
  const isLead = isOpen && !next.isTitle && since.words < (last?.at ?? 0) && next.kind() === "other";
  const depth = isLead ? LEAD_DEPTH : next.depth;
  return [...above.filter((one) => one.depth < depth), { ...next, depth }];
}

/** Below the headings that it stands under, and above those inside of it. */
function foldDepth(above: readonly Above[]): number {
  const headings = above.filter(({ depth }) => depth < LABEL_DEPTH).map(({ depth }) => Math.floor(depth));
  return Math.max(0, ...headings) + 0.5;
}

const FOLDS = /<(\/?)details\b|<(summary|h([1-6]))\b[^<>]{0,100}>(.{1,200}?)<\/\2>/gis;

/**
 * Headings may be tags. The summary of a part that folds is its label; behind its end stands what stood above its beginning, whatever headings
 * it has inside.
 */
function belowFolds(
  { start, end }: Block,
  text: string,
  { above, folded, since }: { above: Above[]; folded: Above[][]; since: Since },
): Above[] {
  let now = above;
  for (const { index, 1: close, 3: tag, 4: words } of text.slice(start, end).matchAll(FOLDS)) {
    const depth = Number(tag ?? foldDepth(now));
    const isTitle = tag !== undefined;
    if (words !== undefined) now = under(now, { ...labelled(words, start + index), depth, isTitle }, since);
    else if (close === "") folded.push(now);
    else now = folded.pop() ?? now;
  }
  return now;
}

/** The nearest heading or label that says something names the group; one that says nothing is part of it, and so are tests of the work. */
function groupBelow(above: readonly Above[]) {
  const isPart = (at: number) => above.slice(0, at).some(({ kind, depth }) => depth > 1 && kind() === "work");
  // A question is about the list right below it, as in a form, labels or not; with headings below it, it is a chapter.
  const isChapter = (at: number) =>
    /[?？]$/.test(above[at]?.text ?? "") && above.slice(at + 1).some(({ depth }) => depth < LABEL_DEPTH);
  const isSilent = (kind: HeadingKind, at: number) =>
    kind === "tests" ? isPart(at) : (kind === "choice" || kind === "confirmation") && isChapter(at);
  const speaks = above.findLastIndex(({ kind }, at) => kind() !== "other" && !isSilent(kind(), at));
  const own = speaks === -1 ? above.length - 1 : speaks;
  const named = above[own];
  const within = above.slice(0, Math.max(own, 0)).map(({ text }) => text);
  const beside = JSON.stringify([named?.depth, above[own - 1]?.at]);
  return {
    key: String(named?.at),
    group: { heading: named?.text ?? "", kind: named?.kind() ?? ("other" as const), beside, within },
    parts: above.slice(own + 1).map(({ text }) => text),
  };
}

/** What an item, or a label inside of it, says of the boxes below. Others are names of parts: "Platforms". */
const SAID_BY_ITEMS: ReadonlySet<HeadingKind> = new Set(["criteria", "out-of-scope", "waits", "question"]);
/** A box whose list names what it is for in an item above it is in a group of that name. */
function itemsThatSpeak() {
  const kinds = new Map<string, HeadingKind>();
  const kindOf = (words: string): HeadingKind => {
    const kind = kinds.get(words) ?? headingKind(words);
    kinds.set(words, kind);
    return kind;
  };
  return (box: Box, { key, group, parts }: ReturnType<typeof groupBelow>) => {
    const items = box.below.slice(parts.length);
    const speaks = items.findLastIndex((words) => isName(words) && SAID_BY_ITEMS.has(kindOf(words)));
    const heading = items[speaks];
    if (heading === undefined) return { key, group, box };
    const within = [...group.within, group.heading, ...parts, ...items.slice(0, speaks)];
    const named = { ...group, heading, kind: kindOf(heading), within };
    return { key: `${key} ${heading}`, group: named, box: { ...box, below: items.slice(speaks + 1) } };
  };
}

function finished(group: Unfinished, all: readonly Box[]): Group {
  const wanted = all.filter(({ text }) => !isCrossedOut(text));
  const boxes = wanted.filter(({ text }) => !isPlaceholder(text));
  const isMost = (is: (text: string) => boolean) => boxes.filter(({ text }) => is(text)).length * 2 > boxes.length;
  const isAsked = group.kind === "other" && isMost((text) => /[?？]$/.test(text.trim()));
  const isWaited = isDependencies(group.heading) && isMost(isIssueName);
  const said =
    isToDo(group.kind) && isMost(isYesOrNo) ? "choice" : isAsked ? "question" : isWaited ? "waits" : group.kind;
  const isWork = group.kind === "work" && isTasks(group.heading);
  const kind = !isWork && isMost((text) => isConfirmation(plainText(text))) ? "confirmation" : said;
  const left = { placeholders: wanted.length - boxes.length, crossedOut: all.length - wanted.length };
  return { ...group, kind, boxes, ...left };
}

function aboveFrom(block: Block, text: string, following: Block | undefined, isLeftOut: boolean): Above[] {
  if (block.type === "heading") {
    const words = text.slice(block.words?.start ?? block.start, block.words?.end ?? block.end);
    return [{ ...labelled(words, block.start), depth: block.depth ?? 1, isTitle: true }];
  }
  const lines = isPlainLabel(block, text, following, isLeftOut)
    ? [{ line: text.slice(block.start, block.end), at: block.start }]
    : labelLines(block, text);
  return lines.map(({ line, at }) => ({
    ...labelled(line, at),
    depth: LABEL_DEPTH,
    isTitle: isTitle(line),
  }));
}

function labelled(source: string, at: number): Pick<Above, "text" | "kind" | "at"> {
  const words = plainText(source.trim()).replace(/(?<!\s)\s*[:：]$/, "");
  let kind: HeadingKind | undefined;
  return {
    text: words,
    at,
    kind: () => {
      kind ??= headingKind(words);
      return kind;
    },
  };
}

/** The items of a list as if they were boxes; of a list that has some there are none. */
function plainBoxes(list: Block, text: string, below: readonly string[]): Box[] {
  if (boxesOf(list, text, below).length > 0) return [];
  return list.children.flatMap((item) => {
    const plain = plainItemOf(item, text);
    return plain ? [{ ...plain, below }] : [];
  });
}

/** Deeper ones are not read. */
const MAX_DEPTH = 12;

/** The boxes of a list; those below a plain item, and labels inside of it, are boxes of the list, those below an open box are its context. */
function boxesOf(outer: Block, text: string, below: readonly string[]): Box[] {
  return outer.children.flatMap((item) => {
    const task = uncommented(taskItemOf(item, text));
    // One that only says "Tasks" is a name for those below it.
    if (task && task.state !== "done" && !isPlaceholder(task.text)) return [{ ...task, below }];
    const [first, ...rest] = item.children;
    if (first?.type === "list") return unwrapped(item, boxesOf(first, text, below));
    if (first?.type !== "paragraph" || below.length >= MAX_DEPTH) return task ? [{ ...task, below }] : [];
    const line = task?.text ?? text.slice(first.start, lineEnd(text, first.start));
    const words = plainText(line).replace(/(?<!\s)\s*[:：]$/, "");
    const nested = rest.length > 0 ? listsOf(item.children, text) : [];
    const inner = nested.flatMap(({ list, above }) => {
      const labels = above.filter(({ at }) => at !== first.start).map((label) => label.text);
      return boxesOf(list, text, [...below, words, ...labels]);
    });
    const isHeading = task?.state !== "done" && inner.length > 0;
    // One that is ticked is done, unless something below it is not: then that is to be done.
    return task && !isHeading && inner.every(({ state }) => state === "done") ? [{ ...task, below }] : inner;
  });
}

/** What an author hid in an item is not among its words: they become the subject of a commit. */
function uncommented(task: TaskItem | undefined): TaskItem | undefined {
  // One that is not closed is no comment, nor is one in code; that the end is tried, too, keeps many of them from being looked through again and again.
  const shown = task?.text.replace(/`[^`]*`|<!--.*?(-->|$)/g, (found, end) => (end ? "" : found));
  return task && { ...task, text: shown?.trim() ?? "" };
}

/** `1. - [ ] one` is how tasks are numbered at GitHub: the number goes with the box. */
function unwrapped({ start }: Block, [first, ...rest]: Box[]): Box[] {
  return first ? [{ ...first, start }, ...rest] : [];
}
