import { dirname, join, relative, sep } from "node:path";
import { PrloomError } from "../kernel/errors.ts";
import { fileVersion } from "./file-version.ts";
import { gitAt, type Repository } from "./repository.ts";

interface Tracked {
  readonly key: string;
  readonly files: Promise<ReadonlySet<string>>;
}

const known = new WeakMap<Repository, Map<string, Tracked>>();

/** The files below a folder of the main working tree that git tracks, absolute. Git is asked again when its index has changed. */
export function trackedIn(repo: Repository, folder: string): Promise<ReadonlySet<string>> {
  const key = fileVersion(join(repo.commonDir, "index"));
  const folders = known.get(repo) ?? new Map<string, Tracked>();
  known.set(repo, folders);
  const before = folders.get(folder);
  if (before?.key === key) return before.files;
  // Many plans ask at the same moment when a dispatcher starts.
  const files = listTracked(repo, folder);
  folders.set(folder, { key, files });
  files.catch(() => folders.delete(folder));
  return files;
}

async function listTracked(repo: Repository, folder: string): Promise<ReadonlySet<string>> {
  const listed = await gitAt(repo, ["ls-files", "-z", "--", folder], { workTree: repo.root });
  return new Set((await listed.entries()).map((path) => join(repo.root, path)));
}

/**
 * Why nothing may be written to a path: it is behind a folder that git tracks as an entry of its own, a link or a submodule. A branch
 * brought it, and what it leads to is not ours. A link that git does not track was made by a person here.
 */
export async function whyBrought(repo: Repository, path: string): Promise<string | undefined> {
  const inside = relative(repo.root, path);
  const [top = ""] = inside.split(sep);
  // Nothing brought is above what lies elsewhere.
  if (top === "" || top === ".." || inside === top) return undefined;
  const tracked = await trackedIn(repo, join(repo.root, top));
  for (let folder = dirname(path); folder !== repo.root; folder = dirname(folder))
    if (tracked.has(folder)) return `${folder} is part of the branch that is checked out, and leads elsewhere.`;
  return undefined;
}

export async function refuseBrought(repo: Repository, path: string): Promise<void> {
  const reason = await whyBrought(repo, path);
  if (reason === undefined) return;
  throw new PrloomError("plan-state", reason, "Check out another branch, then try again, or unblock the plan.");
}
