import { lstatSync, readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { unlessRefused } from "../kernel/errors.ts";
import { existsNoFollow } from "../kernel/files.ts";
import { lstatIfThere } from "../kernel/lstat.ts";
import { gitProgram } from "./environment.ts";

interface PlainRepository {
  readonly root: string;
  readonly commonDir: string;
}

/** Settings that move the working tree, or without which these files are not all there is to know. */
const MOVED = /\b(?:worktree|extensions|include)|\bbare\b(?!\s*=\s*false\b)|repositoryformatversion(?!\s*=\s*0\s*$)/im;

const HEAD = /^(?:ref: refs\/heads\/\S+|[0-9a-f]{40})\n$/;

/**
 * The repository around a folder, where git's own files leave no doubt: a working tree of this user with an ordinary `.git`
 * at its top. A look costs no process. Undefined when only git can tell, and when there is no git to work with later.
 */
export function readPlainRepository(cwd: string): PlainRepository | undefined {
  return gitProgram() === undefined ? undefined : unlessRefused(() => nearest(realpathSync(cwd)));
}

function nearest(from: string): PlainRepository | undefined {
  const { dev } = statSync(from);
  for (let folder = from; ; folder = dirname(folder)) {
    const tree = statSync(folder);
    // Git stops at the border of a file system. What has a HEAD may be a git folder itself.
    if (tree.dev !== dev || existsNoFollow(join(folder, "HEAD"))) return undefined;
    const commonDir = join(folder, ".git");
    const found = lstatIfThere(commonDir);
    if (found) return isOurs(tree) && isOurs(found) && isPlain(commonDir) ? { root: folder, commonDir } : undefined;
    if (folder === dirname(folder)) return undefined;
  }
}

/** Git works in folders of others only if it is told to. */
function isOurs(folder: Stats): boolean {
  return folder.isDirectory() && folder.uid === process.geteuid?.();
}

function isPlain(gitDir: string): boolean {
  const read = (name: string): string | undefined =>
    lstatSync(join(gitDir, name)).isFile() ? readFileSync(join(gitDir, name), "utf8") : undefined;
  const config = read("config");
  return (
    config !== undefined &&
    !MOVED.test(config) &&
    HEAD.test(read("HEAD") ?? "") &&
    ["objects", "refs"].every((name) => lstatSync(join(gitDir, name)).isDirectory()) &&
    !existsNoFollow(join(gitDir, "commondir"))
  );
}
