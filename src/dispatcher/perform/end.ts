import { removeWorktree } from "../../git/worktrees.ts";
import { isoTime } from "../../kernel/clock.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import type { PlanRecord } from "../../plan/record.ts";
import { type Loom, updateRecord } from "../loom.ts";

/** The forge says that the change request was merged or closed. */
export function endPlan(loom: Loom, record: PlanRecord, outcome: "merged" | "closed"): void {
  updateRecord(loom, record.id, () => ({
    status: "done",
    outcome,
    finishedAt: isoTime(loom.clock.now()),
    blocked: undefined,
  }));
  loom.report({ planId: record.id, level: "good", text: outcome });
  // Plans that depend on this one wait for exactly this moment.
  loom.wake();
}

/** Removes the worktree of a plan; branch and home stay. */
export async function cleanWorktree(loom: Loom, record: PlanRecord): Promise<void> {
  updateRecord(loom, record.id, () => ({ worktreeReady: false }));
  crashPoint("clean:recorded");
  if (record.worktree) await removeWorktree(loom.repo, record.worktree);
}
