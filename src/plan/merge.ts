import { PrloomError } from "../kernel/errors.ts";
import { blocksOf, endOf, lineEnd, linesOf, newlineOf, nextLine, startOf } from "./blocks.ts";
import { LOG_HEADINGS } from "./edit.ts";
import { contentEnd, insertLines } from "./inert.ts";
import { findSection, headingKey, isTodoHeading, type PlanDoc, parsePlan, type Section } from "./markdown.ts";
import { applyEdits, carryOver, type Edit, type ExpectedTodo, todoSource } from "./merge-todos.ts";

interface Side {
  readonly text: string;
  readonly doc: PlanDoc;
}

/** Ways to write the same result; the first one that reads back as it was meant is taken. */
interface Way {
  /** Where TODOs go that the incoming text does not have. */
  readonly kept: "tight" | "loose" | "after-last";
  /** Logs that both texts have: at the incoming one's place, or all at the end. */
  readonly logs: "in-place" | "at-end";
}

/**
 * The text of an active plan after somebody changed it outside: the incoming text, in which nothing that was done is
 * undone. Ticks and `[b]` stay; TODOs that are ticked or that triage added stay though the incoming text lacks them, and
 * go to the end, so that `after: 2` still means the second. Other TODOs that it lacks are gone; but a text without any
 * TODO section says nothing about TODOs, so all of them stay. Logs stay as they are. Merging the same again changes
 * nothing. Throws `plan-invalid` when the two cannot be put together.
 */
export function mergeUpsert(current: string, incoming: string): string {
  if (current === incoming) return current;
  const was = plain(current);
  const merged = mergePlain(sideOf(was), sideOf(plain(incoming)));
  return merged === was ? current : styled(merged, /[\r\n]/.test(current) ? current : incoming, current);
}

/** The text with another title: `## Title` is reworded, or made when the text has no title at all. */
export function retitled(text: string, title: string): string {
  const line = title.replace(/\s+/g, " ").trim();
  const before = parsePlan(text);
  const section = findSection(before, "Title");
  if (line === "" || before.title === line || before.title === undefined || !section) return text;
  for (let at = section.bodyStart; at < section.end; at = nextLine(text, at)) {
    const written = text.slice(at, lineEnd(text, at));
    if (written.trim().replace(/^\\/, "") !== before.title) continue;
    for (const wanted of [line, `\\${line}`]) {
      const result = text.slice(0, at) + wanted + text.slice(at + written.length);
      const after = parsePlan(result);
      const isSame = after.sections.length === before.sections.length && after.todos.length === before.todos.length;
      if (after.title === line && isSame) return result;
    }
  }
  return text;
}

function plain(text: string): string {
  return linesOf(text.replace(/^\uFEFF/, "")).join("\n");
}

function styled(text: string, lines: string, mark: string): string {
  return (mark.startsWith("\uFEFF") ? "\uFEFF" : "") + text.replaceAll("\n", newlineOf(lines));
}

function sideOf(text: string): Side {
  return { text, doc: parsePlan(text) };
}

function mergePlain(current: Side, incoming: Side): string {
  // First of all: is it merged already? Any way that leads back here will do, so that a repetition changes nothing.
  const results = waysFor(current, incoming).map((way) => ({ way, text: mergeBy(current, incoming, way) }));
  if (results.some(({ text }) => text === current.text) && fits(current, incoming, current)) return current.text;
  for (const { way, text } of results) {
    const result = sideOf(text);
    if (fits(current, incoming, result) && mergeBy(result, incoming, way) === text) return text;
  }
  throw new PrloomError(
    "plan-invalid",
    "The new text cannot be merged into this plan: something in one of them, such as a code fence that is never closed, swallows what follows.",
    "Repair the text where it comes from, or merge by hand with `prloom edit <plan>`.",
  );
}

/** Only the ways that can differ: most merges keep no TODO and have each log on one side. */
function waysFor(current: Side, incoming: Side): Way[] {
  const keeps = hasTodoSection(incoming) && carryOver(current, incoming).kept.length > 0;
  const shares = stayingSections(current, incoming, incoming.doc).some(({ counterpart }) => counterpart);
  const kept: Way["kept"][] = keeps ? ["tight", "loose", "after-last"] : ["tight"];
  const logs: Way["logs"][] = shares ? ["in-place", "at-end"] : ["in-place"];
  return logs.flatMap((log) => kept.map((place) => ({ kept: place, logs: log })));
}

