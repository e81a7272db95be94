import type { PlanConfig } from "../../config/presets.ts";
import type { PlanRecord } from "../../plan/record.ts";

/** Whether a reviewer reads each TODO, or the whole branch at the end: that also once where a rebase changed what it has read. */
export function isReviewed(review: PlanConfig["review"], when: "todo" | "end", record: PlanRecord): boolean {
  return review === when || (when === "end" && review === "todo" && record.reviewedEnd?.again === true);
}
