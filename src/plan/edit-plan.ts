import { PrloomError } from "../kernel/errors.ts";
import { beforeIndent, blocksOf, linesOf, nextLine } from "./markdown/blocks.ts";
import {
  asTheyAre,
  commentName,
  contentEnd,
  contextLines,
  escaped,
  insertLines,
  type LineEncoding,
  quoted,
  sameStructure,
  withoutComments,
} from "./markdown/encoding.ts";
import {
  findSection,
  headingKey,
  isTodoSection,
  type PlanDoc,
  parsePlan,
  type Section,
  type Todo,
} from "./markdown/markdown.ts";
import { visibleText } from "./markdown/visible.ts";
import { askedIn, askedKey, type Origin, provenanceLine } from "./todos/provenance.ts";
import { contentColumn, MARKS, type TodoState } from "./todos/todo.ts";

/** A TODO that comments asked for. */
export interface NewTodo {
  readonly text: string;
  readonly context?: string;
  readonly from: readonly Origin[];
}

/** The sections that agents may append to. */
export const LOG_HEADINGS = ["Progress Log", "Decision Log", "Implementation Notes"] as const;
export type LogHeading = (typeof LOG_HEADINGS)[number];

/** The text with that TODO's marker set: one character differs, or none. */
export function setTodoState(text: string, todoId: string, state: TodoState): string {
  const todo = todoById(parsePlan(text), todoId);
  if (todo.state === state) return text;
  return text.slice(0, todo.markerOffset) + MARKS[state] + text.slice(todo.markerOffset + 1);
}

/** The text with every ticked TODO open again, but for those of `done`. */
export function reopenDone(text: string, done: ReadonlySet<string>): string {
  const pieces: string[] = [];
  let from = 0;
  for (const { id, state, markerOffset } of parsePlan(text).todos) {
    if (state !== "done" || done.has(id)) continue;
    pieces.push(text.slice(from, markerOffset), MARKS.open);
    from = markerOffset + 1;
  }
  return pieces.join("") + text.slice(from);
}

/** Adds TODOs at the end of the last TODO section, each with where it came from; one that is there already is not added. */
export function appendTracedTodos(text: string, todos: readonly NewTodo[]): string {
  const before = requireReadable(text);
  const fresh = notThereYet(withoutLogs(text, before), todos);
  if (fresh.length === 0) return text;
  const section = before.sections.findLast(isTodoSection);
  const bullets = bulletsAfter(text, before, section);
  const wanted = fresh.map(todoLine);
  const count = before.todos.length + fresh.length;
  for (const encode of [asTheyAre, quoted]) {
    const lines = fresh.flatMap((todo, at) => itemLines(todo, bullets.bullet(at), encode));
    for (const [rank, place] of placesFor(text, section).entries()) {
      const head = section ? [] : ["## TODO", ""];
      // Before other content the list needs an end, or what follows would become part of its last item.
      const tail = rank === 0 ? [] : ["", "<!-- end of the TODOs -->"];
      const gaps = { before: section === undefined || !bullets.continues, after: true };
      const result = insertLines(text, place, [...head, ...lines, ...tail], gaps);
      const after = requireReadable(result);
      const open = new Set(after.todos.flatMap((todo) => (todo.state === "open" ? [todo.text] : [])));
      const added = after.todos.length === count && wanted.every((line) => open.has(line));
      if (added && keepsTodos(before, after) && sameStructure(before, after, "TODO")) return result;
    }
  }
  throw unfit("TODOs cannot be added to this plan");
}

/** Adds TODOs that come from no event; one whose words are there already, ticked or not, is not added. */
export function addMissingTodos(text: string, todos: readonly Omit<NewTodo, "from">[]): string {
  const there = new Set(requireReadable(text).todos.map((todo) => todo.text));
  const missing = todos
    .map((todo) => ({ ...todo, from: [] }))
    .filter((todo) => {
      const isMissing = !there.has(todoLine(todo));
      there.add(todoLine(todo));
      return isMissing;
    });
  return appendTracedTodos(text, missing);
}

/** Once per event and words: a repetition after a kill adds nothing. What agents wrote into the logs does not count. */
function notThereYet(text: string, todos: readonly NewTodo[]): NewTodo[] {
  const asked = askedIn(text);
  return todos.filter((todo) => {
    const words = todoLine(todo);
    const keys = todo.from.map(({ eventId }) => askedKey(words, eventId));
    if (keys.some((key) => asked.has(key))) return false;
    for (const key of keys) asked.add(key);
    return true;
  });
}

/**
 * Adds lines at the end of a section, which is made when there is none; no line can become a section or a TODO. Of the ways
 * to write them the first that keeps the plan's structure is taken.
 */
export function appendToSection(
  text: string,
  heading: string,
  lines: readonly string[],
  encodings: readonly LineEncoding[] = [asTheyAre, escaped, quoted],
): string {
  const whole = lines.flatMap(linesOf).map(visibleText);
  if (whole.every((line) => line.trim() === "")) return text;
  const before = requireReadable(text);
  const section = findSection(before, heading);
  const empty = section === undefined || contentEnd(text, section) === section.bodyStart;
  for (const place of placesFor(text, section)) {
    for (const encode of encodings) {
      const written = encode(whole);
      const added = section ? written : [`## ${heading}`, "", ...written];
      const result = insertLines(text, place, added, {
        before: empty || written[0]?.startsWith(">") === true,
        after: true,
      });
      if (sameStructure(before, requireReadable(result), heading)) return result;
    }
  }
  throw unfit(`Nothing can be added to "## ${heading}" of this plan`);
}

