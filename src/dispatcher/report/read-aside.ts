import { existsSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { listDir } from "../../kernel/files.ts";
import { homeOf, type Located } from "../paths.ts";

/** Files beside a plan that wait for a person. */
export interface AsideFiles {
  /** Patches of work that is on no branch, oldest first. */
  readonly aside: readonly string[];
  /** What an author who may not change the plan would like it to say. */
  readonly proposal?: string;
}

export function readAside(loom: Located, id: string): AsideFiles {
  const { proposal } = homeOf(loom.paths, id);
  return { aside: patchesOf(loom, id), ...(existsSync(proposal) ? { proposal } : {}) };
}

/** The patches of runs and of removed worktrees. */
export function patchesOf(loom: Located, id: string): string[] {
  const { home, runs } = homeOf(loom.paths, id);
  const below = (dir: string): string[] => listDir(dir).map((name) => join(dir, name));
  const folders = [home, ...below(runs), ...below(join(runs, "hooks"))];
  const patches = folders.flatMap((dir) =>
    listDir(dir)
      .filter((name) => name.endsWith(".patch"))
      .map((name) => join(dir, name)),
  );
  const age = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return patches.sort((a, b) => age(a) - age(b));
}

/** The newest of those in which a rebase put what a person had left in the worktree: it is in no commit unless they brought it back. */
export function asideByRebase(loom: Located, id: string): { aside?: string } {
  const aside = patchesOf(loom, id).findLast((patch) => /^before-rebase(?:-\d+)?\.patch$/.test(basename(patch)));
  return aside === undefined ? {} : { aside };
}
