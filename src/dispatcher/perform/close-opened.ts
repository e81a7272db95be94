import { join } from "node:path";
import { endInhabitants } from "../../agents/runner/survivors.ts";
import { headState, unfinishedOperation } from "../../git/worktree/settle-head.ts";
import { worktreeHealth } from "../../git/worktree/worktrees.ts";
import { messageOf } from "../../kernel/errors.ts";
import { removeTree } from "../../kernel/removal/remove-tree.ts";
import type { CurrentTodo, PlanRecord } from "../../plan/record.ts";
import type { Reporting } from "../capabilities.ts";
import { clearEnclosure } from "../enclosure/enclose.ts";
import { homeOf, type Located, worktreeOf } from "../paths.ts";
import { type Records, updateRecord } from "../records.ts";
import type { AtWork } from "../runs/occupancy.ts";
import type { Configured } from "../settings/pinned.ts";
import { keepNow } from "../worktree/set-aside.ts";
import { branchHead } from "./begin.ts";

/** What everything carries that a person starts through `prloom open`. */
export function openRunId(record: PlanRecord): string {
  return `${record.uid}/open`;
}

/** Where the interface that a person has open is enclosed. */
export function openRunDir(loom: Located, record: PlanRecord): string {
  return join(homeOf(loom.paths, record.id).runs, "open");
}

/** Ends what the interface left running, and removes what it was enclosed with. */
export async function endOpened(loom: Located & Configured, record: PlanRecord): Promise<void> {
  const runDir = openRunDir(loom, record);
  await endInhabitants({ runDir, runId: openRunId(record) }, { graceMs: loom.config.limits.stopGraceMs });
  await clearEnclosure(runDir);
  await removeTree(runDir);
}

/** The process that kept the plan open died without closing it: nothing of it may work at the same time as the next step. */
export async function closeOpened(
  loom: Located & Configured & Records & AtWork & Reporting,
  record: PlanRecord,
): Promise<void> {
  if (!record.opened || loom.occupancy.personIn(record.id)) return;
  await leaveOpened(loom, record);
  loom.report({ planId: record.id, level: "warn", text: "`prloom open` ended without closing it; going on" });
}

/** The plan is no longer open, and what the person left is on record: one write, so a kill leaves it open. */
export async function leaveOpened(
  loom: Located & Configured & Records & AtWork & Reporting,
  record: PlanRecord,
): Promise<void> {
  await endOpened(loom, record);
  const kept = await keepWhatWasLeft(loom, record);
  updateRecord(loom, record.id, (now) => ({ opened: undefined, ...(kept ? afterPerson(now, kept) : {}) }));
  loom.occupancy.personLeft(record.id);
}

type Kept = NonNullable<PlanRecord["kept"]>;

/** Undefined when that cannot be told: then the plan goes on as it would have without a person. */
async function keepWhatWasLeft(loom: Located & Configured & Reporting, record: PlanRecord): Promise<Kept | undefined> {
  const worktree = worktreeOf(loom, record);
  const { branch = "", current, side } = record;
  if (!record.worktreeReady || worktreeHealth(worktree) !== "ok") return undefined;
  const base = isUnderWay(current) ? current.baseSha : side?.baseSha;
  try {
    // A person who is in the middle of a merge or a rebase goes on with it; only the work on a TODO cannot wait.
    if (base !== undefined) await headState(worktree, { branch, baseSha: base });
    else if (unfinishedOperation(worktree.gitDir) !== undefined) return undefined;
    const baseSha = base ?? (await branchHead(loom, record));
    const { tree } = await keepNow(loom, record, baseSha);
    return { tree, baseSha };
  } catch (error) {
    const text = `what was left in ${worktree.path} could not be kept for the case that a run is cut off: ${messageOf(error)}`;
    loom.report({ planId: record.id, level: "warn", text });
    return undefined;
  }
}

/** What is committed is done with: what a person changes then belongs to what comes next. */
export function isUnderWay(current: CurrentTodo | undefined): current is CurrentTodo {
  return current !== undefined && ["running", "ended", "verified"].includes(current.stage);
}

/** Pure: a TODO that was verified before a person changed the tree is judged again, reviewer and all, as it is now. */
export function afterPerson(record: PlanRecord, kept: Kept): Partial<PlanRecord> {
  const { current, side } = record;
  if (current?.stage !== "verified" || current.tree === kept.tree) return { kept };
  return {
    kept,
    current: { ...current, stage: "ended", tree: undefined, reviewed: undefined, seen: undefined },
    ...(side?.stage === "reviewer" ? { side: undefined } : {}),
  };
}
