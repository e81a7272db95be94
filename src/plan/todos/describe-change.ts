import { structuredPatch } from "diff";
import type { ParsedPlan, PlanDoc, Todo } from "../markdown/markdown.ts";

/** Fits into one record of a journal, whatever the letters are. */
const MAX_LENGTH = 16_000;
/** Lines that went or came; looking for more takes longer than the square of this. */
const MAX_EDITS = 500;
const CONTEXT = 2;
const MAX_SENTENCES = 50;

/** What changed between two texts, in words and as a diff; undefined when only blank space did. */
export function describeChange(before: ParsedPlan, after: ParsedPlan): string | undefined {
  const was = wordLines(before.text);
  const is = wordLines(after.text);
  if (was.length === is.length && was.every((line, at) => line === is[at])) return undefined;
  const sentences = todoChanges(before.doc, after.doc);
  const told = sentences.length > 0 ? sentences : ["The plan's text was changed."];
  const report = [...told, "", ...hunks(was, is)].join("\n");
  return report.length <= MAX_LENGTH ? report : `${report.slice(0, MAX_LENGTH).toWellFormed()}\n(The rest was cut.)`;
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
  if (sentences.length <= MAX_SENTENCES) return sentences;
  return [...sentences.slice(0, MAX_SENTENCES), `And ${sentences.length - MAX_SENTENCES} more changes of TODOs.`];
}

function name(todo: Todo): string {
  return `TODO ${todo.index + 1} "${todo.text}"`;
}

function hunks(was: readonly string[], is: readonly string[]): string[] {
  const [before, after] = [was, is].map((lines) => lines.map((line) => `${line}\n`).join(""));
  const options = { context: CONTEXT, maxEditLength: MAX_EDITS };
  const patch = structuredPatch("", "", before ?? "", after ?? "", undefined, undefined, options);
  // Texts that have little in common are shown one after the other.
  if (!patch) return ["@@", ...was.map((line) => `- ${line}`), ...is.map((line) => `+ ${line}`)];
  return patch.hunks.flatMap(({ lines }) => ["@@", ...lines.map((line) => `${line[0]} ${line.slice(1)}`)]);
}
