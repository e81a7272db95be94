import { join } from "node:path";
import { refuseBrought } from "../../git/tracked.ts";
import { isAnothers, isForeign, isTreeOf, removeWorktree } from "../../git/worktree/worktrees.ts";
import { existsNoFollow } from "../../kernel/files.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Reporting } from "../capabilities.ts";
import type { Located } from "../paths.ts";
import type { Records } from "../records.ts";
import type { Configured } from "../settings/pinned.ts";
import { keepBeforeRemoval } from "./set-aside.ts";

/** Removes a plan's worktree. What a person has put at its place by then is left there; returns what to tell of it. */
export async function removeOwnWorktree(
  loom: Located & Records & Reporting,
  record: PlanRecord,
): Promise<string | undefined> {
  const { id: planId, worktree } = record;
  if (worktree === undefined) return undefined;
  // Behind a link that a branch brought lies neither ours nor what a person put in its place.
  await refuseBrought(loom.repo, worktree);
  if (isReplaced(loom, record)) {
    const text = `${worktree} is not the worktree that prloom made; it is left as it is`;
    loom.report({ planId, level: "warn", text });
    return text;
  }
  beginRemoval(loom, record);
  await removeWorktree(loom.repo, worktree);
  return undefined;
}

/** Before a worktree that is not ready is removed: where an initCommand failed in it, a person may have changed something there. */
export async function keepUnready(loom: Located & Configured & Records & Reporting, record: PlanRecord): Promise<void> {
  if (record.worktreeName === undefined) return;
  await keepBeforeRemoval(loom, record);
  beginRemoval(loom, record);
}

/**
 * Git's own file in it says whose it is. One that is half made, or half removed, may have none, and so may one that an agent
 * was at work in a moment ago: as long as git knows of it, it is ours.
 */
export function isReplaced({ repo, paths }: Located, record: PlanRecord): boolean {
  const { status, worktree = "", worktreeName, worktreeReady } = record;
  if (isAnothers(worktree, paths.commonDir)) return true;
  if (!worktreeReady) return isForeign(repo, worktree);
  if (worktreeName === undefined || !existsNoFollow(worktree)) return false;
  const gitDir = join(paths.commonDir, "worktrees", worktreeName);
  return (status === "done" || !existsNoFollow(gitDir)) && !isTreeOf(worktree, gitDir);
}

/** Without its name it is one that is being removed: what a kill leaves of it is not taken for a person's. */
function beginRemoval({ store }: Records, { uid }: PlanRecord): void {
  const now = store.get(uid);
  if (now?.worktreeName !== undefined) store.put(uid, { ...now, worktreeName: undefined }, now.revision);
  store.sync();
}
