import { join, relative, resolve, sep } from "node:path";
import { existsNoFollow, readTextNoFollow, writeFileAtomic } from "../kernel/files.ts";
import { takingTurns } from "../kernel/turns.ts";
import { bytesOf, eachEntry, entryAt, kindAt, realFolders, removeEntry } from "./folders.ts";
import type { Worktree } from "./worktrees.ts";

/*
 * A repository inside of a worktree has a configuration of its own, and that names programs: whoever types `git status` in the
 * worktree, a person after our own advice too, would run them. So an agent's repositories do not outlive its run: what makes a
 * folder a repository is removed, and its files are ordinary ones.
 */

/** Removes every `.git` in a folder and below it; links are not followed. */
export async function removeRepositories(worktree: Worktree, folder: string): Promise<void> {
  await removeBelow(bytesOf(worktree, folder));
}

async function removeBelow(folder: Buffer): Promise<void> {
  await eachEntry(folder, async (path, isDirectory, name) => {
    if (name.toLowerCase() === ".git") await removeEntry(path);
    else if (isDirectory) await removeBelow(path);
  });
}

/** Removes `.git` in folders that have files of the tree: git looks past it, but somebody who goes there does not. */
export async function removeStrayRepositories(worktree: Worktree, folders: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  const takeTurns = takingTurns();
  for (const folder of folders) {
    await takeTurns();
    if (folder === "") continue;
    const { path, kind } = entryAt(worktree, folder, ".git");
    if (kind === "absent") continue;
    await removeEntry(path);
    found.push(folder);
  }
  return found;
}

/** Makes a submodule's `.git` again the file that git wrote there, or removes it; says whether it was something else. */
export async function mendSubmodules(worktree: Worktree, gitlinks: readonly string[]): Promise<boolean> {
  const folders = new Set(
    await realFolders(
      worktree,
      gitlinks.map((path) => `${path}/.git`),
    ),
  );
  let mended = false;
  for (const path of gitlinks) {
    if (!folders.has(path)) continue;
    const { path: file, kind } = entryAt(worktree, path, ".git");
    if (kind === "absent" || (kind === "file" && isOurs(worktree, path))) continue;
    await removeEntry(file);
    const folder = bytesOf(worktree, path).toString();
    // Git names the repository after the path unless told otherwise.
    const home = join(worktree.gitDir, "modules", Buffer.from(path, "latin1").toString());
    if (existsNoFollow(join(home, "HEAD")))
      writeFileAtomic(join(folder, ".git"), `gitdir: ${relative(folder, home)}\n`);
    mended = true;
  }
  return mended;
}

/** Whether the file names a repository in git's own folders, where an agent writes nothing. */
function isOurs(worktree: Worktree, path: string): boolean {
  const text = readTextNoFollow(bytesOf(worktree, path).toString(), ".git", 8192);
  const target = /^gitdir: (.+)\n?$/.exec(text ?? "")?.[1];
  if (target === undefined) return false;
  const named = resolve(bytesOf(worktree, path).toString(), target);
  return [worktree.gitDir, worktree.commonDir].some((home) => named.startsWith(`${join(home, "modules")}${sep}`));
}

/** Removes links that stand where a folder above a submodule was: git refuses to do anything with such a submodule. */
export async function removeLinksAbove(worktree: Worktree, gitlinks: readonly string[]): Promise<void> {
  for (const path of gitlinks) {
    const parts = path.split("/").slice(0, -1);
    for (let depth = 1; depth <= parts.length; depth += 1) {
      const folder = bytesOf(worktree, parts.slice(0, depth).join("/"));
      if (kindAt(folder) === "folder") continue;
      if (kindAt(folder) === "link") await removeEntry(folder);
      break;
    }
  }
}

/** Whether a path that is no submodule is a folder now: then only a repository makes git take it for a change. */
export function isRepositoryInstead(worktree: Worktree, path: string, gitlinks: ReadonlySet<string>): boolean {
  return !gitlinks.has(path) && kindAt(bytesOf(worktree, path)) === "folder";
}
