import * as z from "zod";
import { visibleText } from "../markdown/visible.ts";
import type { Claims } from "./claims.ts";

/** Longer files are not read. */
export const MAX_OUTCOME_BYTES = 64 * 1024;
const MAX_REASON = 2000;

const EXPECTED =
  'write one JSON object: {"outcome": "done"}, {"outcome": "blocked", "reason": "why"} or {"outcome": "nothing-to-change", "reason": "why"}';

const EMPTY = `it is not JSON, but empty, larger than ${MAX_OUTCOME_BYTES / 1024} KB or not an ordinary file`;

const reason = z
  .string({ error: "must be a string that says why" })
  .transform((text) => visibleText(text.replace(/\s+/g, " ").trim()).slice(0, MAX_REASON))
  .refine((text) => text !== "", { error: "must say something" });
/** What is done needs none: agents that fill in every key leave it empty. */
const anyReason = z.preprocess((said) => (said === null || said === "" ? undefined : said), reason.optional());
const outcomeSchema = z.discriminatedUnion(
  "outcome",
  [
    z.strictObject({ outcome: z.literal("done"), reason: anyReason }),
    z.strictObject({ outcome: z.literal("blocked"), reason }),
    z.strictObject({ outcome: z.literal("nothing-to-change"), reason }),
  ],
  { error: ({ code }) => (code === "invalid_union" ? "must be done, blocked or nothing-to-change" : undefined) },
);

/**
 * The claims of a run that also wrote an outcome, "" if that cannot be read: where its copy of the plan says something else, the
 * outcome counts.
 */
export function withOutcome(claims: Claims, left: string | undefined): Claims {
  if (left === undefined) return claims;
  const parsed = parse(left);
  if (typeof parsed === "string")
    return {
      ...claims,
      tick: "none",
      unread: `What the run wrote to PRLOOM_OUTCOME_FILE cannot be used: ${parsed}; ${EXPECTED}.`,
    };
  const { reason: _said, ...rest } = claims;
  switch (parsed.outcome) {
    case "done":
      return { ...rest, tick: "done", ...(parsed.reason === undefined ? {} : { reason: parsed.reason }) };
    case "blocked":
      return { ...rest, tick: "blocked", reason: parsed.reason };
    case "nothing-to-change":
      return {
        ...rest,
        tick: "done",
        nothingToChange: parsed.reason,
        appended: [...rest.appended, ...logged(parsed.reason)],
      };
  }
}

/** Why nothing had to change, of a run that said so. */
export function nothingToChangeIn(left: string | undefined): string | undefined {
  const parsed = left === undefined ? undefined : parse(left);
  return typeof parsed === "object" && parsed.outcome === "nothing-to-change" ? parsed.reason : undefined;
}

function logged(why: string): Claims["appended"] {
  return [{ heading: "Progress Log", lines: [`- Nothing had to change: ${why}`] }];
}

/** What was written, or what is wrong with it. */
function parse(text: string): z.infer<typeof outcomeSchema> | string {
  let value: unknown;
  try {
    // PowerShell, among others, puts a byte order mark before what it writes.
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    return text === "" ? EMPTY : "it is not JSON";
  }
  const parsed = outcomeSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (issue?.code === "unrecognized_keys") return `it has a key that is not expected, ${JSON.stringify(issue.keys[0])}`;
  const key = issue?.path.join(".");
  return key ? `${key}: ${issue?.message}` : "it is not a JSON object";
}
