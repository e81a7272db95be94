import type { ServerForge } from "../../forge/port.ts";
import { branchTip, isAncestor } from "../../git/repository.ts";
import { resetTo } from "../../git/worktree/reset.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { PrloomError } from "../../kernel/errors.ts";
import type { PlanRecord } from "../../plan/record.ts";
import { worktreeOf } from "../paths.ts";
import { wakeAbove } from "../stacking/plans-above.ts";
import { hasUncommitted } from "../worktree/set-aside.ts";
import { blockAsRefused, noteHead, notePublished, type PublishingAtWork } from "./note-published.ts";

/** Commits of people on our branch become a part of it between two runs, if nothing of ours was committed beside them. */
export async function takeOver(loom: PublishingAtWork, forge: ServerForge, record: PlanRecord): Promise<boolean> {
  const { id, branch = "", published } = record;
  // What is under way is built on the branch as it is; its end wakes us.
  if (record.current || record.side || !loom.occupancy.isFree(id)) return false;
  const fetched = await forge.fetch(branch);
  if (fetched.kind === "failed") throw new Error(fetched.reason);
  if (loom.stopping) return false;
  const theirs = fetched.kind === "fetched" ? fetched.sha : undefined;
  const leave = loom.occupancy.enter(id, "merge");
  try {
    const ours = await branchTip(loom.repo, branch);
    if (theirs === undefined || ours === undefined) {
      notePublished(loom, id, { theirs: undefined });
      return true;
    }
    // Pushed by us, and its answer was lost; or a person has brought both together here.
    if (await isAncestor(loom.repo, theirs, ours)) {
      const known = published?.sha ?? theirs;
      if (known !== theirs && (await isAncestor(loom.repo, theirs, known))) return setBack(loom, record, theirs);
      noteHead(loom, id, { sha: theirs, now: forge.now(), theirs: undefined });
      return true;
    }
    if (!(await isAncestor(loom.repo, ours, theirs))) return diverged(loom, record, theirs);
    if (await hasUncommitted(loom, record)) throw uncommitted(record);
    await resetTo(worktreeOf(loom, record), theirs, branch, record.prepared);
    crashPoint("server:taken-over");
    noteHead(loom, id, { sha: theirs, now: forge.now(), theirs: undefined });
    wakeAbove(loom, record);
    loom.report({ planId: id, level: "info", text: `took over ${theirs.slice(0, 8)} from the server` });
    return true;
  } finally {
    leave();
    loom.wake(id);
  }
}

function uncommitted({ worktree }: PlanRecord): PrloomError {
  const message = "A person pushed to its branch, and its worktree has changes that are in no commit.";
  return new PrloomError("plan-state", message, `Commit or remove them in ${worktree}.`);
}

/** A person took commits away there: they come back only if a person says so. */
function setBack(loom: PublishingAtWork, { id, branch, worktree }: PlanRecord, theirs: string): boolean {
  const reason = `The branch ${branch} was set back on the server to ${theirs.slice(0, 8)}.`;
  const hint = `\`prloom unblock ${id}\` pushes again what was taken away; to leave it out, run \`git -C ${worktree} reset --keep ${theirs.slice(0, 12)}\` before that.`;
  const published = { sha: theirs, theirs: undefined, pushing: undefined, asked: undefined };
  return blockAsRefused(loom, id, { reason, hint, published });
}

function diverged(loom: PublishingAtWork, { id, branch, worktree }: PlanRecord, theirs: string): boolean {
  const reason = `The branch ${branch} has other commits on the server (${theirs.slice(0, 8)}) than here.`;
  const hint = `Bring both together (\`git -C ${worktree} merge ${theirs.slice(0, 12)}\`), then run \`prloom unblock ${id}\`.`;
  return blockAsRefused(loom, id, { reason, hint, published: { theirs, asked: undefined } });
}
