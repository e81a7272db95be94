import { closeSync, constants, mkdirSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { errnoOf, unlessRefused } from "../kernel/errors.ts";
import { existsNoFollow, readCheckedOut, readTextNoFollow } from "../kernel/files.ts";
import { lstatIfThere } from "../kernel/lstat.ts";
import { MAX_FILE_BYTES } from "../kernel/own-file.ts";

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
  const packed = readCheckedOut(join(commonDir, "packed-refs"), MAX_FILE_BYTES) ?? "";
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
  return /^ref: refs\/heads\/(\S+)\n?$/.exec(readCheckedOut(join(gitDir, "HEAD")) ?? "")?.[1];
}

/** Names that are the same on every disk, and that git takes without a doubt. */
const PLAIN_NAME = /^\w[\w-]*(?:\/\w[\w-]*)*$/;

/**
 * Makes a branch as git does. False, and nothing was made: something has the name, a part of it or a name below it, or only git can
 * tell.
 */
export function createBranch(commonDir: string, branch: string, sha: string): boolean {
  const isFree = () => readTip(commonDir, branch) === "absent" && !isBesidePacked(commonDir, branch);
  return writeLocked({ commonDir, branch }, sha, isFree);
}

export interface BranchMove {
  readonly from: string;
  readonly to: string;
  /** Who, when and why, as git writes it. */
  readonly log: string;
}

/** Moves a branch that is a file of its own from one commit to another, as git does. False, and nothing was changed: only git can do it. */
export function moveBranch(
  where: { readonly commonDir: string; readonly gitDir: string; readonly branch: string },
  { from, to, log }: BranchMove,
): boolean {
  const { commonDir, gitDir, branch } = where;
  return writeLocked(where, to, () => {
    const isThere = existsNoFollow(join(commonDir, "refs", "heads", branch)) && readTip(commonDir, branch) === from;
    const logs = [join(gitDir, "logs", "HEAD"), join(commonDir, "logs", "refs", "heads", branch)] as const;
    return isThere && writeLogs(logs, `${from} ${to} ${log}\n`);
  });
}

// A pipe in the place of a log would be waited for.
const TO_APPEND =
  constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Agents without a sandbox can put a link there: that one is passed over. */
function appendTo(file: string, line: string): void {
  mkdirSync(dirname(file), { recursive: true });
  try {
    const fd = openSync(file, TO_APPEND, 0o666);
    try {
      writeSync(fd, line);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (errnoOf(error) !== "ELOOP") throw error;
  }
}

/** The log of HEAD tells whether logs are kept. False: something is in their way, and git knows more of that. */
function writeLogs([ofHead, ofBranch]: readonly [string, string], line: string): boolean {
  if (!lstatIfThere(ofHead)?.isFile()) return true;
  return unlessRefused(() => [ofBranch, ofHead].map((file) => appendTo(file, line))) !== undefined;
}

/** Something has the name or a part of it; a git that clears up has just removed a folder that was empty; or it is another user's. */
const FOR_GIT = ["EEXIST", "ENOTEMPTY", "ENOTDIR", "ENOENT", "EXDEV", "EACCES", "EPERM", "EROFS"];

/** Whether git gets over what kept us from writing a file of its own, or has words for it that people know. */
export function isForGit(error: unknown): boolean {
  return FOR_GIT.includes(errnoOf(error) ?? "");
}

/** Into a file that is a lock for every git until it gets the branch's name; unless, with the lock held, it may not be. */
function writeLocked(
  { commonDir, branch }: { readonly commonDir: string; readonly branch: string },
  sha: string,
  mayBe: () => boolean,
): boolean {
  if (!PLAIN_NAME.test(branch) || !SHA.test(sha)) return false;
  const file = join(commonDir, "refs", "heads", branch);
  const lock = `${file}.lock`;
  const fd = openNew(lock);
  if (fd === undefined) return false;
  let isWritten = false;
  try {
    writeFileSync(fd, `${sha}\n`);
    if (!mayBe()) return false;
    renameSync(lock, file);
    isWritten = true;
    return true;
  } finally {
    closeSync(fd);
    if (!isWritten) rmSync(lock, { force: true });
  }
}

function openNew(file: string): number | undefined {
  try {
    mkdirSync(dirname(file), { recursive: true });
    return openSync(file, "wx");
  } catch (error) {
    if (!isForGit(error)) throw error;
    return undefined;
  }
}

/** Whether a packed ref has the name of a folder that the branch would lie in, or lies in the folder that it would be. */
function isBesidePacked(commonDir: string, branch: string): boolean {
  const packed = `${readCheckedOut(join(commonDir, "packed-refs"), MAX_FILE_BYTES) ?? ""}\n`;
  const parts = branch.split("/");
  const above = parts.slice(1).map((_, at) => ` refs/heads/${parts.slice(0, at + 1).join("/")}\n`);
  return packed.includes(` refs/heads/${branch}/`) || above.some((line) => packed.includes(line));
}
