import { statSync } from "node:fs";
import { join } from "node:path";

/** The first of the files that is there. An agent can put anything into its worktree, also what cannot be read. */
export function firstFile(folder: string, names: readonly string[]): string | undefined {
  return names.find((name) => {
    try {
      return statSync(join(folder, name), { throwIfNoEntry: false })?.isFile() ?? false;
    } catch {
      return false; // a loop of links, or a file where a folder should be: not there
    }
  });
}
