import type { Action } from "../../bus/types.ts";
import type { PlanRecord } from "../../plan/record.ts";

const HOUR_MS = 3_600_000;
const WORDS: ReadonlySet<string> = new Set(["comment", "inline_comment", "review"]);

type Made = NonNullable<PlanRecord["comments"]>;

/**
 * Pure: the new comments that a plan made in the last hour, with this action; undefined where it would be one too many. Two machines that
 * answer each other would never end. The same one again counts once.
 */
export function countComment(
  before: Made,
  action: Action,
  { now, most }: { readonly now: number; readonly most: number },
): Made | undefined {
  if (!isNewComment(action) || before.some(({ id }) => id === action.id)) return before;
  const made = before.filter(({ at }) => Math.abs(now - at) < HOUR_MS);
  return made.length >= most ? undefined : [...made, { id: action.id, at: now }];
}

/** Posts of gates are asked for by the config, and a comment with a key is edited in its place. */
function isNewComment({ id, payload }: Action): boolean {
  const isKeyed = payload.type === "comment" && payload.key !== undefined;
  return WORDS.has(payload.type) && !isKeyed && !id.startsWith("gate-");
}
