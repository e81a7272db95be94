import * as z from "zod";
import { parseJson } from "../../kernel/json.ts";

const KB = 1024;

function atMost(bytes: number) {
  return (text: string): boolean => Buffer.byteLength(text) <= bytes;
}

const todoSchema = z.object({
  text: z
    .string()
    .refine((text) => text.trim() !== "", "is empty")
    .refine(atMost(4 * KB), "is longer than 4 KB"),
  context: z
    .string()
    .refine(atMost(4 * KB), "is longer than 4 KB")
    .exactOptional(),
  events: z.array(z.string()).exactOptional(),
});

const triageResultSchema = z.object({
  reply_markdown: z.string().refine(atMost(60 * KB), "is longer than 60 KB"),
  todos: z.array(todoSchema).max(50).default([]),
  rebase_requested: z.boolean().default(false),
});

type Read = z.infer<typeof triageResultSchema>;

/** What the triage agent wants: a reply, TODOs to add, a rebase. A claim; the dispatcher decides what comes of it. */
export interface TriageResult extends Omit<Read, "todos"> {
  readonly todos: readonly TriagedTodo[];
}

/** `events`: the ids of those that ask for it, at least one. */
export type TriagedTodo = Omit<Read["todos"][number], "events"> & { readonly events: readonly string[] };

export type ParsedTriageResult =
  | { readonly ok: true; readonly result: TriageResult }
  | { readonly ok: false; readonly problem: string };

const SHAPE = "It must be `{reply_markdown, todos: [{text, context?, events}], rebase_requested}`.";

/**
 * Reads what the triage agent wrote about the events with these ids; the problem is a sentence that its next attempt can
 * act on.
 */
export function parseTriageResult(text: string, given: readonly string[]): ParsedTriageResult {
  let value: unknown;
  try {
    value = parseJson(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { ok: false, problem: `The result is not JSON: ${why}` };
  }
  const parsed = triageResultSchema.safeParse(value);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `${issue.path.join(".") || "the result"}: ${issue.message}`);
    return refused(problems);
  }
  const known = new Set(given);
  const todos = parsed.data.todos.map((todo) => ({ ...todo, events: [...new Set(todo.events ?? onlyOne(given))] }));
  const problems = todos.flatMap(({ events }, index) => {
    if (events.length === 0) return [`todos.${index}.events: must name the events that ask for it`];
    const unknown = events.filter((id) => !known.has(id));
    return unknown.map(
      (id) => `todos.${index}.events: none of the events has the id ${JSON.stringify(id.slice(0, 100))}`,
    );
  });
  return problems.length === 0 ? { ok: true, result: { ...parsed.data, todos } } : refused(problems);
}

/** Of a single event nobody needs to be told which one it was. */
function onlyOne(given: readonly string[]): readonly string[] {
  return given.length === 1 ? given : [];
}

function refused(problems: readonly string[]): ParsedTriageResult {
  return { ok: false, problem: `${problems.slice(0, 10).join("; ")}. ${SHAPE}` };
}
