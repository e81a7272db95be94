import { spawn } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  opendirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  unlinkSync,
} from "node:fs";
import { join } from "node:path";
import { errnoOf } from "./errors.ts";

/** Files that are removed while everybody waits; more than so many take longer than anything may stand still. */
export const MOST_AT_ONCE = 2000;

/** What folders are called that are out of the way and being removed. */
const REMOVED = ".prloom-removed-";

/**
 * Removes what lies at a path, read-only folders included (module caches make them), as long as `budget` lasts; says whether
 * it is gone. Links are removed, not followed. What no path reaches stays.
 */
export function removeSome(path: string, budget: { left: number }): boolean {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return true;
    budget.left -= 1;
    if (budget.left < 0) return false;
    if (!stat.isDirectory()) unlinkSync(path);
    else return removeFolder(path, budget);
    return true;
  } catch (error) {
    if (["ENAMETOOLONG", "ENOTEMPTY", "EACCES", "EPERM"].includes(errnoOf(error) ?? "")) return false;
    throw error;
  }
}

function removeFolder(path: string, budget: { left: number }): boolean {
  chmodSync(path, 0o700);
  const folder = opendirSync(path, { encoding: "latin1" });
  try {
    for (let entry = folder.readSync(); entry; entry = folder.readSync()) {
      const name = Buffer.from(entry.name, "latin1");
      // A name that is no text cannot be part of a path here; `rm` knows how.
      if (!name.equals(Buffer.from(name.toString("utf8")))) return false;
      if (!removeSome(join(path, name.toString("utf8")), budget)) return false;
    }
  } finally {
    folder.closeSync();
  }
  rmdirSync(path);
  return true;
}

/** Moves what lies at a path out of the way, into `beside` on the same disk, and removes it there in the background. */
export function removeAside(path: string, beside: string): void {
  try {
    const aside = mkdtempSync(join(beside, REMOVED));
    renameSync(path, join(aside, "removed"));
    removeInBackground(aside);
  } catch (error) {
    if (!["EXDEV", "EACCES", "EROFS"].includes(errnoOf(error) ?? "")) throw error;
    // Another disk, or a folder that is not ours: then everybody waits.
    rmSync(path, { recursive: true, force: true });
  }
}

const swept = new Set<string>();

/** Removes what a killed process had put out of the way here; looks once in the life of this process. */
export function sweepRemoved(beside: string): void {
  if (swept.has(beside)) return;
  swept.add(beside);
  for (const name of readdirSync(beside)) if (name.startsWith(REMOVED)) removeInBackground(join(beside, name));
}

/** By a program of its own: it goes down folder by folder, so no path is too long for it, and nobody waits for it. */
function removeInBackground(path: string): void {
  const child = spawn("rm", ["-rf", "--", path], { cwd: "/", stdio: "ignore", detached: true });
  // Then it stays until the next start; it is in nobody's way.
  child.on("error", () => undefined);
  child.unref();
}
