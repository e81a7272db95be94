import { chmodSync, lstatSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { errnoOf } from "../kernel/errors.ts";
import { removeTree } from "../kernel/remove-tree.ts";

export { removeTree };

const OWNER_ALL = 0o700;

/**
 * Gives the owner back every directory below a path; links are not followed. Folders so deep that no path leads to them
 * are removed: neither git nor we could ever read them, and git stumbles over them.
 */
export async function makeWritable(path: string | Buffer): Promise<void> {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return;
  if ((stat.mode & OWNER_ALL) !== OWNER_ALL) chmodSync(path, (stat.mode & 0o777) | OWNER_ALL);
  for (const entry of await readdir(path, { withFileTypes: true, encoding: "buffer" })) {
    if (!entry.isDirectory()) continue;
    try {
      await makeWritable(Buffer.concat([Buffer.from(path), Buffer.from("/"), entry.name]));
    } catch (error) {
      if (errnoOf(error) !== "ENAMETOOLONG") throw error;
      return removeTree(path);
    }
  }
}
