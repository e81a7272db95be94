import type { PlanRecord } from "../../plan/record.ts";

/** What became of the plan that another one stands on. */
export type LowerPlanState =
  | { readonly kind: "stands" }
  /** It has other commits by now. */
  | { readonly kind: "moved" }
  | { readonly kind: "merged"; readonly lower: PlanRecord }
  /** It will not be merged. */
  | { readonly kind: "lost"; readonly lower: PlanRecord | undefined; readonly why: "closed" | "deleted" };

/** Pure: whether another plan may begin on the branch of this one. */
export function canBearOther({ status, blocked, deleted, changeRequest, published }: PlanRecord): boolean {
  const isThere = changeRequest?.state === "open" && published?.sha !== undefined;
  return status === "review" && !blocked && !deleted && isThere;
}

/** Pure: where a stacked plan stands. What is not published yet of the lower one, or not taken over, is waited for. */
export function standingOf({ baseSha }: PlanRecord, lower: PlanRecord | undefined): LowerPlanState {
  if (!lower || lower.deleted) return { kind: "lost", lower, why: "deleted" };
  if (lower.outcome === "merged") return { kind: "merged", lower };
  if (lower.outcome === "closed") return { kind: "lost", lower, why: "closed" };
  const { sha, theirs } = lower.published ?? {};
  return sha === undefined || theirs !== undefined || sha === baseSha ? { kind: "stands" } : { kind: "moved" };
}
