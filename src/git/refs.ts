import { join } from "node:path";
import { existsNoFollow, readTextIfExists, readTextNoFollow } from "../kernel/files.ts";
import { lstatIfThere } from "../kernel/lstat.ts";

const SHA = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/**
 * The commit that a branch names, read from git's own files: a look costs no process. "absent" when there is no such
 * branch; undefined when only git can tell (another ref storage, a symbolic ref, a file that is not what git writes).
 */
export function readTip(commonDir: string, branch: string): string | "absent" | undefined {
  if (existsNoFollow(join(commonDir, "reftable"))) return undefined;
  const ref = `refs/heads/${branch}`;
  if (existsNoFollow(join(commonDir, ref))) {
    const text = readTextNoFollow(commonDir, ref)?.trimEnd() ?? "";
    return SHA.test(text) ? text : undefined;
  }
  const packed = readTextIfExists(join(commonDir, "packed-refs")) ?? "";
  const at = packed.indexOf(` ${ref}\n`);
  if (at < 0) return packed.endsWith(` ${ref}`) ? undefined : "absent";
  const sha = packed.slice(packed.lastIndexOf("\n", at) + 1, at);
  return SHA.test(sha) ? sha : undefined;
}

/** The branch that a git folder's HEAD names; undefined when it is detached or only git can tell. */
export function readHeadBranch(gitDir: string): string | undefined {
  if (existsNoFollow(join(gitDir, "reftable")) || !lstatIfThere(join(gitDir, "HEAD"))?.isFile()) {
    return undefined;
  }
  return /^ref: refs\/heads\/(\S+)\n?$/.exec(readTextIfExists(join(gitDir, "HEAD")) ?? "")?.[1];
}
