import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "../../kernel/errors.ts";
import { diskError, ensureDir } from "../../kernel/files.ts";
import { listInside, readInside } from "../../kernel/held/files.ts";
import { takeTurns } from "../../kernel/turns.ts";
import { EVIDENCE } from "../paths.ts";

/** The most that is kept of one run's evidence; the home of a plan stays for good. */
const MAX_FILES = 100;
const MAX_BYTES = 20 * 1024 * 1024;
const MAX_FILE_BYTES = 5 * 1024 * 1024;
/** The most names that are read to choose from. */
const MAX_NAMES = 10_000;

/**
 * Copies plain files that the agent left as evidence to the run's folder; links and folders are not followed. What cannot be
 * copied, or is too much, is left: it says nothing about the work.
 */
export async function keepEvidence(worktree: string, runDir: string): Promise<void> {
  const names = listInside(worktree, EVIDENCE, MAX_NAMES).sort(Buffer.compare).slice(0, MAX_FILES);
  let left = MAX_BYTES;
  for (const name of names) {
    await takeTurns();
    // As bytes: a file name that an agent chose need not be valid UTF-8.
    const data = readInside(
      worktree,
      Buffer.concat([Buffer.from(`${EVIDENCE}/`), name]),
      Math.min(left, MAX_FILE_BYTES),
    );
    if (!data || data.length === 0) continue;
    keepOne(join(runDir, "evidence"), name.toString("utf8"), data);
    left -= data.length;
  }
}

function keepOne(folder: string, name: string, data: Buffer): void {
  try {
    ensureDir(folder);
    writeFileSync(join(folder, name), data);
  } catch (error) {
    const told = diskError(error, join(folder, name));
    if (told !== error || errnoOf(error) === undefined) throw told;
  }
}

export function hasEvidence(runDir: string): boolean {
  const dir = join(runDir, "evidence");
  return existsSync(dir) && readdirSync(dir).length > 0;
}
