import { mkdtempSync, readdirSync, readlinkSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { errnoOf } from "../errors.ts";
import { removeTree } from "./remove-tree.ts";

/** What folders are called that are out of the way and being removed. */
const REMOVED = ".prloom-removed-";

/**
 * Takes what lies at a path out of the way at once, into `beside`, and removes it there while everything else goes on: what is in
 * it, and so how long that takes, was an agent's choice. On another disk, or where `beside` is not ours, it stays next to
 * where it was.
 */
export function removeAside(path: string | Buffer, beside: string): void {
  try {
    moveAside(path, beside);
  } catch (error) {
    const code = errnoOf(error) ?? "";
    if (code === "ENOENT") return;
    const around = folderOf(path);
    if (!["EXDEV", "EACCES", "EROFS"].includes(code) || beside === around) throw error;
    moveAside(path, around);
  }
}

/** Of a path in a folder that is held open, where that is: the removal goes on when it is held no more. */
function folderOf(path: string | Buffer): string {
  const around = dirname(path.toString());
  return /^\/proc\/self\/fd\/\d+$/.test(around) ? readlinkSync(around) : around;
}

function moveAside(path: string | Buffer, beside: string): void {
  const aside = mkdtempSync(join(beside, REMOVED));
  try {
    renameSync(path, join(aside, "removed"));
  } finally {
    removeInBackground(aside);
  }
}

const swept = new Set<string>();

/** Removes what a killed process had put out of the way here; looks once in the life of this process. */
export function sweepRemoved(beside: string): void {
  if (swept.has(beside)) return;
  swept.add(beside);
  for (const name of readdirSync(beside)) if (name.startsWith(REMOVED)) removeInBackground(join(beside, name));
}

/** What cannot be removed stays until the next process tries; it is not in the way. */
function removeInBackground(path: string): void {
  removeTree(path).catch(() => undefined);
}
