import { dirname, join, relative } from "node:path";
import { ensureIgnored, type Repository } from "../git/repository.ts";
import { ensureDir } from "../kernel/files.ts";
import { ensureFolder, ensureLinkIn } from "../kernel/held/files.ts";
import { lstatIfThere } from "../kernel/lstat.ts";
import type { Paths } from "./paths.ts";

/** Makes the folders of the authority and the links under which the working tree shows them. */
export async function ensureLayout(repo: Repository, paths: Paths): Promise<void> {
  for (const dir of [paths.plans, paths.bus, paths.gates, join(paths.authority, "plugin-state-global")]) ensureDir(dir);
  ensureLinks(paths);
  await ensureIgnored(repo);
}

/**
 * The inbox, and the links by which people find the rest; a `git clean -xfd` of the checkout takes them away. A branch can bring
 * links and files under these names, and a person may keep plans in a folder of them: neither is ours to change or to remove.
 */
export function ensureLinks({ local, inbox, authority }: Paths): void {
  if ([local, inbox].some((path) => lstatIfThere(path)?.isDirectory() === false)) return;
  const top = dirname(local);
  ensureDir(top);
  ensureFolder(top, relative(top, inbox));
  for (const name of ["plans", "bus", "gates", "plugin-state-global"]) {
    const link = join(local, name);
    if (lstatIfThere(link)?.isSymbolicLink() !== false) ensureLinkIn(top, relative(top, link), join(authority, name));
  }
}
