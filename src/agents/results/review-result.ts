import * as z from "zod";
import { atMost, KB, type ReadResult, readResult } from "./read-result.ts";

/** All of a review together: it goes into prompts, into the plan and into one line of a journal. */
const MAX_REVIEW_BYTES = 48 * KB;

/** Control and bidirectional-override characters: they would make a finding read otherwise than it is. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about
const INVISIBLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

function clean(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(INVISIBLE, "").trim();
}

const textSchema = z.string().transform(clean);

const commentSchema = z.object({
  path: textSchema
    .transform((path) => path.replace(/\s+/g, " "))
    .refine((path) => path !== "", "is empty")
    .refine(atMost(KB), "is longer than 1 KB"),
  /** From 1. Agents that have none often write null. */
  line: z.int().min(1).nullish(),
  message: textSchema.refine((message) => message !== "", "is empty").refine(atMost(4 * KB), "is longer than 4 KB"),
});

const reviewResultSchema = z
  .object({
    verdict: z.enum(["approve", "request_changes"]),
    summary: textSchema.refine(atMost(8 * KB), "is longer than 8 KB").default(""),
    comments: z.array(commentSchema).max(50).default([]),
  })
  .refine(
    ({ verdict, summary, comments }) => verdict === "approve" || summary !== "" || comments.length > 0,
    "asks for changes without saying which",
  )
  .refine((result) => atMost(MAX_REVIEW_BYTES)(JSON.stringify(result)), "is longer than 48 KB; keep to what matters");

export interface ReviewComment {
  readonly path: string;
  readonly line?: number;
  readonly message: string;
}

/** What the reviewer says about a change. A claim of an agent: text for people and for other agents, never a command. */
export interface ReviewResult {
  readonly verdict: "approve" | "request_changes";
  readonly summary: string;
  readonly comments: readonly ReviewComment[];
}

const SHAPE =
  'It must be `{verdict: "approve" | "request_changes", summary, comments: [{path, line?, message}]}`, at most 50 comments.';

/** Reads what the reviewer wrote; the problem is a sentence that its next attempt can act on. */
export function parseReviewResult(text: string): ReadResult<ReviewResult> {
  const read = readResult(text, reviewResultSchema, SHAPE);
  if (!read.ok) return read;
  const { verdict, summary } = read.result;
  const comments = read.result.comments.map(({ path, line, message }) => ({
    path,
    ...(typeof line === "number" ? { line } : {}),
    message,
  }));
  return { ok: true, result: { verdict, summary, comments } };
}

/** The findings as Markdown: the summary, then one item for each comment. */
export function renderFindings({ summary, comments }: Pick<ReviewResult, "summary" | "comments">): string {
  const items = comments.map(({ path, line, message }) => {
    const place = line === undefined ? path : `${path}:${line}`;
    return `- ${place}: ${message.replaceAll("\n", "\n  ")}`;
  });
  return [summary, items.join("\n")].filter((part) => part !== "").join("\n\n");
}

/** The findings as a quotation: nothing in it can end it, open a section or become a TODO. */
export function quoteFindings(result: Pick<ReviewResult, "summary" | "comments">): string {
  return renderFindings(result)
    .split("\n")
    .map((line) => (line === "" ? ">" : `> ${line}`))
    .join("\n");
}

/** One line that says what the review is about. */
export function headline({ summary, comments }: Pick<ReviewResult, "summary" | "comments">): string {
  const words = summary === "" ? (comments[0]?.message ?? "") : summary;
  const line = words.split("\n", 1)[0] ?? "";
  const characters = Array.from(line);
  return characters.length <= MAX_HEADLINE
    ? line
    : `${characters
        .slice(0, MAX_HEADLINE - 1)
        .join("")
        .trimEnd()}…`;
}

const MAX_HEADLINE = 100;
