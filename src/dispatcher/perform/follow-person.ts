import { existsSync } from "node:fs";
import { join } from "node:path";
import { RUN_FILES } from "../../agents/runner/run-files.ts";
import { readTip } from "../../git/refs.ts";
import { branchTip } from "../../git/repository.ts";
import { unfinishedOperation } from "../../git/worktree/settle-head.ts";
import type { PlanRecord } from "../../plan/record.ts";
import { homeOf, type Located, worktreeOf } from "../paths.ts";
import { type Records, updateRecord } from "../records.ts";
import type { Configured } from "../settings/pinned.ts";

/**
 * Before the run of a TODO starts, only a person can have moved the branch: what the last run committed was folded into the tree
 * when it was judged. The person's commits are kept as they are, and the TODO goes on from there. Returns the record as it is then.
 */
export async function followPerson(loom: Located & Configured & Records, record: PlanRecord): Promise<PlanRecord> {
  const { current, branch = "" } = record;
  if (current?.stage !== "running" || record.rebase || record.side) return record;
  if (existsSync(join(homeOf(loom.paths, record.id).run(current.run), RUN_FILES.request))) return record;
  if (readTip(loom.paths.commonDir, branch) === current.baseSha) return record;
  // Half way through a merge or rebase the branch is not yet where the person wants it.
  if (unfinishedOperation(worktreeOf(loom, record).gitDir) !== undefined) return record;
  const tip = await branchTip(loom.repo, branch);
  if (tip === undefined || tip === current.baseSha) return record;
  return updateRecord(loom, record.id, (now) => ({
    ...(now.current ? { current: { ...now.current, baseSha: tip } } : {}),
    // What the person left was on top of the old commit, and has these commits in it.
    ...(now.kept?.baseSha === current.baseSha ? { kept: { ...now.kept, baseSha: tip } } : {}),
  }));
}
