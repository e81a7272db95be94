import { isWithin } from "../../kernel/paths.ts";
import { splitNul } from "../output.ts";
import { isProtected } from "../staging/protected-paths.ts";
import { gitIn, type Worktree } from "./worktrees.ts";

export interface Prepared {
  /** Files that git neither has nor ignores, without settings of agent programs: those are the base commit's. */
  readonly files: readonly string[];
  /** Some file that git has differs from HEAD. */
  readonly changesTracked: boolean;
}

/** What lies in a worktree in which no agent has been, beyond its commit and `copied`. */
export async function preparedIn(worktree: Worktree, copied: readonly string[]): Promise<Prepared> {
  const args = ["status", "--porcelain", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty"];
  const { stdout } = await gitIn(worktree, args);
  const entries = splitNul(stdout).filter((entry) => {
    const path = entry.slice(3);
    return !isProtected(path) && !copied.some((one) => isWithin(path, one));
  });
  const files = entries.filter((entry) => entry.startsWith("?? ")).map((entry) => entry.slice(3));
  return { files, changesTracked: files.length < entries.length };
}

/** A path as a pattern of `git clean -e`, which means this path and no other. */
export function exactly(path: string): string {
  return `/${path.replace(/[\\*?[\] !#]/g, "\\$&")}`;
}
