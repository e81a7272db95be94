import { beforeIndent, dedentLine, indentOf, lineEnd, linesOf, nextLine } from "../markdown/blocks.ts";
import type { ParsedPlan, PlanDoc, Todo } from "../markdown/markdown.ts";
import type { Edit } from "../markdown/text-edits.ts";
import { hasProvenance, provenanceLines } from "../todos/provenance.ts";
import { contentColumn, MARKS, type TodoState } from "../todos/todo.ts";

export type ExpectedTodo = Pick<Todo, "text" | "state" | "context">;

interface CarriedOver {
  /** Changes of the incoming text. */
  readonly edits: Edit[];
  /** TODOs of the current text that the incoming one lacks and that stay. */
  readonly kept: Todo[];
  /** What the TODOs are to be afterwards, in order. */
  readonly expected: ExpectedTodo[];
}

const STRENGTH: Readonly<Record<TodoState, number>> = { open: 0, blocked: 1, done: 2 };

/**
 * What of the current TODOs goes into the incoming text: marks, provenance, what people said to a TODO, and the kept ones.
 * With `base`, the text that the incoming one was made from, also what was changed on our side since.
 */
export function carryOver(current: ParsedPlan, incoming: ParsedPlan, base?: ParsedPlan): CarriedOver {
  const ours = byId(current.doc);
  const theirs = byId(incoming.doc);
  const before = base && byId(base.doc);
  const kept = current.doc.todos.filter(
    (todo) =>
      !theirs.has(todo.id) &&
      (todo.state === "done" || hasProvenance(todo) || (before !== undefined && !before.has(todo.id))),
  );
  const dropped = before ? droppedByUs({ ours, theirs, before }) : new Set<Todo>();
  const edits: Edit[] = [];
  const expected: ExpectedTodo[] = [];
  for (const todo of incoming.doc.todos) {
    if (dropped.has(todo)) {
      const at = beforeIndent(incoming.text, todo.start);
      edits.push({ at, to: nextLine(incoming.text, todo.end), text: "" });
      continue;
    }
    const merged = mergeTodo({ current, incoming, todo, old: ours.get(todo.id), was: before?.get(todo.id) });
    edits.push(...merged.edits);
    expected.push(merged.expected);
  }
  return { edits, kept, expected: [...expected, ...kept] };
}

function byId(doc: PlanDoc): Map<string, Todo> {
  return new Map(doc.todos.map((todo) => [todo.id, todo]));
}

interface ById {
  readonly ours: ReadonlyMap<string, Todo>;
  readonly theirs: ReadonlyMap<string, Todo>;
  readonly before: ReadonlyMap<string, Todo>;
}

/**
 * TODOs that are gone on our side and that the source left as they were. None while a TODO of the source counts the
 * others (`after: 2`), and none that the source has more of than before: it cannot be told which of the equals is meant.
 */
function droppedByUs({ ours, theirs, before }: ById): Set<Todo> {
  const all = [...theirs.values()];
  if (all.some(({ settings }) => settings.after !== undefined)) return new Set();
  const grown = new Set(all.filter(({ id }) => !before.has(id)).map(({ id }) => textHash(id)));
  return new Set(
    all.filter((todo) => {
      const was = before.get(todo.id);
      const isLeftAlone = was?.state === todo.state && was.context === todo.context;
      return isLeftAlone && !ours.has(todo.id) && !grown.has(textHash(todo.id));
    }),
  );
}

/** The part of a TODO's id that equal TODOs share. */
function textHash(id: string): string {
  return id.split("-")[0] ?? id;
}

interface OneTodo {
  readonly current: ParsedPlan;
  readonly incoming: ParsedPlan;
  readonly todo: Todo;
  /** The same TODO on our side, and in the text that the incoming one was made from. */
  readonly old: Todo | undefined;
  readonly was: Todo | undefined;
}

