import type { Heading, List, RootContent } from "mdast";
import { type Blocks, beforeIndent, blocksOf, endOf, lineEnd, nextLine, plainText, startOf } from "./blocks.ts";
import { type TaskItem, type Todo, taskItemOf, todoHash } from "./todo.ts";

export { type NextTodo, nextTodo } from "./next-todo.ts";
export { type Todo, type TodoSettings, type TodoState, todoTitle } from "./todo.ts";

/** An h2 and what follows it, up to the next h1 or h2. Offsets in the text. */
export interface Section {
  readonly heading: string;
  readonly start: number;
  readonly bodyStart: number;
  readonly end: number;
}

/** What a plan's text says. */
export interface PlanDoc {
  readonly title?: string;
  readonly sections: readonly Section[];
  readonly todos: readonly Todo[];
  readonly dependsOn: readonly string[];
  /** Sentences for people about what was not understood; never fatal. */
  readonly problems: readonly string[];
}

interface SectionNodes extends Section {
  readonly nodes: readonly RootContent[];
}

const MOST_PROBLEMS = 20;

/** Reads a plan; never throws, whatever the text is. */
export function parsePlan(text: string): PlanDoc {
  const blocks = blocksOf(text);
  const { sections, h1 } = sectionsOf(text, blocks);
  const { todos, problems } = todosOf(text, blocks, sections);
  const title = titleIn(text, blocks, sections) ?? h1;
  return {
    ...(title === undefined ? {} : { title }),
    sections: sections.map(({ heading, start, bodyStart, end }) => ({ heading, start, bodyStart, end })),
    todos,
    dependsOn: dependsOnIn(text, blocks, sections),
    problems: shortened([...problems, ...homelessTasks(text, blocks, sections)]),
  };
}

/** A heading's name, for comparing: case and a colon at the end do not count. */
export function headingKey(heading: string): string {
  return heading.replace(/\s+/g, " ").trim().replace(/\s*:$/, "").toLowerCase();
}

export function isTodoHeading(heading: string): boolean {
  const key = headingKey(heading);
  return key === "todo" || key === "todos";
}

/** The first section with that heading. */
export function findSection(doc: PlanDoc, heading: string): Section | undefined {
  const key = headingKey(heading);
  return doc.sections.find((section) => headingKey(section.heading) === key);
}

/** The plan's title, or its id when the text has none. */
export function titleOf(text: string, id: string): string {
  return parsePlan(text).title ?? id;
}

export function progressOf(doc: PlanDoc): { total: number; completed: number } {
  return { total: doc.todos.length, completed: doc.todos.filter((todo) => todo.state === "done").length };
}
function sectionsOf(text: string, blocks: Blocks): { sections: SectionNodes[]; h1: string | undefined } {
  const open: (Omit<SectionNodes, "end"> & { nodes: RootContent[] })[] = [];
  const ends: number[] = [];
  let h1: string | undefined;
  let inside = false;
  for (const node of blocks.nodes) {
    if (node.type !== "heading" || node.depth > 2) {
      if (inside) open.at(-1)?.nodes.push(node);
      continue;
    }
    const start = beforeIndent(text, startOf(node, blocks));
    if (inside) ends.push(start);
    inside = node.depth === 2;
    const source = headingSource(node, text, blocks);
    if (node.depth === 1) h1 ??= source.replace(/\s+/g, " ").trim() || undefined;
    else {
      const bodyStart = nextLine(text, endOf(node, blocks));
      open.push({ heading: plainText(source), start, bodyStart, nodes: [] });
    }
  }
  const sections = open.map((section, at) => ({ ...section, end: ends[at] ?? text.length }));
  return { sections, h1 };
}

function headingSource(node: Heading, text: string, blocks: Blocks): string {
  const first = node.children[0];
  const last = node.children.at(-1);
  return first && last ? text.slice(startOf(first, blocks), endOf(last, blocks)) : "";
}

/** The first line of `## Title`'s body as written; a backslash that only protects its first character is dropped. */
function titleIn(text: string, blocks: Blocks, sections: readonly SectionNodes[]): string | undefined {
  for (const section of sections) {
    if (headingKey(section.heading) !== "title") continue;
    const first = section.nodes.find((node) => node.type !== "html");
    if (!first) continue;
    const start = startOf(first, blocks);
    const line = text.slice(start, lineEnd(text, start)).trim();
    if (line !== "") return line.replace(/^\\(?=[!-/:-@[-`{-~])/, "");
  }
  return undefined;
}

function todosOf(text: string, blocks: Blocks, sections: readonly SectionNodes[]) {
  const todos: Todo[] = [];
  const problems: string[] = [];
  const equals = new Map<string, number>();
  for (const section of sections) {
    if (!isTodoHeading(section.heading)) continue;
    for (const item of section.nodes.filter(isList).flatMap((list) => list.children)) {
      const task = taskItemOf(item, text, blocks);
      if (!task) {
        const start = startOf(item, blocks);
        const line = shortLine(text.slice(start, lineEnd(text, start)));
        problems.push(
          `Line ${item.position?.start.line}: "${line}" is in the TODO section but is no TODO; write "- [ ] …".`,
        );
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
  return { todos, problems };
}

function numbered({ problems: _, ...task }: TaskItem, id: string, index: number): Todo {
  return { id, index, ...task };
}

function dependsOnIn(text: string, blocks: Blocks, sections: readonly SectionNodes[]): string[] {
  const names = new Set<string>();
  for (const section of sections) {
    if (headingKey(section.heading) !== "depends on") continue;
    for (const item of section.nodes.filter(isList).flatMap((list) => list.children)) {
      const first = item.children[0];
      if (first?.type !== "paragraph") continue;
      const start = startOf(first, blocks);
      const line = text.slice(start, Math.min(lineEnd(text, start), endOf(first, blocks)));
      const name = plainText(line.replace(/^\[[ xXbB]\]\s+/, ""));
      if (name !== "") names.add(name);
    }
  }
  return [...names];
}

/** Checkboxes in a plan that has no TODO section: a likely mistake, so it is told. */
function homelessTasks(text: string, blocks: Blocks, sections: readonly SectionNodes[]): string[] {
  if (sections.some((section) => isTodoHeading(section.heading))) return [];
  const items = blocks.nodes.filter(isList).flatMap((list) => list.children);
  const count = items.filter((item) => taskItemOf(item, text, blocks) !== undefined).length;
  if (count === 0) return [];
  return [
    `There is no "## TODO" section, so ${count} checkbox ${count === 1 ? "item is" : "items are"} not read as TODOs.`,
  ];
}

function isList(node: RootContent): node is List {
  return node.type === "list";
}

function shortLine(line: string): string {
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}

function shortened(problems: readonly string[]): readonly string[] {
  if (problems.length <= MOST_PROBLEMS) return problems;
  return [...problems.slice(0, MOST_PROBLEMS), `And ${problems.length - MOST_PROBLEMS} more.`];
}
