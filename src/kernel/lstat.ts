import { lstatSync, type Stats } from "node:fs";
import { errnoOf, unlessRefused } from "./errors.ts";

/** What lies at a path, a link itself. Undefined when nothing does, also where a file is in the way: for that Node's own throws. */
export function lstatIfThere(path: string | Buffer): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (errnoOf(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Whether two paths lead to one folder: a container may see it at both. What cannot be looked at, behind closed doors or on a dead disk, is another. */
export function isSameFolder(one: string, other: string): boolean {
  const [first, second] = [one, other].map((path) => unlessRefused(() => lstatIfThere(path)));
  return first !== undefined && first.dev === second?.dev && first.ino === second.ino;
}
