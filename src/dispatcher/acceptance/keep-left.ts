import { join } from "node:path";
import { savePartial } from "../../git/worktree/reset.ts";
import { worktreeHealth } from "../../git/worktree/worktrees.ts";
import { messageOf } from "../../kernel/errors.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Reporting } from "../capabilities.ts";
import { homeOf, type Located, worktreeOf } from "../paths.ts";
import { leftOut } from "../perform/prepared.ts";
import type { Configured } from "../settings/pinned.ts";

/** What lies in a worktree that is about to be removed, and is in no commit, is kept as a patch in the plan's home. */
export async function keepLeft(loom: Located & Configured & Reporting, record: PlanRecord): Promise<void> {
  if (!record.worktreeReady || worktreeHealth(worktreeOf(loom, record)) !== "ok") return;
  const patchFile = join(homeOf(loom.paths, record.id).home, "left.patch");
  try {
    const isAny = await savePartial(worktreeOf(loom, record), {
      baseSha: "HEAD",
      patchFile,
      leaveOut: leftOut(loom, record),
    });
    if (isAny) {
      const text = `its worktree held changes that are in no commit; kept in ${patchFile}`;
      loom.report({ planId: record.id, level: "warn", text });
    }
  } catch (error) {
    const text = `what its worktree held beyond its commits could not be kept: ${messageOf(error)}`;
    loom.report({ planId: record.id, level: "warn", text });
  }
}
