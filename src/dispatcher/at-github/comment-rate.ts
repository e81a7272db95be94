import type { Action } from "../../bus/types.ts";
import type { PlanRecord } from "../../plan/record.ts";

const HOUR_MS = 3_600_000;
/** New comments in an hour of all plans together: GitHub takes 500 of a token, and people use it, too. */
const MAX_PER_TOKEN = 400;
const WORDS: ReadonlySet<string> = new Set(["comment", "inline_comment", "review"]);

type Made = NonNullable<PlanRecord["comments"]>;

/** `over`: whose number it would be beyond, and when there is room again. */
export type CountedComment =
  | { readonly made: Made }
  | { readonly over: "plan" | "token"; readonly roomAt: number; readonly most: number };

/**
 * Pure: the new comments that a plan made in the last hour, with this action, or that it would be one too many; `others` are those of
 * all other plans. Two machines that answer each other would never end. The same one again counts once.
 */
export function countComment(
  before: Made,
  action: Action,
  { now, most, others }: { readonly now: number; readonly most: number; others(): readonly Made[] },
): CountedComment {
  if (!isNewComment(action) || before.some(({ id }) => id === action.id)) return { made: before };
  const made = inHour(before, now);
  const roomAt = (all: Made, limit: number): number => (all.at(-limit)?.at ?? now) + HOUR_MS;
  if (made.length >= most) return { over: "plan", most, roomAt: roomAt(made, most) };
  const all = [...made, ...others().flatMap((one) => inHour(one, now))].sort((left, right) => left.at - right.at);
  if (all.length >= MAX_PER_TOKEN) return { over: "token", most: MAX_PER_TOKEN, roomAt: roomAt(all, MAX_PER_TOKEN) };
  return { made: [...made, { id: action.id, at: now }] };
}

/** A clock that was set back must not keep a plan silent for longer. */
const inHour = (made: Made, now: number): Made => made.filter(({ at }) => Math.abs(now - at) < HOUR_MS);

/** Posts of gates are asked for by the config, and a comment with a key is edited in its place. */
function isNewComment({ id, payload }: Action): boolean {
  const isKeyed = payload.type === "comment" && payload.key !== undefined;
  return WORDS.has(payload.type) && !isKeyed && !id.startsWith("gate-");
}