function mergeTodo({ current, incoming, todo, old, was }: OneTodo): { edits: Edit[]; expected: ExpectedTodo } {
  const state = old ? mergedState(todo, old, was) : todo.state;
  // Earlier versions wrote where a TODO came from at the end of its line.
  const text = old && hasProvenance({ text: old.text, context: "" }) ? old.text : todo.text;
  const origins = old && !hasProvenance(todo) ? provenanceLines(old) : [];
  const from = todo.markerOffset;
  if (old && was && was.context === todo.context && old.context !== todo.context) {
    const [first = "", ...rest] = todoSource(current.text, old, incoming.text[todo.start]);
    const lines = [first.replace(/\[[ xXbB]\]/, `[${MARKS[state]}]`), ...rest];
    const edit = { at: beforeIndent(incoming.text, todo.start), to: todo.end, text: lines.join("\n") };
    return { edits: [edit], expected: { text: old.text, state, context: old.context } };
  }
  const known = new Set(todo.context.match(/<!-- \S+ -->/g));
  const said = old ? commentBlocks(old.context).filter(({ marker }) => !known.has(marker)) : [];
  const edits: Edit[] = [];
  if (state !== todo.state) edits.push({ at: from, to: from + 1, text: MARKS[state] });
  if (text !== todo.text) {
    const end = Math.min(lineEnd(incoming.text, from), todo.end);
    edits.push({ at: from + 2, to: end, text: ` ${text}` });
  }
  if (origins.length > 0) {
    const indent = " ".repeat(contentColumn(incoming.text, from - 1));
    // Not right below the item's line: what follows it there may belong to the item only as long as nothing comes between.
    const at = nextLine(incoming.text, todo.end);
    const lines = origins.map((line) => indent + line);
    edits.push({ at, to: at, lines, gaps: { before: false, after: false } });
  }
  if (said.length > 0) edits.push(contextEdit(incoming.text, todo, said));
  const context = [todo.context, ...origins, ...said.map(({ lines }) => lines.join("\n"))].join("\n");
  return { edits, expected: { text, state, context } };
}

/** Nothing that was done is undone from outside; a mark that the source left alone is as it is here. */
function mergedState(todo: Todo, old: Todo, was: Todo | undefined): TodoState {
  if (was?.state === todo.state) return old.state;
  return STRENGTH[old.state] > STRENGTH[todo.state] ? old.state : todo.state;
}

/** The lines of a TODO without its indentation, with the bullet that its new neighbour has. */
export function todoSource(text: string, todo: Todo, neighbour: string | undefined): string[] {
  const start = beforeIndent(text, todo.start);
  const lines = linesOf(text.slice(start, todo.end));
  const indent = indentOf(lines[0] ?? "");
  const [first = "", ...rest] = indent === 0 ? lines : lines.map((line) => dedentLine(line, indent));
  const isBullet = neighbour !== undefined && /^[-*+]$/.test(neighbour);
  return [isBullet ? first.replace(/^[-*+]/, neighbour) : first, ...rest];
}

interface CommentBlock {
  readonly marker: string;
  readonly lines: readonly string[];
}

/** What people said to this TODO through prloom: each a paragraph that ends with the comment's own mark. */
function commentBlocks(context: string): CommentBlock[] {
  return context.split(/\n[ \t]*\n/).flatMap((paragraph) => {
    const lines = linesOf(paragraph).filter((line) => line.trim() !== "");
    const marker = lines.at(-1)?.trim() ?? "";
    return lines.length > 1 && /^<!-- \S+ -->$/.test(marker) ? [{ marker, lines }] : [];
  });
}

function contextEdit(text: string, todo: Todo, said: readonly CommentBlock[]): Edit {
  const indent = " ".repeat(contentColumn(text, todo.markerOffset - 1));
  const at = nextLine(text, todo.end);
  const lines = said.flatMap((block, index) => [
    ...(index > 0 ? [""] : []),
    ...block.lines.map((line) => indent + line),
  ]);
  return { at, to: at, lines, gaps: { before: todo.context !== "", after: false } };
}
