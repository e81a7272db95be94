import { isUtf8 } from "node:buffer";
import { existsSync, lstatSync, readlinkSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { errnoOf, PrloomError } from "../../kernel/errors.ts";
import { existsNoFollow } from "../../kernel/files.ts";
import { ensureFolder, ensureLinkIn, placeCopy } from "../../kernel/held/files.ts";
import { lstatIfThere } from "../../kernel/lstat.ts";
import type { Reporting } from "../capabilities.ts";
import type { Located } from "../paths.ts";
import type { Configured } from "../settings/pinned.ts";

/**
 * Brings the files of `copyFiles` into a worktree: all of them when it is made (`fresh`), and what is missing before each
 * run, since taking back an interrupted run also takes files that git does not ignore.
 */
export async function copyFiles(
  loom: Located & Configured & Reporting,
  worktree: string,
  fresh: boolean,
): Promise<void> {
  for (const file of loom.config.copyFiles) {
    const inside = insideRepository(loom, file);
    const from = join(loom.paths.root, inside);
    if (!existsSync(from)) loom.report({ level: "warn", text: `copyFiles: ${file} does not exist` });
    else if (leadsThroughLink(worktree, inside) || leadsThroughLink(loom.paths.root, dirname(inside)))
      warnOfLink(loom, file);
    else if (fresh || !existsNoFollow(join(worktree, inside))) {
      await copyInto(loom, worktree, inside, from).catch((error: unknown) => {
        // Put there while we copied.
        if (!["ELOOP", "ENOTDIR"].includes(errnoOf(error) ?? "")) throw error;
        warnOfLink(loom, file);
      });
    }
  }
}

function warnOfLink(loom: Reporting, file: string): void {
  loom.report({ level: "warn", text: `copyFiles: ${file} leads through a link` });
}

/** A link stays one, and leads where the user's leads. */
async function copyInto(loom: Reporting, worktree: string, inside: string, from: string): Promise<void> {
  const stat = lstatSync(from);
  if (stat.isSymbolicLink()) ensureLinkIn(worktree, inside, resolve(dirname(from), readlinkSync(from)));
  else if (stat.isFile()) await placeCopy(worktree, inside, from);
  else if (stat.isDirectory()) {
    ensureFolder(worktree, inside);
    for (const bytes of await readdir(from, { encoding: "buffer" })) {
      const name = bytes.toString();
      if (isUtf8(bytes)) await copyInto(loom, worktree, join(inside, name), join(from, name));
      else
        loom.report({
          level: "warn",
          text: `copyFiles: the name of ${join(inside, name)} is not UTF-8; it is left out`,
        });
    }
  }
}

/** A path that leaves the repository is a mistake in the config; a file that is not there is none. */
function insideRepository(loom: Located, file: string): string {
  const inside = relative(loom.paths.root, resolve(loom.paths.root, file));
  if (inside !== "" && !inside.startsWith("..") && inside.split(sep)[0] !== ".git") return inside;
  throw new PrloomError(
    "config-invalid",
    `copyFiles names a path outside of the repository: ${file}`,
    "Name files inside of it in prloom/config.json, then run `prloom doctor`.",
  );
}

/**
 * An agent may have put a link where a folder of its worktree was: copying through it would write elsewhere. So may a
 * branch that is checked out, and what the link leads to is not the repository's.
 */
function leadsThroughLink(worktree: string, inside: string): boolean {
  const parts = inside.split(sep);
  return parts.some((_part, index) => {
    const path = join(worktree, ...parts.slice(0, index + 1));
    return lstatIfThere(path)?.isSymbolicLink() ?? false;
  });
}
