import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { crashPoint } from "../../kernel/crash-point.ts";
import { ensureDir, existsNoFollow } from "../../kernel/files.ts";
import { createBranch, isForGit } from "../refs.ts";
import type { GitSetting } from "../shadow/git-settings.ts";

/** A worktree on a branch that does not exist yet. Paths are absolute, and nothing lies at `path`. */
export interface Registration {
  readonly commonDir: string;
  readonly path: string;
  readonly branch: string;
  readonly baseSha: string;
}

/** With them git makes other files, or makes them otherwise. */
const GITS_OWN = /^(?:extensions\..*|core\.(?:fsync.*|sharedrepository))$/;

/** A name that git takes for a worktree as it is. */
const NAME = /^[A-Za-z0-9][\w-]*$/;

/** While it is there, `git worktree prune` leaves the record alone. */
const LOCK = "locked";

/**
 * Makes the branch and git's record of the worktree on it, as `git worktree add --no-checkout` does, which reads the records of all other
 * worktrees for it: with two hundred of them that takes longer than the files. Undefined, and nothing is left: only git can do it.
 */
export function registerWorktree(wanted: Registration, settings: readonly GitSetting[]): string | undefined {
  const { commonDir, path, branch, baseSha } = wanted;
  const name = basename(path);
  const gitDir = join(commonDir, "worktrees", name);
  if (!NAME.test(name) || settings.some(({ key }) => GITS_OWN.test(key)) || !makeRecord(wanted, gitDir))
    return undefined;
  if (!createBranch(commonDir, branch, baseSha)) {
    rmSync(gitDir, { recursive: true });
    return undefined;
  }
  crashPoint("worktree:branched");
  ensureDir(dirname(path));
  mkdirSync(path);
  writeFileSync(join(path, ".git"), `gitdir: ${gitDir}\n`);
  // Last: without it git passes over the record.
  writeFileSync(join(gitDir, "gitdir"), `${join(path, ".git")}\n`);
  crashPoint("worktree:registered");
  return gitDir;
}

/** Its files are there. Git has unlocked one that it registered. */
export function unlockRegistered(gitDir: string): void {
  rmSync(join(gitDir, LOCK), { force: true });
}

/**
 * False when there is one, or only git can make it. It comes into its place with its lock: a `git worktree prune` or `git gc` of a person
 * that looks at this moment removes one without.
 */
function makeRecord({ commonDir, branch }: Registration, gitDir: string): boolean {
  const made = join(commonDir, "prloom-register");
  if (existsNoFollow(gitDir)) return false;
  try {
    rmSync(made, { recursive: true, force: true });
    mkdirSync(made);
    writeFileSync(join(made, LOCK), "initializing");
    writeFileSync(join(made, "HEAD"), `ref: refs/heads/${branch}\n`);
    writeFileSync(join(made, "commondir"), "../..\n");
    mkdirSync(dirname(gitDir), { recursive: true });
    renameSync(made, gitDir);
    return true;
  } catch (error) {
    if (!isForGit(error)) throw error;
    return false;
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}
