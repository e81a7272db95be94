import { join, relative, resolve, sep } from "node:path";
import { existsNoFollow } from "../../kernel/files.ts";
import { placeFile, readInside } from "../../kernel/held/files.ts";
import { walkBelow } from "../../kernel/held/walk.ts";
import { takeTurns } from "../../kernel/turns.ts";
import { lined } from "../output.ts";
import { gitIn, type Worktree } from "../worktree/worktrees.ts";
import { withFolders, withinAny } from "./paths-above.ts";
import { hasRepositoryParts, type RepositoryShape, repositoryShapes, SHAPE_NAMES } from "./repository-shape.ts";
import { bytesOf, entryAt, kindAt, realFolders, removeEntry } from "./tree-entries.ts";

/*
 * A repository inside of a worktree has a configuration of its own, and that names programs: a person who types `git status` in the
 * worktree, a person after our own advice too, would run them. So an agent's repositories do not outlive its run: what makes a
 * folder a repository (its `.git`, or a HEAD among git's own files) is removed, and its files are ordinary ones.
 */

/** Removes every `.git` in a folder and below it; links are not followed. */
export async function removeRepositories(worktree: Worktree, folder: string): Promise<void> {
  const isGit = (name: string) => name.toLowerCase() === ".git";
  await walkBelow(worktree.path, Buffer.from(folder, "latin1"), (name) => (isGit(name) ? "remove" : "enter"));
}

/** Removes `.git` in folders that have files of the tree: git looks past it, but a git that is started there does not. */
export async function removeStrayRepositories(worktree: Worktree, folders: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const folder of folders) {
    await takeTurns();
    if (folder === "") continue;
    const { path, kind } = entryAt(worktree, folder, ".git");
    if (kind === "absent") continue;
    removeEntry(worktree, path);
    found.push(folder);
  }
  return found;
}

/**
 * What git would find in folders that have files of the tree and a HEAD: not everything there is listed, since git ignores
 * some of it and knows no empty folders.
 */
async function shapesOnDisk(worktree: Worktree, folders: readonly string[]): Promise<string[]> {
  const isThere = (path: string) => kindAt(bytesOf(worktree, path)) !== "absent";
  const found: string[] = [];
  for (const folder of folders) {
    await takeTurns();
    const at = (name: string) => (folder === "" ? name : `${folder}/${name}`);
    if (isThere(at("HEAD"))) found.push(...SHAPE_NAMES.map(at).filter(isThere));
  }
  return found;
}

interface Listed {
  readonly gone: readonly string[];
  readonly changed: readonly string[];
  readonly folders: readonly string[];
}

export interface FoundShapes {
  readonly all: readonly RepositoryShape[];
  /** Those whose end takes something out of the next commit. */
  readonly committed: readonly RepositoryShape[];
}

/** The folders that are repositories, or would be on some disk, and were none in the commit `from`. */
export async function findShapes(worktree: Worktree, from: string, listed: Listed): Promise<FoundShapes> {
  const found = await shapesOnDisk(worktree, listed.folders);
  if (found.length === 0 && !(await hasRepositoryParts(listed.changed))) return { all: [], committed: [] };
  const before = await filesOf(worktree, from);
  const [tracked, gone] = [new Set(before), new Set(listed.gone)];
  const changed = [...listed.changed, ...found.filter((entry) => !tracked.has(entry))];
  const after = [...before.filter((path) => !gone.has(path)), ...changed];
  const all = await repositoryShapes({ before, after, changed });
  if (all.length === 0) return { all, committed: [] };
  const inCommit = new Set(withFolders(listed.changed));
  return { all, committed: all.filter(({ entries }) => entries.some((entry) => inCommit.has(entry))) };
}

async function filesOf(worktree: Worktree, from: string): Promise<string[]> {
  const list = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", from];
  return (await gitIn(worktree, list, { encoding: "latin1" })).entries();
}

/** Makes of such folders what the commit has: entries that it has not are removed, settings are its own again. */
export async function dissolveShapes(
  worktree: Worktree,
  from: string,
  shapes: readonly RepositoryShape[],
): Promise<void> {
  const entries = shapes.flatMap((shape) => shape.entries);
  if (entries.length === 0) return;
  const before = await filesOf(worktree, from);
  const stays = new Set(before);
  // A file that the commit has is overwritten: removed, it would look like a deletion after a kill.
  for (const entry of entries) {
    await takeTurns();
    if (!stays.has(entry)) removeEntry(worktree, entry);
  }
  const again = before.filter(withinAny(entries));
  if (again.length === 0) return;
  const args = ["restore", `--source=${from}`, "--worktree", "--pathspec-from-file=-", "--pathspec-file-nul"];
  const env = { GIT_LITERAL_PATHSPECS: "1" };
  await gitIn(worktree, args, { input: lined(again), encoding: "latin1", env });
}

/** Makes a submodule's `.git` again the file that git wrote there, or removes it; returns whether it was something else. */
export async function repairSubmodules(worktree: Worktree, gitlinks: readonly string[]): Promise<boolean> {
  const folders = new Set(
    await realFolders(
      worktree,
      gitlinks.map((path) => `${path}/.git`),
    ),
  );
  let repaired = false;
  for (const path of gitlinks) {
    if (!folders.has(path)) continue;
    const { path: file, kind } = entryAt(worktree, path, ".git");
    if (kind === "absent" || (kind === "file" && isOurs(worktree, path))) continue;
    removeEntry(worktree, file);
    const folder = bytesOf(worktree, path).toString();
    // Git names the repository after the path unless told otherwise.
    const home = join(worktree.gitDir, "modules", Buffer.from(path, "latin1").toString());
    if (existsNoFollow(join(home, "HEAD")))
      placeFile(worktree.path, Buffer.from(file, "latin1"), `gitdir: ${relative(folder, home)}\n`, 0o644);
    repaired = true;
  }
  return repaired;
}

/** Whether the file names a repository in git's own folders, where an agent writes nothing. */
function isOurs(worktree: Worktree, path: string): boolean {
  const text = readInside(worktree.path, Buffer.from(`${path}/.git`, "latin1"), 8192);
  const target = /^gitdir: (.+)\n?$/.exec(text?.toString() ?? "")?.[1];
  if (target === undefined) return false;
  const named = resolve(bytesOf(worktree, path).toString(), target);
  return [worktree.gitDir, worktree.commonDir].some((home) => named.startsWith(`${join(home, "modules")}${sep}`));
}

/** Removes links that stand where a folder above a submodule was: git refuses to do anything with such a submodule. */
export async function removeLinksAbove(worktree: Worktree, gitlinks: readonly string[]): Promise<void> {
  for (const path of gitlinks) {
    const parts = path.split("/").slice(0, -1);
    for (let depth = 1; depth <= parts.length; depth += 1) {
      const folder = parts.slice(0, depth).join("/");
      const kind = kindAt(bytesOf(worktree, folder));
      if (kind === "folder") continue;
      if (kind === "link") removeEntry(worktree, folder);
      break;
    }
  }
}

/** Whether a path that is not a submodule is a folder now: then only a repository makes git take it for a change. */
export function isRepositoryInstead(worktree: Worktree, path: string, gitlinks: ReadonlySet<string>): boolean {
  return !gitlinks.has(path) && kindAt(bytesOf(worktree, path)) === "folder";
}
