import { basename, dirname } from "node:path";
import { walkBelow } from "../../kernel/held/walk.ts";

/**
 * Gives the owner back every directory below a path; links are not followed. Folders so deep that no program works in them
 * are removed: git stumbles over them.
 */
export async function makeWritable(path: string): Promise<void> {
  await walkBelow(dirname(path), basename(path), () => "enter");
}
