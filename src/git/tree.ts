import { chmodSync, lstatSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";

const OWNER_ALL = 0o700;

/** Gives the owner back every directory below a path; links are not followed. */
export function makeWritable(path: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return;
  if ((stat.mode & OWNER_ALL) !== OWNER_ALL) chmodSync(path, (stat.mode & 0o777) | OWNER_ALL);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) makeWritable(join(path, entry.name));
  }
}

/** Removes whatever is at a path: a link itself and not its target, and directories that were made read-only too. */
export async function removeTree(path: string): Promise<void> {
  const options = { recursive: true, force: true, maxRetries: 5 };
  try {
    await rm(path, options);
  } catch (error) {
    if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
    makeWritable(path);
    await rm(path, options);
  }
}
