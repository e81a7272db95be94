import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { errnoOf, isMissing, unlessRefused } from "../../kernel/errors.ts";
import { listDir, readCheckedOut } from "../../kernel/files.ts";
import { fileVersion } from "../file-version.ts";

/**
 * The path with its folder's links resolved; the last component may not exist, or be a link that an agent made. As it is written
 * from where they lead nowhere: a worktree of a person may be on a disk that is away.
 */
export function canonical(path: string): string {
  const parent = dirname(resolve(path));
  return join(unlessRefused(() => realpathSync.native(parent)) ?? canonical(parent), basename(path));
}

/** What the records of worktrees say, with the versions of their files: every activation looks at all of them. */
let claims = new Map<string, Claim>();

interface Claim {
  readonly version: string;
  readonly text: string | undefined;
}

function readClaims(commonDir: string): typeof claims {
  const found: typeof claims = new Map();
  for (const name of listDir(join(commonDir, "worktrees"))) {
    const dir = join(commonDir, "worktrees", name);
    const claim = readClaim(dir);
    if (claim) found.set(dir, claim);
  }
  claims = found;
  return found;
}

/** Undefined where it may not be read, as of a worktree that another user made: it says nothing, and concerns no other plan. */
function readClaim(dir: string): Claim | undefined {
  const file = join(dir, "gitdir");
  try {
    const version = fileVersion(file);
    const known = claims.get(dir);
    return known?.version === version ? known : { version, text: readCheckedOut(file)?.trimEnd() };
  } catch (error) {
    if (isMissing(error)) return { version: "", text: undefined };
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}

/** Admin folders that claim the path, and those that a killed `git worktree add` for it left without a claim. */
export function adminDirsOf(commonDir: string, path: string): { claimed: string[]; halfMade: string[] } {
  const claimed: string[] = [];
  const halfMade: string[] = [];
  const stem = basename(path);
  for (const [dir, { text }] of readClaims(commonDir)) {
    const name = basename(dir);
    if (text) {
      const tree = dirname(resolve(dir, text));
      // By its name first, which asks nothing of the system.
      if (basename(tree) === stem && canonical(tree) === path) claimed.push(dir);
    } else if (name.startsWith(stem) && /^\d*$/.test(name.slice(stem.length))) halfMade.push(dir);
  }
  return { claimed, halfMade };
}
