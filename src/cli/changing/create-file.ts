import { linkSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { errnoOf } from "../../kernel/errors.ts";
import { diskError, writeFileAtomic } from "../../kernel/files.ts";

/** Writes a file that must not exist yet, wholly or not at all; false when something is there already. */
export function createFile(path: string, text: string): boolean {
  const draft = join(dirname(path), `.${basename(path)}.${process.pid}.new`);
  try {
    writeFileAtomic(draft, text);
    linkSync(draft, path);
    return true;
  } catch (error) {
    const code = errnoOf(error);
    if (code === "EEXIST") return false;
    if (code === "EPERM" || code === "ENOTSUP" || code === "EOPNOTSUPP") return createWithoutLinks(path, text);
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** For file systems that have no hard links. */
function createWithoutLinks(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: "wx" });
    return true;
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return false;
    throw diskError(error, path);
  }
}
