import { branchTip } from "../../git/repository.ts";
import { preparedIn } from "../../git/worktree/prepared-files.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { shellWord } from "../../kernel/text/words.ts";
import type { PlanRecord } from "../../plan/record.ts";
import { type Located, worktreeOf } from "../paths.ts";
import type { Configured } from "../settings/pinned.ts";
import { keepNow } from "./set-aside.ts";

/** More files are a folder that git should ignore; each of them would be named in every record and commit. */
const MAX_FILES = 1000;

/**
 * What `initCommands` and `afterActivate` have put into a new worktree, in which no agent has been: their own files count
 * like `copyFiles`. What they changed of the repository's files stays until the first TODO's commit takes it along.
 */
export async function takePrepared(
  loom: Located & Configured,
  record: PlanRecord,
): Promise<Pick<PlanRecord, "prepared" | "kept">> {
  const worktree = worktreeOf(loom, record);
  const { files, unnamed, changesTracked } = await preparedIn(worktree, loom.config.copyFiles);
  if (files.length > MAX_FILES) {
    throw new PrloomError(
      "plan-state",
      `initCommands or plugins left ${files.length} files in its worktree that git does not ignore, ${files[0]} for example; at most ${MAX_FILES} can be told from an agent's work.`,
      `Name their folder in .gitignore, then run \`prloom unblock ${record.id}\`. ${wayOfFix(record)}`,
    );
  }
  // No record and no pattern of git's could name it, so it would be committed.
  if (unnamed !== undefined) {
    throw new PrloomError(
      "plan-state",
      `initCommands or plugins left a file in its worktree whose name is not UTF-8: ${unnamed}`,
      `Have it named otherwise, or ignored by .gitignore, then run \`prloom unblock ${record.id}\`. ${wayOfFix(record)}`,
    );
  }
  const prepared = files.length === 0 ? undefined : [...files];
  if (!changesTracked) return { prepared, kept: undefined };
  const { branch = "" } = record;
  const baseSha = (await branchTip(loom.repo, branch)) ?? "";
  const { tree } = await keepNow(loom, { ...record, prepared }, baseSha);
  return { prepared, kept: { tree, baseSha } };
}

/** For hints: what is committed on the base after a plan has begun does not get into its worktree by itself. */
export function wayOfFix({ worktree = "", baseBranch = "" }: PlanRecord): string {
  return `The worktree stays at the commit that the plan began with: a fix that you commit on ${baseBranch} gets there with \`git -C ${shellWord(worktree)} merge --ff-only ${baseBranch}\`.`;
}
