import { join } from "node:path";
import { isMergedInto } from "../../git/commits/merge.ts";
import { resolveCommit } from "../../git/repository.ts";
import { messageOf } from "../../kernel/errors.ts";
import { passesByItself } from "../../kernel/system/used-up.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Publishing, Reporting } from "../capabilities.ts";
import { statKey } from "../intake/stat-key.ts";
import type { Located } from "../paths.ts";
import { type Records, updateRecord } from "../records.ts";

/**
 * Finds plans in review whose branch a person merged by hand. Git is asked about a plan when it is new here or when its
 * base branch changed since, so an idle repository costs two stats, and a plan that comes in asks for none of the others.
 */
export function watchMerges(loom: Located & Records & Publishing & Reporting): { check(): Promise<string[]> } {
  let asked = new Map<string, string>();
  const tips = new Map<string, { key: string; tip: string | undefined }>();
  const tipOf = async (base: string, key: string): Promise<string | undefined> => {
    const known = tips.get(base);
    if (known?.key === key) return known.tip;
    const tip = await resolveCommit(loom.repo, `refs/heads/${base}`);
    tips.set(base, { key, tip });
    return tip;
  };
  const refs = join(loom.paths.commonDir, "refs", "heads");
  return {
    async check() {
      // A server knows by itself.
      if (loom.forge.name !== "local") return [];
      const { records } = loom.store.list({ status: "review" });
      const packed = statKey(join(loom.paths.commonDir, "packed-refs"));
      const bases = new Map(records.map(({ baseBranch = "" }) => [baseBranch, ""]));
      for (const base of bases.keys()) bases.set(base, `${base}|${packed}|${statKey(join(refs, base))}`);
      const before = asked;
      asked = new Map();
      const merged: string[] = [];
      for (const record of records) {
        const { uid, id, baseBranch = "", baseSha } = record;
        const key = bases.get(baseBranch) ?? "";
        try {
          // A base that is still where the branch began has nothing of it.
          if (before.get(uid) !== key && (await tipOf(baseBranch, key)) !== baseSha && (await markMerged(loom, record)))
            merged.push(id);
          asked.set(uid, key);
        } catch (error) {
          // What is wrong with one plan keeps no other from its end. Told once, unless it passes by itself.
          if (!passesByItself(error)) asked.set(uid, key);
          const text = `whether it was merged cannot be told: ${messageOf(error)}`;
          loom.report({ planId: id, level: "bad", text });
        }
      }
      return merged;
    },
  };
}

/** What git is to look for in place of a branch that a person emptied. */
export function ownOf({ newest, uid }: PlanRecord): { newest: string; uid: string } | undefined {
  return newest === undefined ? undefined : { newest, uid };
}

/** A branch that has commits of its own and whose work is in its base was merged. */
async function markMerged(loom: Located & Records & Publishing, record: PlanRecord): Promise<boolean> {
  const { branch, baseBranch, changeRequest } = record;
  if (!branch || !baseBranch || !changeRequest || changeRequest.state !== "open") return false;
  const head = await resolveCommit(loom.repo, `refs/heads/${branch}`);
  if (!head || head === record.baseSha) return false;
  const { baseSha: began, merge: made } = record;
  if (!(await isMergedInto(loom.repo, { branch, base: baseBranch, made, began, own: ownOf(record) }))) return false;
  // Since it was asked for, work may have begun that is not in there; and in the middle of a rebase the branch is not whole.
  const now = loom.store.get(record.uid);
  if (now?.status !== "review" || now.current || now.side || now.rebase || now.deleted) return false;
  if (loom.forge.name === "local") await loom.forge.close(record.id, "merged");
  updateRecord(loom, record.id, () => ({ changeRequest: { ...changeRequest, state: "merged" } }));
  return true;
}
