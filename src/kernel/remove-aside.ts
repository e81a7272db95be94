import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "./errors.ts";

/** Files that are removed while everybody waits; more than so many take longer than anything may stand still. */
export const MOST_AT_ONCE = 2000;

/** What folders are called that are out of the way and being removed. */
const REMOVED = ".prloom-removed-";

/** Moves what lies at a path out of the way, into `beside` on the same disk, and removes it there in the background. */
export function removeAside(path: string | Buffer, beside: string): void {
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
