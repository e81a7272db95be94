import { realpathSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { PrloomError } from "../kernel/errors.ts";
import { existsNoFollow } from "../kernel/files.ts";
import { splitNul } from "./output.ts";
import { git } from "./run.ts";

interface FoundRepository {
  readonly root: string;
  readonly commonDir: string;
}

/**
 * Refuses a repository that lies among the files of another one, or in the worktree of a plan: the author of those files would
 * decide with its config what runs here. `places` are its working trees. A submodule is not a file of the outer repository, nor is
 * what that ignores.
 */
export async function refuseAmongFiles<T extends FoundRepository>(found: T, places: readonly string[]): Promise<T> {
  const { root, commonDir } = found;
  // Git never takes files below a `.git` into a commit.
  const isUsual = basename(commonDir) === ".git" && dirname(commonDir) === root;
  for (const place of new Set([...places, ...(isUsual ? [] : [commonDir])])) {
    for (const outer of treesAbove(place)) {
      const outerDir = await commonDirOf(outer);
      const isForeign = outerDir !== commonDir;
      if (isForeign && (isPlanWorktree(outer, outerDir) || (await hasFilesOf(outer, place))))
        throw refusal(place, outer);
    }
  }
  return found;
}

/** The working trees around a place, the nearest first. Costs a few stats where there is none, as is usual. */
function treesAbove(place: string): string[] {
  const trees: string[] = [];
  for (let folder = dirname(place); ; folder = dirname(folder)) {
    if (existsNoFollow(join(folder, ".git"))) trees.push(folder);
    if (folder === dirname(folder)) return trees;
  }
}

async function commonDirOf(tree: string): Promise<string | undefined> {
  const asked = await git(["rev-parse", "--path-format=absolute", "--git-common-dir"], { cwd: tree, allowExit: [128] });
  return asked.code === 0 ? realpathSync(asked.stdout.trimEnd()) : undefined;
}

/** An agent wrote all that is in there, whether git knows it or not. `worktreesDir` may be anywhere; the name is the plan's. */
function isPlanWorktree(tree: string, commonDir: string | undefined): boolean {
  if (dirname(tree).endsWith("/prloom/.local/worktrees")) return true;
  const isLinked = commonDir !== undefined && commonDir !== join(tree, ".git");
  return isLinked && existsNoFollow(join(commonDir, "prloom", "plans", basename(tree)));
}

async function hasFilesOf(outer: string, place: string): Promise<boolean> {
  const args = ["ls-files", "--stage", "-z", "--", `:(literal)${relative(outer, place)}`];
  const { stdout } = await git(args, { cwd: outer, allowExit: [128] });
  return splitNul(stdout).some((entry) => !entry.startsWith("160000 "));
}

function refusal(place: string, outer: string): PrloomError {
  return new PrloomError(
    "nested-repository",
    `${place} is a git repository among the files of another one, ${outer}. prloom does not use it: what its config says may not be yours.`,
    `Work from the outer repository (\`cd ${outer}\`). If the inner one is yours, move it out of there.`,
  );
}
