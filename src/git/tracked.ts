import { lstatSync } from "node:fs";
import { join } from "node:path";
import { gitAt, type Repository } from "./repository.ts";

interface Tracked {
  readonly key: string;
  readonly files: ReadonlySet<string>;
}

const known = new WeakMap<Repository, Map<string, Tracked>>();

/** Git writes an index beside the old one and puts it in its place, so another one is another file. */
function indexKey({ commonDir }: Repository): string {
  const stat = lstatSync(join(commonDir, "index"), { bigint: true, throwIfNoEntry: false });
  return stat ? [stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(" ") : "";
}

/** The files below a folder of the main working tree that git tracks, absolute. Git is asked again when its index has changed. */
export async function trackedIn(repo: Repository, folder: string): Promise<ReadonlySet<string>> {
  const key = indexKey(repo);
  const folders = known.get(repo) ?? new Map<string, Tracked>();
  known.set(repo, folders);
  const before = folders.get(folder);
  if (before?.key === key) return before.files;
  const listed = await gitAt(repo, ["ls-files", "-z", "--", folder], { workTree: repo.root });
  const files = new Set((await listed.entries()).map((path) => join(repo.root, path)));
  folders.set(folder, { key, files });
  return files;
}
