import { join } from "node:path";
import { removeTree } from "../../kernel/removal/remove-tree.ts";
import { takeTurns } from "../../kernel/turns.ts";
import { lined } from "../output.ts";
import { gitIn, type Worktree } from "../worktree/worktrees.ts";
import { readPlainIndex } from "./plain-index.ts";

/**
 * Forgets flags that hide changes (assume-unchanged, skip-worktree), and an index that git cannot read. Returns the paths
 * of the index, byte for byte.
 */
export async function clearHidingFlags(
  worktree: Worktree,
  indexFile = join(worktree.gitDir, "index"),
): Promise<string[]> {
  const plain = await readPlainIndex(indexFile);
  if (plain) return plain;
  const options = { env: { GIT_INDEX_FILE: indexFile }, encoding: "latin1" } as const;
  const listed = await gitIn(worktree, ["ls-files", "-v", "-z"], { ...options, allowExit: [128] });
  if (listed.code !== 0) {
    await removeTree(indexFile);
    return [];
  }
  const [paths, hidden]: [string[], string[]] = [[], []];
  for (const line of await listed.entries()) {
    await takeTurns();
    const path = line.slice(2);
    paths.push(path);
    if (!/^[HM]/.test(line)) hidden.push(path);
  }
  for (const flag of hidden.length === 0 ? [] : ["--no-assume-unchanged", "--no-skip-worktree"]) {
    await gitIn(worktree, ["update-index", "-z", flag, "--stdin"], { ...options, input: lined(hidden) });
  }
  return paths;
}
