import { branchTip } from "../../git/repository.ts";
import { isoTime } from "../../kernel/clock.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { counted } from "../../kernel/text/words.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Buses } from "../buses/buses.ts";
import type { Publishing, Reporting, Waking } from "../capabilities.ts";
import { removePrivateHomes } from "../enclosure/private-homes.ts";
import type { Gated } from "../gates/gate-store.ts";
import { endGates } from "../gates/plan-gate.ts";
import { type Undelivered, undeliveredMessages } from "../messages/messages.ts";
import type { Located } from "../paths.ts";
import { changeStatus, planText, type Records, requireRecord, updateRecord } from "../records.ts";
import type { AtWork } from "../runs/occupancy.ts";
import type { Configured } from "../settings/pinned.ts";
import { wakeAbove } from "../stacking/plans-above.ts";
import { deferredComments, unansweredComments } from "../steps/observe.ts";
import { removeOwnWorktree } from "../worktree/remove-own.ts";
import { hasUncommitted, keepBeforeRemoval } from "../worktree/set-aside.ts";

/**
 * The change request was merged or closed; `isFound`: not by us, its commits were found in the base. Returns the messages that its
 * agent never got.
 */
export function endPlan(
  loom: Located & Configured & Records & Gated & Buses & AtWork & Reporting & Waking,
  record: PlanRecord,
  { outcome, isFound = false }: { readonly outcome: "merged" | "closed"; readonly isFound?: boolean },
): Undelivered[] {
  const undelivered = undeliveredMessages(loom, record.id);
  const left = leftOpen(loom, record);
  const finishedAt = isoTime(loom.clock.now());
  loom.store.together(() => {
    endGates(loom, record, `the plan is ${outcome}`);
    changeStatus(loom, record.id, outcome, { outcome, finishedAt, blocked: undefined, firstPort: undefined });
  });
  const why = isFound && outcome === "merged" ? `: what it changed is in ${record.baseBranch} already` : "";
  loom.report({ planId: record.id, level: "good", text: `${outcome}${why}` });
  if (left !== "")
    loom.report({ planId: record.id, level: "warn", text: `${outcome} with ${left}: nothing looks at it any more` });
  for (const { author, text } of undelivered) {
    const words = `never delivered: ${author} sent its agent: ${text.split("\n", 1)[0]}`;
    loom.report({ planId: record.id, level: "warn", text: words });
  }
  // Plans that depend on this one wait for exactly this moment.
  loom.wake();
  wakeAbove(loom, record);
  return undelivered;
}

/** The change request was found merged or closed. What a server has merged is not needed here: its worktree goes first, so that a kill leaves none. */
export async function endFound(
  loom: Located & Configured & Records & Gated & Buses & AtWork & Publishing & Reporting & Waking,
  record: PlanRecord,
  outcome: "merged" | "closed",
): Promise<Undelivered[]> {
  const isLocal = loom.forge.name === "local";
  if (outcome === "merged" && !isLocal && record.worktreeReady && !(await hasUncommitted(loom, record)))
    await cleanWorktree(loom, record);
  const { branch = "", published, id } = record;
  const tip = isLocal || published?.merged === undefined ? undefined : await branchTip(loom.repo, branch);
  if (outcome === "merged" && tip !== undefined && tip !== published?.merged) {
    const text = `merged at ${published?.merged?.slice(0, 8)}: ${branch} is at ${tip.slice(0, 8)} here, which was not merged`;
    loom.report({ planId: id, level: "warn", text });
  }
  const undelivered = endPlan(loom, requireRecord(loom, record.id), { outcome, isFound: isLocal });
  crashPoint("server:ended");
  return undelivered;
}

/** What a person who merged by hand may not know of; `prloom merge` refuses for it. */
function leftOpen(loom: Located & Records & Buses, record: PlanRecord): string {
  const comments = unansweredComments(loom, record.id) + deferredComments(loom, record.id);
  const todos = planText(loom, record)?.doc.todos.filter(({ state }) => state !== "done").length ?? 0;
  const parts = [comments > 0 && counted(comments, "unanswered comment"), todos > 0 && counted(todos, "open TODO")];
  return parts.filter((part) => part !== false).join(" and ");
}

export interface CleanedWorktree {
  /** What to tell of a folder that is not ours. */
  readonly foreign: string | undefined;
  /** The patch that has what was in no commit. */
  readonly kept: string | undefined;
}

/** Removes the worktree of a plan that is done; branch and home stay. Recorded last, so a kill makes it be done again. */
export async function cleanWorktree(
  loom: Located & Configured & Records & Reporting,
  record: PlanRecord,
): Promise<CleanedWorktree> {
  const kept = await keepBeforeRemoval(loom, record);
  const foreign = await removeOwnWorktree(loom, record);
  await removePrivateHomes(loom, record);
  crashPoint("clean:removed");
  updateRecord(loom, record.id, () => ({ worktreeReady: false }));
  return { foreign, kept };
}
