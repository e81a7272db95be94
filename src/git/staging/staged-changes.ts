import { takeTurns } from "../../kernel/turns.ts";
import { gitIn, type Worktree } from "../worktree/worktrees.ts";

export interface StagedChanges {
  /** Paths that differ from the base; of a rename the new one. */
  readonly files: string[];
  /** Those of them that are links. */
  readonly links: string[];
  /** Files of the base that are gone, renames aside. */
  readonly deleted: number;
  /** Files that the base has; counted only when some were deleted. */
  readonly trackedBefore: number;
}

// What `.gitmodules` says must not hide a submodule that moved.
const STAGED_DIFF = ["diff", "--cached", "--no-ext-diff", "--ignore-submodules=none", "--raw", "-M", "-z"];

/** What a commit now would change against `baseSha`. Call it after `stageAll`. */
export async function stagedChanges(worktree: Worktree, baseSha: string): Promise<StagedChanges> {
  const diff = await gitIn(worktree, [...STAGED_DIFF, baseSha]);
  const fields = await diff.entries();
  const [files, links]: [string[], string[]] = [[], []];
  let deleted = 0;
  for (let index = 0; index < fields.length; ) {
    await takeTurns();
    // `:<mode before> <mode> <object before> <object> <status>`
    const [, mode, , , status = ""] = (fields[index] ?? "").split(" ");
    const isMove = /^[RC]/.test(status);
    const path = fields[index + (isMove ? 2 : 1)] ?? "";
    files.push(path);
    if (mode === "120000") links.push(path);
    if (status === "D") deleted += 1;
    index += isMove ? 3 : 2;
  }
  return { files, links, deleted, trackedBefore: deleted === 0 ? 0 : await countTracked(worktree, baseSha) };
}

async function countTracked(worktree: Worktree, baseSha: string): Promise<number> {
  const tree = await gitIn(worktree, ["ls-tree", "-r", "-z", "--name-only", "--full-tree", baseSha]);
  return (await tree.entries()).length;
}
