import type { Action } from "../../bus/types.ts";

const HOUR_MS = 3_600_000;
const WORDS: ReadonlySet<string> = new Set(["comment", "inline_comment", "review"]);

/** Which new comments each plan made in the last hour: two machines that answer each other would never end. Forgotten with the process. */
export class CommentRate {
  readonly #made = new Map<string, Map<string, number>>();

  /** Counts an action; false where it would be one too many. The same one again counts once. */
  allows(planId: string, action: Action, { now, most }: { readonly now: number; readonly most: number }): boolean {
    if (!isNewComment(action)) return true;
    const made = new Map([...(this.#made.get(planId) ?? [])].filter(([, at]) => Math.abs(now - at) < HOUR_MS));
    this.#made.set(planId, made);
    if (made.has(action.id)) return true;
    if (made.size >= most) return false;
    made.set(action.id, now);
    return true;
  }
}

/** Posts of gates are asked for by the config, and a comment with a key is edited in its place. */
function isNewComment({ id, payload }: Action): boolean {
  const isKeyed = payload.type === "comment" && payload.key !== undefined;
  return WORDS.has(payload.type) && !isKeyed && !id.startsWith("gate-");
}
