import * as z from "zod";
import { parseJson } from "../kernel/json.ts";

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
});

const triageResultSchema = z.object({
  reply_markdown: z.string().refine(atMost(60 * KB), "is longer than 60 KB"),
  todos: z.array(todoSchema).max(50).default([]),
  rebase_requested: z.boolean().default(false),
});

/** What the triage agent wants: a reply, TODOs to add, a rebase. A claim; the dispatcher decides what comes of it. */
export type TriageResult = z.infer<typeof triageResultSchema>;

export type ParsedTriageResult =
  | { readonly ok: true; readonly result: TriageResult }
  | { readonly ok: false; readonly problem: string };

const SHAPE = "It must be `{reply_markdown, todos: [{text, context?}], rebase_requested}`.";

/** Reads what the triage agent wrote; the problem is a sentence that its next attempt can act on. */
export function parseTriageResult(text: string): ParsedTriageResult {
  let value: unknown;
  try {
    value = parseJson(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { ok: false, problem: `The result is not JSON: ${why}` };
  }
  const parsed = triageResultSchema.safeParse(value);
  if (parsed.success) return { ok: true, result: parsed.data };
  const problems = parsed.error.issues.map((issue) => `${issue.path.join(".") || "the result"}: ${issue.message}`);
  return { ok: false, problem: `${problems.slice(0, 10).join("; ")}. ${SHAPE}` };
}
