import { cpSync, existsSync, lstatSync, readdirSync } from "node:fs";
import { join, sep } from "node:path";
import { EVIDENCE } from "../paths.ts";

/** Most that is kept of one run's evidence. */
const MAX_FILES = 100;
const MAX_BYTES = 5 * 1024 * 1024;

/** Copies plain files that the agent left as evidence to the run's folder; links and folders are not followed. */
export function keepEvidence(worktree: string, runDir: string): void {
  let path = worktree;
  for (const part of EVIDENCE.split(sep)) {
    path = join(path, part);
    if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  }
  for (const name of readdirSync(path).sort().slice(0, MAX_FILES)) {
    const stat = lstatSync(join(path, name));
    if (!stat.isFile() || stat.size === 0 || stat.size > MAX_BYTES) continue;
    cpSync(join(path, name), join(runDir, "evidence", name));
  }
}

export function hasEvidence(runDir: string): boolean {
  const dir = join(runDir, "evidence");
  return existsSync(dir) && readdirSync(dir).length > 0;
}
