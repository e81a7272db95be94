import { isDeepStrictEqual } from "node:util";
import { blocksOf, linesOf, newlineOf, nextLine } from "../markdown/blocks.ts";
import { contentEnd, insertLines } from "../markdown/encoding.ts";
import {
  hasTodoSection,
  isTodoSection,
  type ParsedPlan,
  type PlanDoc,
  parsePlan,
  type Section,
} from "../markdown/markdown.ts";
import { applyEdits, type Edit } from "../markdown/text-edits.ts";
import { visibleText } from "../markdown/visible.ts";
import { isLog, readForMerge, sectionText, unmergeable, withOurSections } from "./merge-sections.ts";
import { carryOver, type ExpectedTodo, todoSource } from "./merge-todos.ts";

/** Ways to write the same result; the first one that reads back as it was meant is taken. */
interface Way {
  /** Where TODOs go that the incoming text does not have. */
  readonly kept: "tight" | "loose" | "after-last";
  /** Logs that both texts have: at the incoming one's place, or all at the end. */
  readonly logs: "in-place" | "at-end";
}

interface Merge {
  readonly current: ParsedPlan;
  readonly incoming: ParsedPlan;
  /** The text that the incoming one was made from, when it is known. */
  readonly base: ParsedPlan | undefined;
}

/**
 * The text of a plan after its source changed: the incoming text, in which nothing that was done is undone.
 * Ticks and `[b]` stay; TODOs that are ticked or that triage added stay though the incoming text lacks them, and go to the
 * end, so that `after: 2` still means the second. Other TODOs that it lacks are gone; but text without any TODO section
 * says nothing about TODOs, so all of them stay. Logs stay as they are.
 *
 * With `base`, what the source said before, only what changed there since is a change: what was added, removed or edited
 * on our side stays, and where both changed the same, the incoming text wins. Merging the same again changes nothing,
 * with the same base or with the incoming text as the base. Throws `plan-invalid` when the texts cannot be put together.
 */
export function mergeUpsert(current: string, incoming: string, base?: string): string {
  if (current === incoming) return current;
  const was = plain(current);
  const wanted = plain(incoming);
  const before = base === undefined ? undefined : plain(base);
  if (before === wanted) return current;
  const merged =
    before === undefined ? mergePlain({ ...bothTexts(was, wanted), base: undefined }) : mergeThree(was, wanted, before);
  return merged === was ? current : styled(merged, /[\r\n]/.test(current) ? current : incoming, current);
}

function bothTexts(current: string, incoming: string): Pick<Merge, "current" | "incoming"> {
  return { current: readForMerge(current), incoming: readForMerge(incoming) };
}

function mergeThree(current: string, incoming: string, before: string): string {
  const base = readForMerge(before);
  const once = (text: string): string => {
    const texts = bothTexts(text, incoming);
    return mergePlain({ current: texts.current, incoming: withOurSections(texts.current, texts.incoming, base), base });
  };
  const result = once(current);
  // A kill may come before the new base is kept; then the same is merged once more.
  if (result !== current && once(result) !== result) throw unmergeable();
  return result;
}

/** The text with another title, where the one that it has is written: in `## Title`, or as its first top heading. */
export function retitled(text: string, title: string): string {
  const line = visibleText(title.replace(/\s+/g, " ").trim());
  const before = parsePlan(text);
  const at = before.titleAt;
  if (line === "" || before.title === line || !at) return text;
  for (const wanted of [line, `\\${line}`]) {
    const result = text.slice(0, at.start) + wanted + text.slice(at.end);
    const after = parsePlan(result);
    const isSame = after.sections.length === before.sections.length && after.todos.length === before.todos.length;
    if (after.title === line && isSame) return result;
  }
  return text;
}

function plain(text: string): string {
  return linesOf(text.replace(/^\uFEFF/, "")).join("\n");
}

function styled(text: string, lines: string, mark: string): string {
  return (mark.startsWith("\uFEFF") ? "\uFEFF" : "") + text.replaceAll("\n", newlineOf(lines));
}

function mergePlain(merge: Merge): string {
  const { current } = merge;
  // First of all: is it merged already? Any way that leads back here will do, so that a repetition changes nothing.
  const results = waysFor(merge).map((way) => ({ way, text: mergeBy(merge, way) }));
  if (results.some(({ text }) => text === current.text) && fits(merge, current)) return current.text;
  for (const { way, text } of results) {
    const result = readForMerge(text);
    if (fits(merge, result) && mergeBy({ ...merge, current: result }, way) === text) return text;
  }
  throw unmergeable();
}

/** Only the ways that can differ: most merges keep no TODO and have each log on one side. */
function waysFor(merge: Merge): Way[] {
  const keeps = !todosStay(merge) && carryOver(merge.current, merge.incoming, merge.base).kept.length > 0;
  const shares = stayingSections(merge, merge.incoming.doc).some(({ counterpart }) => counterpart);
  const kept: Way["kept"][] = keeps ? ["tight", "loose", "after-last"] : ["tight"];
  const logs: Way["logs"][] = shares ? ["in-place", "at-end"] : ["in-place"];
  return logs.flatMap((log) => kept.map((place) => ({ kept: place, logs: log })));
}

