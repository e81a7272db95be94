import { crashPoint } from "../../kernel/crash-point.ts";
import { removeFrom } from "../../kernel/removal/remove-held.ts";
import { takeTurns } from "../../kernel/turns.ts";
import { lined } from "../output.ts";
import { gitIn, type Worktree } from "../worktree/worktrees.ts";

// Of a file that was moved away the old name counts as well.
const STAGED = ["diff", "--cached", "--no-ext-diff", "--ignore-submodules=none", "--name-status", "--no-renames", "-z"];

/** Puts staged changes of some files back to what `baseSha` has, in the index and in the tree; returns which they were. Call it after `stageAll`. */
export async function putBack(
  worktree: Worktree,
  baseSha: string,
  isWanted: (path: string) => boolean,
): Promise<readonly string[]> {
  const diff = await gitIn(worktree, [...STAGED, baseSha], { encoding: "latin1" });
  const fields = await diff.entries();
  const [known, added]: [string[], string[]] = [[], []];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    await takeTurns();
    const path = fields[index + 1] ?? "";
    if (isWanted(inWords(path))) (fields[index] === "A" ? added : known).push(path);
  }
  const paths = [...known, ...added];
  if (paths.length === 0) return [];
  for (const path of added) {
    await takeTurns();
    removeFrom(worktree.path, Buffer.from(path, "latin1"));
  }
  crashPoint("put-back:removed");
  const named = ["--pathspec-from-file=-", "--pathspec-file-nul"];
  const reset = ["--literal-pathspecs", "reset", "--quiet", baseSha, ...named];
  await gitIn(worktree, reset, { input: lined(paths), encoding: "latin1" });
  const again = ["checkout-index", "--index", "--force", "-z", "--stdin"];
  if (known.length > 0) await gitIn(worktree, again, { input: lined(known), encoding: "latin1" });
  return paths.map(inWords);
}

const inWords = (path: string): string => Buffer.from(path, "latin1").toString("utf8");
