import { takeTurns } from "../../kernel/turns.ts";
import { lined, splitNul } from "../output.ts";
import type { GitOptions } from "../run.ts";
import { gitIn, type Worktree } from "../worktree/worktrees.ts";
import { bytesOf, isHuge, isReadable, kindAt } from "./tree-entries.ts";

/**
 * Puts the bytes of files into an index as they are on disk. For keeping what cannot be staged because attributes or filters
 * refuse it; links, names that this way of git cannot take, and what may not be read or never ends are left out.
 */
export async function stageRaw(worktree: Worktree, paths: readonly string[], options: GitOptions): Promise<void> {
  const files: string[] = [];
  for (const path of paths) {
    await takeTurns();
    const isFile = !/^"|\n/.test(path) && kindAt(bytesOf(worktree, path)) === "file";
    if (isFile && isReadable(worktree, path) && !isHuge(worktree, path)) files.push(path);
  }
  if (files.length === 0) return;
  const hash = ["hash-object", "-w", "--no-filters", "--stdin-paths"];
  const { stdout } = await gitIn(worktree, hash, { ...options, input: lined(files, "\n") });
  const shas = splitNul(stdout.replaceAll("\n", "\0"));
  const input = lined(files.map((path, index) => `100644 ${shas[index]} 0\t${path}`));
  await gitIn(worktree, ["update-index", "--add", "--replace", "-z", "--index-info"], { ...options, input });
}
