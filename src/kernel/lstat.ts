import { lstatSync, type Stats } from "node:fs";
import { errnoOf } from "./errors.ts";

/** What lies at a path, a link itself. Undefined when nothing does, also where a file is in the way: for that Node's own throws. */
export function lstatIfThere(path: string | Buffer): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (errnoOf(error) === "ENOTDIR") return undefined;
    throw error;
  }
}
