import { groupsOf } from "../checklists/groups.ts";
import { isToDo } from "../checklists/heading-words.ts";
import { orderProblems } from "../todos/next-todo.ts";
import { type TaskItem, type Todo, taskItemOf, todoHash } from "../todos/todo.ts";
import { type Block, beforeIndent, blocksOf, lineEnd, nextLine } from "./blocks.ts";
import { plainText } from "./plain-text.ts";
import { encodingProblem, sizeProblem, todosProblem } from "./size-limits.ts";

export { type BlockCause, nextTodo } from "../todos/next-todo.ts";
export { type Todo, type TodoState, todoTitle } from "../todos/todo.ts";

/** An h2 and what follows it, up to the next h1 or h2. Offsets in the text. */
export interface Section {
  readonly heading: string;
  /** By which headings are compared: made once, since a heading may be as long as a plan. */
  readonly key: string;
  readonly start: number;
  readonly bodyStart: number;
  readonly end: number;
}

/** What a plan's text says. */
export interface PlanDoc {
  readonly title?: string;
  /** Where the title is written: a line of `## Title`, or the words of the first h1. */
  readonly titleAt?: { readonly start: number; readonly end: number };
  readonly sections: readonly Section[];
  readonly todos: readonly Todo[];
  readonly dependsOn: readonly string[];
  /** Sentences for people about what was not understood; never fatal. Looked for when they are asked for. */
  readonly problems: readonly string[];
  /** Why this text is not worked on: it is larger than a plan may be, or not text at all. Without TODOs when it was not read. */
  readonly tooLarge?: string;
}

/** A plan's text and what it says. */
export interface ParsedPlan {
  readonly text: string;
  readonly doc: PlanDoc;
}

interface SectionNodes extends Section {
  readonly nodes: readonly Block[];
}

const MAX_PROBLEMS = 20;

/**
 * Texts that were read a moment ago: one step looks at the same one several times, and an upsert at a dozen of them. Counted in
 * characters: what lies in files is remembered where the files are read.
 */
const RECENT_CHARACTERS = 8_000_000;
const recent = new Map<string, PlanDoc>();
let recentCharacters = 0;

/** Reads a plan, once per text; never throws, whatever the text is. */
export function parsePlan(text: string): PlanDoc {
  const known = recent.get(text);
  if (known) return known;
  const doc = readPlan(text);
  recent.set(text, doc);
  recentCharacters += text.length;
  for (const oldest of recent.keys()) {
    if (recentCharacters <= RECENT_CHARACTERS) break;
    recent.delete(oldest);
    recentCharacters -= oldest.length;
  }
  return doc;
}

function readPlan(text: string): PlanDoc {
  const found = sizeProblem(text);
  const encoding = encodingProblem(text);
  const size = encoding === undefined || found?.isReadable === false ? found : { why: encoding, isReadable: false };
  if (size && !size.isReadable)
    return { sections: [], todos: [], dependsOn: [], problems: [size.why], tooLarge: size.why };
  const blocks = blocksOf(text);
  const { sections, h1 } = sectionsOf(text, blocks);
  const { todos, problems } = todosOf(text, sections);
  const title = titleIn(text, sections) ?? h1;
  const tooLarge = size?.why ?? todosProblem(todos.length);
  const told = [...(tooLarge ? [tooLarge] : []), ...problems];
  const sectionsRead = sections.map(({ heading, key, start, bodyStart, end }) => ({
    heading,
    key,
    start,
    bodyStart,
    end,
  }));
  return {
    ...(title && { title: title.text, titleAt: { start: title.start, end: title.end } }),
    ...(tooLarge !== undefined && { tooLarge }),
    sections: sectionsRead,
    todos,
    dependsOn: dependsOnIn(text, sections),
    get problems() {
      return shortened([...told, ...homelessTasks(text, sectionsRead)]);
    },
  };
}

/** A heading's name, for comparing: case and a colon at the end do not count. */
export function headingKey(heading: string): string {
  return heading.replace(/\s+/g, " ").trim().replace(/ ?:$/, "").toLowerCase();
}

export function isTodoSection({ key }: Pick<Section, "key">): boolean {
  return key === "todo" || key === "todos";
}

/** Whether the text says itself which its TODOs are. */
export function hasTodoSection({ sections }: Pick<PlanDoc, "sections">): boolean {
  return sections.some(isTodoSection);
}

/** The first section with that heading. */
export function findSection(doc: PlanDoc, heading: string): Section | undefined {
  const key = headingKey(heading);
  return doc.sections.find((section) => section.key === key);
}

/** The plan's title, or its id when the text has none. */
export function titleOf(text: string, id: string): string {
  return parsePlan(text).title ?? id;
}

export function progressOf(doc: PlanDoc): { total: number; completed: number } {
  return { total: doc.todos.length, completed: doc.todos.filter((todo) => todo.state === "done").length };
}

