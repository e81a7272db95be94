import { join } from "node:path";
import { fileVersion } from "../file-version.ts";
import { readHeadBranch, readTip } from "../refs.ts";

interface GitFolders {
  readonly gitDir: string;
  readonly commonDir: string;
}

/** Versions of indexes as git made them, by git's folder of the worktree. */
const made = new Map<string, string>();

/** The index of a worktree that git has just made, with the commit that is checked out; undefined when only git can tell. */
function versionOf({ gitDir, commonDir }: GitFolders): string | undefined {
  const branch = readHeadBranch(gitDir);
  const tip = branch === undefined ? undefined : readTip(commonDir, branch);
  const index = fileVersion(join(gitDir, "index"));
  return tip === undefined || index === "" ? undefined : `${tip} ${index}`;
}

/** To be called right after git has made a worktree. */
export function noteMadeIndex(worktree: GitFolders): void {
  const version = versionOf(worktree);
  if (version === undefined) made.delete(worktree.gitDir);
  else made.set(worktree.gitDir, version);
}

/** Whether the index is still the file that git made for HEAD, so that nothing was staged or hidden in it. Asked once: staging changes it. */
export function takeMadeIndex(worktree: GitFolders): boolean {
  const version = made.get(worktree.gitDir);
  made.delete(worktree.gitDir);
  return version !== undefined && version === versionOf(worktree);
}