/** The text with `## Title` at its start, unless it has a title. */
export function ensureTitle(text: string, title: string): string {
  const line = visibleText(title.replace(/\s+/g, " ").trim());
  const before = requireReadable(text);
  if (before.title !== undefined || line === "") return text;
  const start = text.startsWith("\uFEFF") ? 1 : 0;
  for (const written of [line, `\\${line}`]) {
    const result = insertLines(text, start, ["## Title", "", written], { before: false, after: true });
    const after = parsePlan(result);
    if (after.title === line && sameStructure(before, after, "Title")) return result;
  }
  throw unfit(`"${line}" cannot be this plan's title`);
}

/** Adds indented lines below a TODO, once per marker. */
export function addTodoContext(text: string, todoId: string, lines: readonly string[], marker: string): string {
  const before = requireReadable(text);
  const todo = todoById(before, todoId);
  const comment = `<!-- ${commentName(marker)} -->`;
  if (text.slice(todo.start, todo.end).includes(comment)) return text;
  const indent = " ".repeat(contentColumn(text, todo.markerOffset - 1));
  const safe = contextLines(lines);
  const at = nextLine(text, todo.end);
  for (const encode of [asTheyAre, quoted]) {
    const written = [...encode(safe), comment].map((line) => (line === "" ? "" : indent + line));
    const result = insertLines(text, at, written, { before: todo.context !== "", after: false });
    const after = requireReadable(result);
    const same = after.todos.length === before.todos.length && keepsTodos(before, after, todoId);
    if (same && sameStructure(before, after, "TODO")) return result;
  }
  throw unfit(`Nothing can be added below TODO ${todo.index + 1}`);
}

/** What a section says, without blank lines around it; undefined when there is no such section. */
export function sectionBody(text: string, heading: string): string | undefined {
  const section = findSection(parsePlan(text), heading);
  if (!section) return undefined;
  return text
    .slice(section.bodyStart, section.end)
    .replace(/^(?:[ \t]*(?:\r\n|\n|\r))+/, "")
    .trimEnd();
}

function todoById(doc: PlanDoc, todoId: string): Todo {
  const todo = doc.todos.find(({ id }) => id === todoId);
  if (todo) return todo;
  throw new PrloomError(
    "plan-invalid",
    `The plan has no TODO ${todoId} any more; rewording a TODO makes it a new one.`,
    "Look at the plan with `prloom show <plan>`.",
  );
}

/** True when every TODO of before is still there as it was; the context of `grown` may differ. */
function keepsTodos(before: PlanDoc, after: PlanDoc, grown?: string): boolean {
  const now = new Map(after.todos.map((todo) => [todo.id, todo]));
  return before.todos.every((todo) => {
    const same = now.get(todo.id);
    return same?.state === todo.state && (todo.id === grown || same.context === todo.context);
  });
}

/** What the text says, unless it is larger than a plan may be. */
export function requireReadable(text: string): PlanDoc {
  const doc = parsePlan(text);
  if (doc.tooLarge === undefined) return doc;
  const hint = "Shorten it, with `prloom edit <plan>` if it is a plan already, or split it into several plans.";
  throw new PrloomError("plan-invalid", doc.tooLarge, hint);
}

function unfit(what: string): PrloomError {
  return new PrloomError(
    "plan-invalid",
    `${what}: something in its text, such as a code fence that is never closed, swallows what follows.`,
    "Repair the text with `prloom edit <plan>`.",
  );
}

function withoutLogs(text: string, doc: PlanDoc): string {
  const logs: readonly string[] = LOG_HEADINGS.map(headingKey);
  const kept: string[] = [];
  let from = 0;
  for (const section of doc.sections) {
    if (!logs.includes(section.key)) continue;
    kept.push(text.slice(from, section.start));
    from = section.end;
  }
  return [...kept, text.slice(from)].join("\n");
}

/** Where lines may go, the best place first. The later ones help when something at the end is never closed. */
function placesFor(text: string, section: Section | undefined): number[] {
  if (section) return [contentEnd(text, section), section.bodyStart];
  const start = text.startsWith("\uFEFF") ? 1 : 0;
  const last = blocksOf(text).at(-1);
  return [text.length, last ? beforeIndent(text, last.start) : start, start];
}

const LEADING_MARKER = /^(?:(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xXbB]\](?:\s+|$))?|\[[ xXbB]\](?:\s+|$))/;

function todoLine(todo: NewTodo): string {
  let words = withoutComments(visibleText(todo.text).replace(/\s+/g, " ").trim());
  while (LEADING_MARKER.test(words)) words = words.replace(LEADING_MARKER, "");
  return words || "(no text was given)";
}

function itemLines(todo: NewTodo, bullet: string, encode: LineEncoding): string[] {
  const indent = " ".repeat(bullet.length + 1);
  const context = contextLines([(todo.context ?? "").replace(/^\s*[\r\n]/, "").trimEnd()]);
  const written = context.every((line) => line === "") ? [] : encode(context);
  const below = [...todo.from.map(provenanceLine), ...written];
  return [`${bullet} [ ] ${todoLine(todo)}`, ...below.map((line) => (line === "" ? "" : indent + line))];
}

/** Bullets like the section's last TODO has; `continues` when they go on right below it. */
function bulletsAfter(text: string, doc: PlanDoc, section: Section | undefined) {
  const last = section && doc.todos.findLast((todo) => todo.start >= section.start && todo.end <= section.end);
  const written = last ? /^(?:[-*+]|(\d{1,9})([.)]))/.exec(text.slice(last.start, last.markerOffset)) : null;
  const continues =
    section !== undefined && last !== undefined && nextLine(text, last.end) >= contentEnd(text, section);
  const [sign = "-", digits, delimiter] = written ?? [];
  if (digits === undefined) return { continues, bullet: () => sign };
  return { continues, bullet: (at: number) => `${Math.min(Number(digits) + 1 + at, 999_999_999)}${delimiter}` };
}
