import { unsafeError } from "../../../git/commits/unsafe-tree.ts";
import { hasChanges } from "../../../git/worktree/reset.ts";
import { PrloomError } from "../../../kernel/errors.ts";
import type { PlanRecord } from "../../../plan/record.ts";
import type { Publishing, Reporting, Waking } from "../../capabilities.ts";
import type { Gated } from "../../gates/gate-store.ts";
import { type Located, worktreeOf } from "../../paths.ts";
import { branchHead, discardWork } from "../../perform/begin.ts";
import { beginRebase } from "../../perform/rebase.ts";
import { lossyError } from "../../perform/rebase-result.ts";
import { type Records, refuseUnrecovered, requireRecord } from "../../records.ts";
import { asideByRebase } from "../../report/read-aside.ts";
import type { AtWork } from "../../runs/occupancy.ts";
import { awaitedRun } from "../../runs/run-record.ts";
import type { Configured } from "../../settings/pinned.ts";
import { leftOut } from "../../worktree/set-aside.ts";
import { refuseWhileOpen } from "../open.ts";

export interface RebasePlanResult {
  readonly base: string;
  /** "resolving": an agent resolves the conflicts in `files`, as soon as the plan is worked on. */
  readonly outcome: "nothing" | "rebased" | "resolving";
  readonly sha?: string;
  readonly files?: readonly string[];
  /** It is blocked: no agent starts before it is unblocked. */
  readonly blocked?: boolean;
  /** The patch of what a person had left in the worktree. */
  readonly aside?: string;
}

type Rebasing = Located & Configured & Records & Gated & AtWork & Publishing & Reporting & Waking;

/** Brings the branch of a plan onto its base: at once, or with an agent that resolves the conflicts. */
export async function rebasePlan(loom: Rebasing, id: string): Promise<RebasePlanResult> {
  refuseRebase(loom, requireRecord(loom, id), { looked: false });
  // Nothing else may touch the tree meanwhile, an agent of a plugin neither, and no step begins: as while it is merged.
  const leave = await loom.occupancy.enterWhenFree(id, "merge", new AbortController().signal);
  try {
    await endEmpty(loom, requireRecord(loom, id));
    const record = requireRecord(loom, id);
    refuseRebase(loom, record, { looked: true });
    return await rebaseNow(loom, record);
  } finally {
    leave();
    loom.wake(id);
  }
}

/** A blocked TODO or run that left nothing begins anew after the rebase: its agent's script may have been missing. */
async function endEmpty(loom: Rebasing, record: PlanRecord): Promise<void> {
  const baseSha = record.current?.baseSha ?? record.side?.baseSha;
  if (!record.blocked || baseSha === undefined || record.rebase || loom.occupancy.agentIn(record.id)) return;
  const worktree = worktreeOf(loom, record);
  if ((await branchHead(loom, record)) !== baseSha || (await hasChanges(worktree, leftOut(loom, record)))) return;
  await discardWork(loom, record);
}

async function rebaseNow(loom: Rebasing, record: PlanRecord): Promise<RebasePlanResult> {
  const { id, baseBranch: base = "", branch } = record;
  const { aside: before } = asideByRebase(loom, id);
  const outcome = await beginRebase(loom, record);
  const { aside } = asideByRebase(loom, id);
  const still = { ...(record.blocked && { blocked: true }), ...(aside !== before && { aside }) };
  switch (outcome.kind) {
    case "nothing":
      return { base, outcome: "nothing", ...still };
    case "rebased":
      loom.report({ planId: id, level: "good", text: `rebased onto ${base}` });
      return { base, outcome: "rebased", sha: outcome.sha, ...still };
    case "conflict":
      return { base, outcome: "resolving", files: outcome.files, ...still };
    case "lossy":
      throw lossyError(record, outcome.merge);
    case "repository":
    case "link":
      throw unsafeError(outcome, `With ${branch} on top of ${base}`, `then run \`prloom rebase ${id}\` again.`);
  }
}

/** `looked`: what the worktree holds is known. */
function refuseRebase(loom: Rebasing, record: PlanRecord, { looked }: { looked: boolean }): void {
  const { id, status } = record;
  if (status === "draft" || status === "queued" || status === "done") {
    const why = status === "done" ? `done already (${record.outcome})` : `${status}: work on it has not begun`;
    // What keeps it from beginning may be a branch of its name, and says what to do about it.
    throw new PrloomError(
      "plan-state",
      `${id} is ${why}.`,
      record.blocked?.hint ?? `\`prloom show ${id}\` tells more.`,
    );
  }
  refuseUnrecovered(loom, id);
  refuseWhileOpen(loom, id);
  if (record.rebase?.ended) {
    const hint = `\`prloom start\` puts its branch back; then run \`prloom rebase ${id}\` again.`;
    throw new PrloomError(
      "plan-state",
      `The rebase of ${id} was called off, and its branch is not put back yet.`,
      hint,
    );
  }
  if (record.rebase) {
    const hint = `\`prloom start\` goes on with it; \`prloom unblock ${id} --reset\` calls it off.`;
    throw new PrloomError("plan-state", `${id} is being rebased already.`, hint);
  }
  const isAtWork = loom.occupancy.agentIn(id);
  const isIn = `in the middle of a ${record.current ? "TODO" : "run"}`;
  if (record.blocked && (record.current || record.side) && !isAtWork) {
    if (!looked) return;
    const hint = `What it left would be in the way: \`prloom pause ${id}\`, then \`prloom unblock ${id} --reset\` puts it aside as a patch; then run \`prloom rebase ${id}\` and \`prloom resume ${id}\`.`;
    throw new PrloomError("plan-state", `${id} is blocked ${isIn}.`, hint);
  }
  // It was stopped, is paused, or waits for the end of a limit: no agent is there that a pause could let finish.
  if (awaitedRun(record) !== undefined && !isAtWork) {
    const hint = `Let it finish first; or \`prloom block ${id} "to be rebased"\` keeps it there: then run \`prloom rebase ${id}\` and \`prloom unblock ${id}\`.`;
    throw new PrloomError("plan-state", `${id} is ${isIn}. A rebase is done between two TODOs.`, hint);
  }
  if (record.current || record.side || !record.worktreeReady || isAtWork) {
    const hint = `\`prloom pause ${id}\` lets its agent finish and begins nothing else; then run \`prloom rebase ${id}\` and \`prloom resume ${id}\`.`;
    throw new PrloomError(
      "plan-state",
      `${id} is being worked on. A rebase is done between two TODOs, and does not wait for that.`,
      hint,
    );
  }
}
