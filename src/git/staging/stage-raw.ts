import { type GitOptions, splitNul } from "../run.ts";
import { gitIn, type Worktree } from "../worktree/worktrees.ts";
import { bytesOf, kindAt } from "./tree-entries.ts";

/**
 * Puts the bytes of files into an index as they are on disk. For keeping what cannot be staged because attributes or filters
 * refuse it; links and names that this way of git cannot take are left out.
 */
export async function stageRaw(worktree: Worktree, paths: readonly string[], options: GitOptions): Promise<void> {
  const files = paths.filter((path) => !/^"|\n/.test(path) && kindAt(bytesOf(worktree, path)) === "file");
  if (files.length === 0) return;
  const hash = ["hash-object", "-w", "--no-filters", "--stdin-paths"];
  const { stdout } = await gitIn(worktree, hash, { ...options, input: files.map((path) => `${path}\n`).join("") });
  const shas = splitNul(stdout.replaceAll("\n", "\0"));
  const input = files.map((path, index) => `100644 ${shas[index]} 0\t${path}\0`).join("");
  await gitIn(worktree, ["update-index", "--add", "--replace", "-z", "--index-info"], { ...options, input });
}
