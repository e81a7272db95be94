import * as z from "zod";
import { atMost, KB, misshapen, type ReadResult, readResult } from "./read-result.ts";

/** As one list: a problem for each of a million entries would hold the dispatcher for seconds. */
const idsSchema = z.custom<readonly string[]>(
  (ids) => Array.isArray(ids) && ids.every((id) => typeof id === "string"),
  "must be a list of ids of events",
);

const todoSchema = z.object({
  text: z
    .string()
    .refine((text) => text.trim() !== "", "is empty")
    .refine(atMost(4 * KB), "is longer than 4 KB"),
  context: z
    .string()
    .refine(atMost(4 * KB), "is longer than 4 KB")
    .exactOptional(),
  events: idsSchema.exactOptional(),
});

const triageResultSchema = z.object({
  reply_markdown: z.string().refine(atMost(60 * KB), "is longer than 60 KB"),
  replies: z
    .array(z.object({ event: z.string(), markdown: z.string().refine(atMost(10 * KB), "is longer than 10 KB") }))
    .max(200)
    .default([]),
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

const SHAPE =
  "It must be `{reply_markdown, replies?: [{event, markdown}], todos: [{text, context?, events}], rebase_requested}`.";

/**
 * Reads what the triage agent wrote about the events with these ids; the problem is a sentence that its next attempt can
 * act on.
 */
export function parseTriageResult(text: string, given: readonly string[]): ReadResult<TriageResult> {
  const read = readResult(text, triageResultSchema, SHAPE);
  if (!read.ok) return read;
  const known = new Set(given);
  const todos = read.result.todos.map((todo) => ({ ...todo, events: [...new Set(todo.events ?? onlyOne(given))] }));
  const problems = todos.flatMap(({ events }, index) => {
    if (events.length === 0) return [`todos.${index}.events: must name the events that ask for it`];
    const unknown = events.filter((id) => !known.has(id));
    return unknown.map(
      (id) => `todos.${index}.events: none of the events has the id ${JSON.stringify(id.slice(0, 100))}`,
    );
  });
  if (problems.length > 0) return misshapen(problems, SHAPE);
  // What the dispatcher does itself is not left to a worker as well, who may not do it.
  const left = read.result.rebase_requested ? todos.filter(({ text: asked }) => !isRebase(asked)) : todos;
  return { ok: true, result: { ...read.result, todos: left } };
}

const REBASE =
  /^(?:please )?rebase(?: (?:the|this|its) (?:branch|plan|pr|pull request|change))?(?: (?:on|onto|on top of|against|to|with) (?:the )?(?:latest |current |newest )?\S+(?: branch)?)?(?: and resolve (?:the |all |any )?(?:merge )?conflicts)?$/;

/** Whether a TODO asks for a rebase and for nothing else. */
function isRebase(asked: string): boolean {
  const words = asked
    .toLowerCase()
    .replace(/[`*_"'.!]/g, "")
    .replace(/\s+/g, " ")
    .trim();
  return REBASE.test(words);
}

/** With a single event it is clear which one was meant. */
function onlyOne(given: readonly string[]): readonly string[] {
  return given.length === 1 ? given : [];
}
