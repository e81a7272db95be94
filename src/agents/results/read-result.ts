import type * as z from "zod";
import { parseJson } from "../../kernel/json.ts";

export const KB = 1024;

export function atMost(bytes: number): (text: string) => boolean {
  return (text) => Buffer.byteLength(text) <= bytes;
}

/** What an agent wrote as its result; the problem is a sentence that its next attempt can act on. */
export type ReadResult<T> =
  | { readonly ok: true; readonly result: T }
  | { readonly ok: false; readonly problem: string };

/** Reads a result file; `shape` says what it must look like. */
export function readResult<T>(text: string, schema: z.ZodType<T>, shape: string): ReadResult<T> {
  let value: unknown;
  try {
    value = parseJson(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { ok: false, problem: `The result is not JSON: ${why}` };
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return { ok: true, result: parsed.data };
  const problems = parsed.error.issues.map((issue) => `${issue.path.join(".") || "the result"}: ${issue.message}`);
  return misshapen(problems, shape);
}

export function misshapen(
  problems: readonly string[],
  shape: string,
): { readonly ok: false; readonly problem: string } {
  return { ok: false, problem: `${problems.slice(0, 10).join("; ")}. ${shape}` };
}