function mergeBy(merge: Merge, way: Way): string {
  const { current, incoming } = merge;
  const edits = todosStay(merge) ? [] : todoEdits(merge, way);
  const appended: string[] = [];
  for (const { section, counterpart } of stayingSections(merge, incoming.doc)) {
    const source = sectionText(current, section);
    const isReplaced = counterpart !== undefined && way.logs === "in-place";
    if (isReplaced) edits.push(replaceSection(incoming, counterpart, source));
    else appended.push(source);
    if (counterpart && !isReplaced) edits.push({ at: counterpart.start, to: counterpart.end, text: "" });
  }
  const text = applyEdits(incoming.text, edits);
  if (appended.length === 0) return text;
  // Sections are closed where the next one begins, so only the text before the first of them may need an end.
  const lines = appended.flatMap((source, at) => (at === 0 ? linesOf(source) : ["", ...linesOf(source)]));
  const closed = withEnd(text);
  return insertLines(closed, closed.length, lines, { before: true, after: false });
}

interface Staying {
  readonly section: Section;
  /** The section of `doc` that it belongs to: the n-th of a name to the n-th of the same name. */
  readonly counterpart: Section | undefined;
}

/** The sections of the current text that stay: logs, and the TODOs when the incoming text says nothing new about them. */
function stayingSections(merge: Merge, doc: PlanDoc): Staying[] {
  const isStaying = todosStay(merge);
  const rest = Map.groupBy(doc.sections, ({ key }) => key);
  return merge.current.doc.sections
    .filter((section) => isLog(section) || (isStaying && isTodoSection(section)))
    .map((section) => ({ section, counterpart: rest.get(section.key)?.shift() }));
}

/** Whether the TODOs stay as they are here, to the letter. */
function todosStay({ current, incoming, base }: Merge): boolean {
  if (!hasTodoSection(incoming.doc)) return base === undefined || !hasTodoSection(base.doc);
  const sources = (plan: ParsedPlan) =>
    plan.doc.sections.filter(isTodoSection).map((section) => sectionText(plan, section));
  const headings = (plan: ParsedPlan) => plan.doc.sections.filter(isTodoSection).map(({ key }) => key);
  return (
    base !== undefined &&
    isDeepStrictEqual(sources(incoming), sources(base)) &&
    isDeepStrictEqual(headings(incoming), headings(current))
  );
}

function todoEdits({ current, incoming, base }: Merge, way: Way): Edit[] {
  const { edits, kept } = carryOver(current, incoming, base);
  const section = incoming.doc.sections.findLast(isTodoSection);
  const last = incoming.doc.todos.at(-1);
  if (kept.length === 0 || !section) return edits;
  const end = contentEnd(incoming.text, section);
  const afterLast = last ? nextLine(incoming.text, last.end) : section.bodyStart;
  const at = way.kept === "after-last" ? afterLast : end;
  const isTight = way.kept === "tight" && last !== undefined && afterLast >= end && last.start >= section.start;
  const lines = kept.flatMap((todo) => todoSource(current.text, todo, last && incoming.text[last.start]));
  return [...edits, { at, to: at, lines, gaps: { before: !isTight, after: true } }];
}

function replaceSection(plan: ParsedPlan, section: Section, source: string): Edit {
  return { at: section.start, to: section.start + sectionText(plan, section).length, text: source };
}

/** The text, with what it left open (a code fence, a comment) closed, so that a heading below it is one. */
function withEnd(text: string): string {
  if (isClosed(text)) return text;
  const last = blocksOf(text).at(-1);
  const source = last ? text.slice(last.start, last.end) : "";
  const fence = /^(?:`{3,}|~{3,})/.exec(source)?.[0];
  for (const end of [fence, "-->", "</pre>"]) {
    if (end === undefined) continue;
    const result = insertLines(text, text.length, [end], { before: false, after: false });
    if (isClosed(result)) return result;
  }
  return text;
}

function isClosed(text: string): boolean {
  const probe = `${text}\n\n# end`;
  const last = blocksOf(probe).at(-1);
  return last?.type === "heading" && last.start === probe.length - "# end".length;
}

/** Whether the result reads back as the merge of the two: TODOs, sections and logs. */
function fits(merge: Merge, result: ParsedPlan): boolean {
  const { current, incoming, base } = merge;
  const expected = todosStay(merge) ? current.doc.todos : carryOver(current, incoming, base).expected;
  if (!sameTodos(expected, result.doc.todos)) return false;
  for (const { section, counterpart } of stayingSections(merge, result.doc)) {
    // What was left open at the end of a log may have been closed.
    if (!counterpart || !sectionText(result, counterpart).startsWith(sectionText(current, section))) return false;
  }
  const added = stayingSections(merge, incoming.doc).filter(({ counterpart }) => !counterpart).length;
  const others = (doc: PlanDoc): string =>
    JSON.stringify(doc.sections.flatMap((one) => (isLog(one) || isTodoSection(one) ? [] : [one.key])));
  return (
    result.doc.title === incoming.doc.title &&
    result.doc.sections.length === incoming.doc.sections.length + added &&
    others(result.doc) === others(incoming.doc)
  );
}

function sameTodos(expected: readonly ExpectedTodo[], found: readonly ExpectedTodo[]): boolean {
  const words = ({ text, state, context }: ExpectedTodo): string => `${state} ${text} ${context}`.replace(/\s+/g, "");
  return expected.length === found.length && expected.every((todo, at) => words(todo) === words(found[at] ?? todo));
}
