import { isUtf8 } from "node:buffer";
import { isWithin } from "../../kernel/paths.ts";
import { splitNul } from "../output.ts";
import { isProtected } from "../staging/protected-paths.ts";
import { gitIn, type Worktree } from "./worktrees.ts";

export interface PreparedFiles {
  /** Files that git neither has nor ignores, without settings of agent programs: those are the base commit's. */
  readonly files: readonly string[];
  /** One of them has a name that is not UTF-8: this is what can be shown of it. */
  readonly unnamed: string | undefined;
  /** Some file that git has differs from HEAD. */
  readonly changesTracked: boolean;
}

/** What lies in a worktree in which no agent has been, beyond its commit and `copied`. */
export async function preparedIn(worktree: Worktree, copied: readonly string[]): Promise<PreparedFiles> {
  const args = ["status", "--porcelain", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty"];
  const { stdout } = await gitIn(worktree, args, { encoding: "latin1" });
  const entries = splitNul(stdout)
    .map((entry) => ({ isNew: entry.startsWith("?? "), bytes: Buffer.from(entry.slice(3), "latin1") }))
    .filter(({ bytes }) => {
      const path = bytes.toString();
      return !isProtected(path) && !copied.some((one) => isWithin(path, one));
    });
  const files = entries.filter(({ isNew }) => isNew);
  return {
    files: files.map(({ bytes }) => bytes.toString()),
    unnamed: files.find(({ bytes }) => !isUtf8(bytes))?.bytes.toString(),
    changesTracked: files.length < entries.length,
  };
}

/** A path as a pattern of `git clean -e`, which means this path and no other. */
export function exactly(path: string): string {
  return `/${path.replace(/[\\*?[\] !#]/g, "\\$&")}`;
}