interface Title {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

function sectionsOf(text: string, blocks: readonly Block[]): { sections: SectionNodes[]; h1: Title | undefined } {
  const open: (Omit<SectionNodes, "end"> & { nodes: Block[] })[] = [];
  const ends: number[] = [];
  let h1: Title | undefined;
  let inside = false;
  for (const node of blocks) {
    if (node.type !== "heading" || (node.depth ?? 1) > 2) {
      if (inside) open.at(-1)?.nodes.push(node);
      continue;
    }
    const start = beforeIndent(text, node.start);
    if (inside) ends.push(start);
    inside = node.depth === 2;
    const words = node.words ?? node;
    const source = text.slice(words.start, words.end);
    if (node.depth === 1) {
      const line = source.replace(/\s+/g, " ").trim();
      if (line !== "") h1 ??= { text: line, start: words.start, end: words.end };
    } else {
      const bodyStart = nextLine(text, node.end);
      const heading = plainText(source);
      open.push({ heading, key: headingKey(heading), start, bodyStart, nodes: [] });
    }
  }
  const sections = open.map((section, at) => ({ ...section, end: ends[at] ?? text.length }));
  return { sections, h1 };
}

/** The first line of `## Title`'s body as written; a backslash that only protects its first character is dropped. */
function titleIn(text: string, sections: readonly SectionNodes[]): Title | undefined {
  for (const section of sections) {
    if (section.key !== "title") continue;
    const first = section.nodes.find((node) => node.type !== "html");
    if (!first) continue;
    const end = lineEnd(text, first.start);
    const line = text.slice(first.start, end).trim();
    if (line !== "") return { text: line.replace(/^\\(?=[!-/:-@[-`{-~])/, ""), start: first.start, end };
  }
  return undefined;
}

function todosOf(text: string, sections: readonly SectionNodes[]) {
  const todos: Todo[] = [];
  const problems: string[] = [];
  const equals = new Map<string, number>();
  for (const section of sections) {
    if (!isTodoSection(section)) continue;
    for (const item of section.nodes.filter(isList).flatMap((list) => list.children)) {
      const task = taskItemOf(item, text);
      if (!task) {
        const line = shortLine(text.slice(item.start, lineEnd(text, item.start)));
        problems.push(`Line ${item.line}: "${line}" is in the TODO section but is not a TODO; write "- [ ] …".`);
        continue;
      }
      const hash = todoHash(task.text);
      const count = (equals.get(hash) ?? 0) + 1;
      equals.set(hash, count);
      const todo = numbered(task, count === 1 ? hash : `${hash}-${count}`, todos.length);
      if (todo.text === "") problems.push(`TODO ${todo.index + 1} has no text on its first line.`);
      for (const problem of task.problems) problems.push(`TODO ${todo.index + 1}: ${problem}`);
      todos.push(todo);
    }
  }
  return { todos, problems: [...problems, ...orderProblems(todos)] };
}

function numbered({ problems: _, ...task }: TaskItem, id: string, index: number): Todo {
  return { id, index, ...task };
}

function dependsOnIn(text: string, sections: readonly SectionNodes[]): string[] {
  const names = new Set<string>();
  for (const section of sections) {
    if (section.key !== "depends on") continue;
    for (const item of section.nodes.filter(isList).flatMap((list) => list.children)) {
      const first = item.children[0];
      if (first?.type !== "paragraph") continue;
      const line = text.slice(first.start, lineEnd(text, first.start));
      const name = plainText(line.replace(/^\[[ xXbB]\]\s+/, ""));
      if (name !== "") names.add(name);
    }
  }
  return [...names];
}

/** Checkboxes in a plan that has no TODO section: a likely mistake, so it is told. */
function homelessTasks(text: string, sections: readonly Section[]): string[] {
  if (hasTodoSection({ sections })) return [];
  const groups = groupsOf(text).filter(({ kind, boxes }) => isToDo(kind) && boxes.length > 0);
  const count = groups.reduce((sum, { boxes }) => sum + boxes.length, 0);
  if (count === 0) return [];
  const headings = groups.map(({ heading }) => heading).filter((heading) => heading !== "");
  const where = headings.length === 0 ? "" : ` below ${shortLine(headings.map((one) => `"${one}"`).join(", "))}`;
  return [
    `There is no "## TODO" section, so ${count} checkbox ${count === 1 ? "item" : "items"}${where} ${count === 1 ? "is" : "are"} not read as TODOs. Put ${count === 1 ? "it" : "them"} below "## TODO", or make the plan with \`prloom new --file <file> --todos-from "<heading>"\`.`,
  ];
}

function isList(node: Block): boolean {
  return node.type === "list";
}

function shortLine(line: string): string {
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}

function shortened(problems: readonly string[]): readonly string[] {
  if (problems.length <= MAX_PROBLEMS) return problems;
  return [...problems.slice(0, MAX_PROBLEMS), `And ${problems.length - MAX_PROBLEMS} more.`];
}
