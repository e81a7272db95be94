import { readmitWorktree } from "../../git/worktree/readmit.ts";
import { worktreeHealth } from "../../git/worktree/worktrees.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { setTodoState } from "../../plan/edit-plan.ts";
import type { PlanRecord } from "../../plan/record.ts";
import { type PlanEvent, transition } from "../../plan/transition.ts";
import type { Naming, Reporting } from "../capabilities.ts";
import type { Gated } from "../gates/gate-store.ts";
import { endGates, newestGates } from "../gates/plan-gate.ts";
import { type Intake, takePlan } from "../intake/intake.ts";
import { isInboxRecord, type Located, textPath, worktreeOf } from "../paths.ts";
import { discardWork } from "../perform/begin.ts";
import { hookAgain } from "../perform/hook-due.ts";
import { blockPlan, planText, type Records, requireRecord, setPaused, updateRecord } from "../records.ts";
import { patchesOf } from "../report/read-aside.ts";
import type { Pooled } from "../runs/agent-pool.ts";
import type { AtWork } from "../runs/occupancy.ts";
import { recoverAgain } from "../runs/survivors.ts";
import type { Configured } from "../settings/pinned.ts";
import type { Watched } from "../watchdog/stalls.ts";
import { isReplaced } from "../worktree/remove-own.ts";
import { changeInboxMeta } from "./inbox-meta.ts";
import { recoverInterrupted, stopAtWork } from "./open.ts";

/** The record, if the event is allowed in its state; else an error that says why not. */
export function allowed(loom: Records, id: string, event: PlanEvent): PlanRecord {
  const record = requireRecord(loom, id);
  const answer = transition(
    { status: record.status, hidden: record.hidden, paused: record.paused, blocked: record.blocked !== undefined },
    event,
  );
  if (answer.ok) return record;
  throw new PrloomError("plan-state", `${id}: ${answer.why}`, `\`prloom show ${id}\` tells more.`);
}

export function queuePlan(loom: Located & Naming & Records & Intake & Reporting, id: string): void {
  allowed(loom, id, "queue");
  changeInboxMeta(loom, id, { status: "queued" });
}

export function setHidden(loom: Located & Naming & Records & Intake & Reporting, id: string, hidden: boolean): void {
  const record = allowed(loom, id, hidden ? "hide" : "unhide");
  if (isInboxRecord(record)) changeInboxMeta(loom, id, { hidden });
  else updateRecord(loom, id, () => ({ hidden }));
}

/** `now` ends what is at work as well: that is interrupted, and no attempt. */
export async function pausePlan(loom: Records & AtWork, id: string, now: boolean): Promise<{ ended: boolean }> {
  allowed(loom, id, "pause");
  setPaused(loom, id, { paused: true, now });
  crashPoint("pause:noted");
  const ended = now && loom.occupancy.isAtWork(id);
  if (!ended) return { ended };
  await stopAtWork(loom, id);
  // Stopped by a person: no sign that something ends the processes around the agent.
  loom.stranded.delete(id);
  return { ended };
}

export function resumePlan(loom: Records, id: string): void {
  allowed(loom, id, "resume");
  setPaused(loom, id, { paused: false });
}

export function blockByPerson(loom: Records & Reporting, id: string, reason: string): void {
  allowed(loom, id, "block");
  blockPlan(loom, id, { reason, hint: `\`prloom unblock ${id}\` lets it go on.`, cause: "person" });
}