function mergeBy(current: Side, incoming: Side, way: Way): string {
  const edits = hasTodoSection(incoming) ? todoEdits(current, incoming, way) : [];
  const appended: string[] = [];
  for (const { section, counterpart } of stayingSections(current, incoming, incoming.doc)) {
    const source = sourceOf(current, section);
    const isReplaced = counterpart !== undefined && way.logs === "in-place";
    if (isReplaced) edits.push(replaceSection(incoming, counterpart, source));
    else appended.push(source);
    if (counterpart && !isReplaced) edits.push({ at: counterpart.start, to: counterpart.end, text: "" });
  }
  let text = applyEdits(incoming.text, edits);
  for (const source of appended) {
    text = withEnd(text);
    text = insertLines(text, text.length, linesOf(source), { before: true, after: false });
  }
  return text;
}

interface Staying {
  readonly section: Section;
  /** The section of `doc` that it belongs to: the n-th of a name to the n-th of the same name. */
  readonly counterpart: Section | undefined;
}

/** The sections of the current text that stay: logs, and the TODOs when the incoming text says nothing about them. */
function stayingSections(current: Side, incoming: Side, doc: PlanDoc): Staying[] {
  const todosStay = !hasTodoSection(incoming);
  const rest = Map.groupBy(doc.sections, ({ heading }) => headingKey(heading));
  return current.doc.sections
    .filter((section) => isLog(section) || (todosStay && isTodo(section)))
    .map((section) => ({ section, counterpart: rest.get(headingKey(section.heading))?.shift() }));
}

function todoEdits(current: Side, incoming: Side, way: Way): Edit[] {
  const { edits, kept } = carryOver(current, incoming);
  const section = incoming.doc.sections.findLast(isTodo);
  const last = incoming.doc.todos.at(-1);
  if (kept.length === 0 || !section) return edits;
  const end = contentEnd(incoming.text, section);
  const afterLast = last ? nextLine(incoming.text, last.end) : section.bodyStart;
  const at = way.kept === "after-last" ? afterLast : end;
  const isTight = way.kept === "tight" && last !== undefined && afterLast >= end && last.start >= section.start;
  const lines = kept.flatMap((todo) => todoSource(current.text, todo, last && incoming.text[last.start]));
  return [...edits, { at, to: at, lines, gaps: { before: !isTight, after: true } }];
}

function replaceSection(side: Side, section: Section, source: string): Edit {
  return { at: section.start, to: section.start + sourceOf(side, section).length, text: source };
}

function sourceOf(side: Side, section: Section): string {
  return side.text.slice(section.start, section.end).trimEnd();
}

function hasTodoSection(side: Side): boolean {
  return side.doc.sections.some(isTodo);
}

function isTodo(section: Section): boolean {
  return isTodoHeading(section.heading);
}

const LOG_KEYS: ReadonlySet<string> = new Set(LOG_HEADINGS.map(headingKey));

function isLog(section: Section): boolean {
  return LOG_KEYS.has(headingKey(section.heading));
}

/** The text, with what it left open (a code fence, a comment) closed, so that a heading below it is one. */
function withEnd(text: string): string {
  const blocks = blocksOf(text);
  const last = blocks.nodes.at(-1);
  const source = last ? text.slice(startOf(last, blocks), endOf(last, blocks)) : "";
  const fence = /^(?:`{3,}|~{3,})/.exec(source)?.[0];
  for (const end of [undefined, fence, "-->", "</pre>"]) {
    const lines = end === undefined ? [] : [end];
    const result = insertLines(text, text.length, lines, { before: false, after: false });
    if (isClosed(result)) return end === undefined ? text : result;
  }
  return text;
}

function isClosed(text: string): boolean {
  const probe = `${text}\n\n# end`;
  const blocks = blocksOf(probe);
  const last = blocks.nodes.at(-1);
  return last?.type === "heading" && startOf(last, blocks) === probe.length - "# end".length;
}

/** Whether the result reads back as the merge of the two: TODOs, sections and logs. */
function fits(current: Side, incoming: Side, result: Side): boolean {
  const expected = hasTodoSection(incoming) ? carryOver(current, incoming).expected : current.doc.todos;
  if (!sameTodos(expected, result.doc.todos)) return false;
  for (const { section, counterpart } of stayingSections(current, incoming, result.doc)) {
    // What was left open at the end of a log may have been closed.
    if (!counterpart || !sourceOf(result, counterpart).startsWith(sourceOf(current, section))) return false;
  }
  const added = stayingSections(current, incoming, incoming.doc).filter(({ counterpart }) => !counterpart).length;
  const others = (doc: PlanDoc): string =>
    JSON.stringify(doc.sections.flatMap((one) => (isLog(one) || isTodo(one) ? [] : [headingKey(one.heading)])));
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
