import { lstatSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { ensureIgnored, type Repository } from "../git/repository.ts";
import { ensureDir } from "../kernel/files.ts";
import { ensureFolder, ensureLinkIn } from "../kernel/held/files.ts";
import type { Paths } from "./paths.ts";

/** Makes the folders of the authority and the links under which the working tree shows them. */
export async function ensureLayout(repo: Repository, paths: Paths): Promise<void> {
  for (const dir of [
    paths.plans,
    paths.bus,
    join(paths.authority, "gates"),
    join(paths.authority, "plugin-state-global"),
  ])
    ensureDir(dir);
  ensureLinks(paths);
  await ensureIgnored(repo);
}

/** The inbox, and the links by which people find the rest; a `git clean -xfd` of the checkout takes them away. */
export function ensureLinks({ local, inbox, authority }: Paths): void {
  // A branch can bring a link under these names, and what it leads to is not ours to change.
  if ([local, inbox].some((path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())) return;
  const top = dirname(local);
  ensureDir(top);
  ensureFolder(top, relative(top, inbox));
  for (const name of ["plans", "bus", "gates", "plugin-state-global"])
    ensureLinkIn(top, relative(top, join(local, name)), join(authority, name));
}
