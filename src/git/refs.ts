import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { errnoOf } from "../kernel/errors.ts";
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

/** Names that are the same on every disk, and that git takes without a doubt. */
const PLAIN_NAME = /^\w[\w-]*(?:\/\w[\w-]*)*$/;

/**
 * Makes a branch as git does, in a file that is a lock until it gets its name. False, and nothing was made: something has the name, a part of it or a
 * name below it, or only git can tell.
 */
export function createBranch(commonDir: string, branch: string, sha: string): boolean {
  if (!PLAIN_NAME.test(branch) || !SHA.test(sha)) return false;
  const file = join(commonDir, "refs", "heads", branch);
  const lock = `${file}.lock`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(lock, `${sha}\n`, { flag: "wx" });
  } catch (error) {
    if (!["EEXIST", "ENOTDIR"].includes(errnoOf(error) ?? "")) throw error;
    return false;
  }
  const isFree = readTip(commonDir, branch) === "absent" && !isBesidePacked(commonDir, branch);
  if (isFree) renameSync(lock, file);
  else rmSync(lock);
  return isFree;
}

/** Whether a packed ref has the name of a folder that the branch would lie in, or lies in the folder that it would be. */
function isBesidePacked(commonDir: string, branch: string): boolean {
  const packed = `${readTextIfExists(join(commonDir, "packed-refs")) ?? ""}\n`;
  const parts = branch.split("/");
  const above = parts.slice(1).map((_, at) => ` refs/heads/${parts.slice(0, at + 1).join("/")}\n`);
  return packed.includes(` refs/heads/${branch}/`) || above.some((line) => packed.includes(line));
}