/** Clears the reason and lets what it stopped be tried again; `reset` drops what the unfinished TODO left behind. */
export async function unblockPlan(
  loom: Located & Naming & Configured & Records & Gated & Intake & Pooled & AtWork & Watched & Reporting,
  id: string,
  reset: boolean,
): Promise<{ wasBlocked: boolean; calledOff?: boolean; kept?: string | undefined; vanished?: boolean }> {
  // A draft that blocked the dispatcher before it became a plan has no record to clear anything in.
  if (loom.stalls.forgive(id) && !loom.store.byId(id)) {
    takePlan(loom, loom.inbox.look(id), id);
    return { wasBlocked: true };
  }
  const record = allowed(loom, id, "unblock");
  // Also for one that only waits: the person who types it wants its agents to be tried now.
  loom.pool.forgive();
  // Nothing to clear; and its agent may be at work, whose tree must not be touched. A rebase is called off all the same.
  // A worktree that is gone would block it at the next look.
  if (!record.blocked && !(loom.occupancy.isFree(id) && isVanished(loom, record))) {
    const calledOff = reset && record.rebase !== undefined;
    if (calledOff) await resetPlan(loom, id);
    return { wasBlocked: false, calledOff };
  }
  await recoverAgain(loom, record);
  const worktree = worktreeOf(loom, record);
  if (record.worktreeReady) await readmitWorktree(loom.repo, worktree, record.branch ?? "");
  const vanished = isVanished(loom, record);
  if (vanished) refuseReplaced(loom, record);
  const kept = reset && !vanished ? await resetPlan(loom, id) : undefined;
  reopenBlockedTodo(loom, record);
  const lost = newestGates(loom, record).find((gate) => gate.lost && gate.state === "open");
  if (lost) endGates(loom, record, lost.comment ?? "");
  updateRecord(loom, id, (now) => ({
    blocked: undefined,
    // What they were shown is what they say yes to.
    ...(now.blocked?.cause === "forge" && now.published?.asked !== undefined
      ? { published: { ...now.published, asked: undefined, allowed: now.published.asked } }
      : {}),
    // What it said was looked at: it is counted from here on.
    comments: undefined,
    ...hookAgain(now),
    ...(vanished ? { worktreeReady: false, kept: undefined } : {}),
  }));
  const aside = kept === undefined ? "" : `; the work on its TODO is kept in ${kept}`;
  loom.report({
    planId: id,
    level: "info",
    text: `${record.blocked ? "unblocked" : "its worktree is made again"}${aside}`,
  });
  return { wasBlocked: record.blocked !== undefined, kept, vanished };
}

function isVanished(loom: Located & Configured, record: PlanRecord): boolean {
  return record.worktreeReady && worktreeHealth(worktreeOf(loom, record)) !== "ok";
}

/** A worktree that is made again takes the place of whatever lies there. */
function refuseReplaced(loom: Located, record: PlanRecord): void {
  if (!isReplaced(loom, record)) return;
  throw new PrloomError(
    "plan-state",
    `${record.worktree} is not the worktree that prloom made.`,
    `Move it away, then run \`prloom unblock ${record.id}\` again: it makes the worktree from branch ${record.branch}.`,
  );
}

/** Blocking a plan lets its agent end; resetting it then must not pull the tree from under that agent. Returns the patch of the work. */
async function resetPlan(
  loom: Located & Configured & Records & Pooled & AtWork & Reporting,
  id: string,
): Promise<string | undefined> {
  await stopAtWork(loom, id);
  // Neither a plugin's agent nor a person gets in before the tree is what it was.
  const leave = loom.occupancy.enter(id, "step");
  try {
    const known = new Set(patchesOf(loom, id));
    await recoverInterrupted(loom, id);
    const kept = await discardWork(loom, requireRecord(loom, id));
    // Of a run that was interrupted it is kept when that is found out.
    return kept ?? patchesOf(loom, id).find((patch) => !known.has(patch));
  } finally {
    leave();
  }
}

/** An item marked `[b]` would block the plan again at once. */
function reopenBlockedTodo(loom: Located & Records, record: PlanRecord): void {
  const text = planText(loom, record);
  const blocked = text?.doc.todos.find((todo) => todo.state === "blocked");
  if (!text || !blocked || record.status === "done") return;
  loom.texts.write(textPath(loom, record), setTodoState(text.text, blocked.id, "open"));
}
