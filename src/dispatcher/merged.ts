import { join } from "node:path";
import { isMergedInto } from "../git/merge.ts";
import { resolveCommit } from "../git/repository.ts";
import type { PlanRecord } from "../plan/record.ts";
import { type Loom, updateRecord } from "./loom.ts";
import { statKey } from "./stat-key.ts";

/**
 * Finds plans in review whose branch a person merged by hand. Asks git only when a branch file changed since the last
 * look, so an idle repository costs two stats.
 */
export function watchMerges(loom: Loom): { check(): Promise<string[]> } {
  let before = "";
  return {
    async check() {
      const { records } = loom.store.list({ status: "review" }, { limit: Number.MAX_SAFE_INTEGER });
      const bases = [...new Set(records.map((record) => record.baseBranch ?? ""))].sort();
      const files = [
        join(loom.paths.commonDir, "packed-refs"),
        ...bases.map((base) => join(loom.paths.commonDir, "refs", "heads", base)),
      ];
      const key = JSON.stringify([files.map((file) => statKey(file) ?? ""), records.map((record) => record.id)]);
      if (key === before) return [];
      const merged: string[] = [];
      for (const record of records) if (await markMerged(loom, record)) merged.push(record.id);
      before = key;
      return merged;
    },
  };
}

/** A branch that has commits of its own and is contained in its base was merged. */
export async function markMerged(loom: Loom, record: PlanRecord): Promise<boolean> {
  const { branch, baseBranch, changeRequest } = record;
  if (!branch || !baseBranch || !changeRequest || changeRequest.state !== "open") return false;
  const head = await resolveCommit(loom.repo, `refs/heads/${branch}`);
  if (!head || head === record.baseSha || !(await isMergedInto(loom.repo, branch, baseBranch))) return false;
  await loom.forge.close(record.id, "merged");
  updateRecord(loom, record.id, () => ({ changeRequest: { ...changeRequest, state: "merged" } }));
  return true;
}
