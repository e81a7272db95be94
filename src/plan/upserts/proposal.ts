import type { PlanDoc, Todo } from "../markdown/markdown.ts";

interface Side {
  readonly text: string;
  readonly doc: PlanDoc;
}

type Op = { readonly sign: " " | "-" | "+"; readonly line: string };

/** Fits into one record of a journal, whatever the letters are. */
const LONGEST = 16_000;
const LARGEST_TABLE = 1_000_000;
const CONTEXT = 2;
const MOST_SENTENCES = 50;

/** What changed between two texts, in words and as a diff; undefined when only blank space did. */
export function describeChange(before: Side, after: Side): string | undefined {
  const was = wordLines(before.text);
  const is = wordLines(after.text);
  if (was.length === is.length && was.every((line, at) => line === is[at])) return undefined;
  const sentences = todoChanges(before.doc, after.doc);
  const told = sentences.length > 0 ? sentences : ["The plan's text was changed."];
  const report = [...told, "", ...hunks(diffLines(was, is))].join("\n");
  return report.length <= LONGEST ? report : `${report.slice(0, LONGEST).toWellFormed()}\n(The rest was cut.)`;
}

function wordLines(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "");
}

function todoChanges(before: PlanDoc, after: PlanDoc): string[] {
  const was = new Map(before.todos.map((todo) => [todo.id, todo]));
  const is = new Map(after.todos.map((todo) => [todo.id, todo]));
  const gone = before.todos.filter(({ id }) => !is.has(id));
  const fresh = after.todos.filter(({ id }) => !was.has(id));
  const changed = after.todos.flatMap((todo) => {
    const old = was.get(todo.id);
    return old && old.state !== todo.state ? [`${name(todo)}: ${old.state} → ${todo.state}.`] : [];
  });
  const inPlace = before.todos.length === after.todos.length;
  const places = new Set(fresh.map(({ index }) => index));
  const reworded = inPlace ? gone.filter(({ index }) => places.has(index)) : [];
  const positions = new Set(reworded.map(({ index }) => index));
  const sentences = [
    ...changed,
    ...reworded.map((old) => `TODO ${old.index + 1} reworded: "${old.text}" → "${after.todos[old.index]?.text}".`),
    ...gone.filter(({ index }) => !positions.has(index)).map((todo) => `${name(todo)}: removed.`),
    ...fresh.filter(({ index }) => !(inPlace && positions.has(index))).map((todo) => `New ${name(todo)}.`),
  ];
  if (sentences.length <= MOST_SENTENCES) return sentences;
  return [...sentences.slice(0, MOST_SENTENCES), `And ${sentences.length - MOST_SENTENCES} more changes of TODOs.`];
}

function name(todo: Todo): string {
  return `TODO ${todo.index + 1} "${todo.text}"`;
}

/** Longest common subsequence between what is equal at both ends; texts too large for its table are replaced as a whole. */
function diffLines(was: readonly string[], is: readonly string[]): Op[] {
  let head = 0;
  while (head < was.length && head < is.length && was[head] === is[head]) head += 1;
  let tail = 0;
  while (tail < was.length - head && tail < is.length - head && was.at(-1 - tail) === is.at(-1 - tail)) tail += 1;
  return [
    ...ops(" ", was.slice(0, head)),
    ...middle(was.slice(head, was.length - tail), is.slice(head, is.length - tail)),
    ...ops(" ", was.slice(was.length - tail)),
  ];
}

function middle(was: readonly string[], is: readonly string[]): Op[] {
  if (was.length * is.length > LARGEST_TABLE) return [...ops("-", was), ...ops("+", is)];
  const width = is.length + 1;
  const table = new Uint32Array((was.length + 1) * width);
  const at = (i: number, j: number) => table[i * width + j] ?? 0;
  for (let i = was.length - 1; i >= 0; i -= 1) {
    for (let j = is.length - 1; j >= 0; j -= 1) {
      table[i * width + j] = was[i] === is[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const result: Op[] = [];
  let i = 0;
  let j = 0;
  while (i < was.length && j < is.length) {
    if (was[i] === is[j]) {
      result.push({ sign: " ", line: was[i] ?? "" });
      i += 1;
      j += 1;
    } else if (at(i + 1, j) >= at(i, j + 1)) result.push({ sign: "-", line: was[i++] ?? "" });
    else result.push({ sign: "+", line: is[j++] ?? "" });
  }
  return [...result, ...ops("-", was.slice(i)), ...ops("+", is.slice(j))];
}

function ops(sign: Op["sign"], lines: readonly string[]): Op[] {
  return lines.map((line) => ({ sign, line }));
}

function hunks(all: readonly Op[]): string[] {
  const near = new Set<number>();
  for (const [at, op] of all.entries()) {
    if (op.sign === " ") continue;
    for (let i = at - CONTEXT; i <= at + CONTEXT; i += 1) near.add(i);
  }
  const lines: string[] = [];
  for (const [at, op] of all.entries()) {
    if (!near.has(at)) continue;
    if (!near.has(at - 1)) lines.push("@@");
    lines.push(`${op.sign} ${op.line}`);
  }
  return lines;
}
