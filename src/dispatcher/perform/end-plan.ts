import { isoTime } from "../../kernel/clock.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Buses } from "../buses/buses.ts";
import type { Reporting, Waking } from "../capabilities.ts";
import { removePrivateHomes } from "../enclosure/private-homes.ts";
import { type Undelivered, undeliveredMessages } from "../messages/messages.ts";
import type { Located } from "../paths.ts";
import { changeStatus, type Records, updateRecord } from "../records.ts";
import type { AtWork } from "../runs/occupancy.ts";
import type { Configured } from "../settings/pinned.ts";
import { removeOwnWorktree } from "../worktree/remove-own.ts";
import { keepBeforeRemoval } from "../worktree/set-aside.ts";

/** The forge says that the change request was merged or closed. Returns the messages that its agent never got. */
export function endPlan(
  loom: Located & Configured & Records & Buses & AtWork & Reporting & Waking,
  record: PlanRecord,
  outcome: "merged" | "closed",
): Undelivered[] {
  const undelivered = undeliveredMessages(loom, record.id);
  const finishedAt = isoTime(loom.clock.now());
  changeStatus(loom, record.id, outcome, { outcome, finishedAt, blocked: undefined });
  loom.report({ planId: record.id, level: "good", text: outcome });
  for (const { author, text } of undelivered) {
    const words = `never delivered: ${author} sent its agent: ${text.split("\n", 1)[0]}`;
    loom.report({ planId: record.id, level: "warn", text: words });
  }
  // Plans that depend on this one wait for exactly this moment.
  loom.wake();
  return undelivered;
}

/**
 * Removes the worktree of a plan that is done; branch and home stay. Recorded last, so a kill makes it be done again. Returns
 * what to tell of a folder that is not ours.
 */
export async function cleanWorktree(
  loom: Located & Configured & Records & Reporting,
  record: PlanRecord,
): Promise<string | undefined> {
  await keepBeforeRemoval(loom, record);
  const foreign = await removeOwnWorktree(loom, record);
  await removePrivateHomes(loom, record);
  crashPoint("clean:removed");
  updateRecord(loom, record.id, () => ({ worktreeReady: false }));
  return foreign;
}
