import { copyFileSync, existsSync, lstatSync, mkdirSync, opendirSync, readdirSync } from "node:fs";
import { join, sep } from "node:path";
import { errnoOf } from "../../kernel/errors.ts";
import { diskError } from "../../kernel/files.ts";
import { EVIDENCE } from "../paths.ts";

/** Most that is kept of one run's evidence. */
const MAX_FILES = 100;
const MAX_BYTES = 5 * 1024 * 1024;
/** Most names that are read to choose from. */
const MAX_NAMES = 10_000;

/**
 * Copies plain files that the agent left as evidence to the run's folder; links and folders are not followed. What cannot be
 * copied is left: it says nothing about the work.
 */
export function keepEvidence(worktree: string, runDir: string): void {
  let path = worktree;
  for (const part of EVIDENCE.split(sep)) {
    path = join(path, part);
    if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  }
  for (const name of namesIn(path).sort(Buffer.compare).slice(0, MAX_FILES)) {
    const from = Buffer.concat([Buffer.from(`${path}/`), name]);
    const stat = lstatSync(from, { throwIfNoEntry: false });
    if (!stat?.isFile() || stat.size === 0 || stat.size > MAX_BYTES) continue;
    copyOne(from, join(runDir, "evidence"), name.toString("utf8"));
  }
}

/** As bytes: an agent can give a name that is no text. */
function namesIn(path: string): Buffer[] {
  const names: Buffer[] = [];
  const folder = opendirSync(path, { encoding: "buffer" as BufferEncoding });
  try {
    for (let entry = folder.readSync(); entry && names.length < MAX_NAMES; entry = folder.readSync()) {
      names.push(Buffer.from(entry.name));
    }
  } finally {
    folder.closeSync();
  }
  return names;
}

function copyOne(from: Buffer, folder: string, name: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    copyFileSync(from, join(folder, name));
  } catch (error) {
    const told = diskError(error, join(folder, name));
    if (told !== error || errnoOf(error) === undefined) throw told;
  }
}

export function hasEvidence(runDir: string): boolean {
  const dir = join(runDir, "evidence");
  return existsSync(dir) && readdirSync(dir).length > 0;
}
