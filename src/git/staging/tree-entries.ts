import { accessSync, constants, lstatSync, type Stats } from "node:fs";
import { errnoOf, isMissing, PrloomError } from "../../kernel/errors.ts";
import { ifThere, step, succeeds, unlockFile, withinParent } from "../../kernel/held/folder.ts";
import { removeFrom } from "../../kernel/removal/remove-held.ts";
import { takeTurns } from "../../kernel/turns.ts";
import type { Worktree } from "../worktree/worktrees.ts";
import { above } from "./paths-above.ts";

/** A path below a worktree as the system takes it; names are latin1 here, so byte for byte. */
export function bytesOf(worktree: Worktree, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${worktree.path}/`), Buffer.from(path, "latin1")]);
}

/**
 * Folders in which these paths lie, the top ("") first, as far as they really are folders: what a link leads to
 * is not part of the tree.
 */
export async function realFolders(worktree: Worktree, paths: Iterable<string>): Promise<string[]> {
  const known = new Map<string, boolean>([["", true]]);
  for (const path of paths) {
    const unknown: string[] = [];
    for (let folder = above(path); !known.has(folder); folder = above(folder)) unknown.push(folder);
    // From the top, and one at a time: one path may lie in two thousand folders, and each of them costs all those above it.
    for (const folder of unknown.reverse()) {
      await takeTurns();
      known.set(folder, known.get(above(folder)) === true && kindAt(bytesOf(worktree, folder)) === "folder");
    }
  }
  return [...known].filter(([, real]) => real).map(([folder]) => folder);
}

function statOf(path: Buffer): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (errnoOf(error) === "EACCES" || errnoOf(error) === "ENAMETOOLONG" || isMissing(error)) return undefined;
    throw error;
  }
}

/** What lies in a folder of the tree under a name, without following links. */
export function entryAt(worktree: Worktree, folder: string, name: string): { path: string; kind: EntryKind } {
  const path = folder === "" ? name : `${folder}/${name}`;
  return { path, kind: kindAt(bytesOf(worktree, path)) };
}

/** What lies at a path, without following a link there; what no path reaches is absent. */
export function kindAt(path: Buffer): EntryKind {
  const stat = statOf(path);
  if (stat === undefined) return "absent";
  if (stat.isFile()) return "file";
  if (stat.isDirectory()) return "folder";
  return stat.isSymbolicLink() ? "link" : "special";
}

/** `special`: a pipe, a socket or a device. Git cannot store it, and reading it may wait forever. */
export type EntryKind = "absent" | "file" | "folder" | "link" | "special";

/** Removes what lies at a path of the tree (latin1, as git's output has it), read-only folders included; follows no link. */
export function removeEntry(worktree: Worktree, path: string): void {
  removeFrom(worktree.path, Buffer.from(path, "latin1"));
}

/** Gives the owner back those of the files (latin1) that may not be read; returns whether there were any. */
export async function unlockFiles(worktree: Worktree, paths: readonly string[]): Promise<boolean> {
  let isAny = false;
  for (const path of paths) {
    await takeTurns();
    const below = Buffer.from(path, "latin1");
    if (ifThere(() => withinParent(worktree.path, below, step, unlockFile))) isAny = true;
  }
  return isAny;
}

/** One that another user made, in a container say, may stay shut. */
export function isReadable(worktree: Worktree, path: string): boolean {
  return succeeds(() => accessSync(bytesOf(worktree, path), constants.R_OK), ["EACCES", "ENOENT"]);
}

/** Git takes in less than half a gigabyte a second, and has two minutes for all. */
const MAX_FILE_BYTES = 64 * 1024 ** 3;

export function isHuge(worktree: Worktree, path: string): boolean {
  return (statOf(bytesOf(worktree, path))?.size ?? 0) > MAX_FILE_BYTES;
}

/** Refuses a file that git would be ended over: an agent makes one of any size within a moment, with nothing in it. */
export async function refuseHuge(worktree: Worktree, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await takeTurns();
    if (!isHuge(worktree, path)) continue;
    throw new PrloomError(
      "tree-too-large",
      `${Buffer.from(path, "latin1").toString("utf8")} is larger than ${MAX_FILE_BYTES / 1024 ** 3} GB: git cannot take it in.`,
      "`prloom unblock <plan> --reset` takes back what the agent made.",
    );
  }
}
