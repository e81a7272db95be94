import { join } from "node:path";
import { ensureIgnored, type Repository } from "../git/repository.ts";
import { ensureDir, ensureLink } from "../kernel/files.ts";
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
export function ensureLinks(paths: Paths): void {
  ensureDir(paths.inbox);
  for (const name of ["plans", "bus", "gates", "plugin-state-global"]) {
    ensureLink(join(paths.local, name), join(paths.authority, name));
  }
}
