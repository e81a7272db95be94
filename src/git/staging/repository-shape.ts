import { takeTurns } from "../../kernel/turns.ts";
import { above, withFolders } from "./paths-above.ts";

/*
 * A folder is a repository to git when it has a HEAD beside `objects` and `refs`, or beside `commondir`, which names a folder that
 * has those: no `.git` is needed, so ordinary files that are committed can be one. Git then runs what its settings say, for any person who
 * types `git status` there. What HEAD says is not looked at, since attributes and filters may change it in a checkout.
 */

/** Where a repository says what git is to run. */
const SETTINGS = ["config", "config.worktree", "commondir", "hooks"];
const SHAPE = ["head", "commondir", "objects", "refs"];
const PARTS = new Set([...SHAPE, ...SETTINGS]);
const PART = /(^|\/)(head|commondir|objects|refs|config|config\.worktree|hooks)(\/|$)/;

/** What git looks for in a folder, as it is written on a disk. */
export const SHAPE_NAMES = ["HEAD", "commondir", "objects", "refs"] as const;

/** Characters that a Mac's disk passes over, as git has them (`next_hfs_char`); other disks forget dots and spaces at the end. */
// Only from the first of a run: started again at each dot, a name of dots takes time quadratic in its length.
const PASSED_OVER = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]|(?<![. ])[. ]+(?=\/|$)/gu;

/** A path as the least particular disk takes it; paths of git's output are latin1 here, so byte for byte. */
export function onAnyDisk(path: string): string {
  if (!/[^ -~]|[. ](\/|$)/.test(path)) return path.toLowerCase();
  const text = Buffer.from(path, "latin1").toString("utf8");
  // Both ways: some letters (the long s) have only one of the two. A Mac's disk takes both forms of an accent for one.
  return text.replace(PASSED_OVER, "").toUpperCase().toLowerCase().normalize("NFD");
}

interface Folder {
  /** As it is written. */
  readonly path: string;
  /** Its entries that matter, by the name that disks give them. */
  readonly parts: Map<string, Set<string>>;
}

/** The folders that have parts of a repository, by the name that disks give them. */
async function foldersOf(paths: Iterable<string>): Promise<Map<string, Folder>> {
  const folders = new Map<string, Folder>();
  for (const entry of withFolders(paths)) {
    await takeTurns();
    const part = onAnyDisk(entry.slice(entry.lastIndexOf("/") + 1));
    if (!PARTS.has(part)) continue;
    const path = above(entry);
    const name = onAnyDisk(path);
    const folder = folders.get(name) ?? { path, parts: new Map() };
    folder.parts.set(part, (folder.parts.get(part) ?? new Set()).add(entry));
    folders.set(name, folder);
  }
  return folders;
}

function isRepository(folder: Folder | undefined): folder is Folder {
  const has = (part: string) => folder?.parts.has(part) ?? false;
  return has("head") && (has("commondir") || (has("objects") && has("refs")));
}

/** A folder that would be a repository, and the entries in it without which it is none, or is as harmless as before. */
export interface RepositoryShape {
  /** "" is the top. */
  readonly folder: string;
  readonly entries: readonly string[];
}

/** The same in words for people. */
export function inWords({ folder, entries }: RepositoryShape): RepositoryShape {
  const asText = (path: string) => Buffer.from(path, "latin1").toString("utf8");
  return { folder: asText(folder), entries: entries.map(asText) };
}

interface FileNames {
  /** All files of the commit before. */
  readonly before: readonly string[];
  /** All files of what comes after it. */
  readonly after: readonly string[];
  /** Those of them that are new or changed. */
  readonly changed: readonly string[];
}

/** Whether any of these files could be a part of a repository: if not, there is nothing to compare. */
export async function hasRepositoryParts(changed: readonly string[]): Promise<boolean> {
  for (const path of changed) {
    await takeTurns();
    if (PART.test(onAnyDisk(path))) return true;
  }
  return false;
}

/**
 * The folders that became repositories, and those that were some already (a project's test data) and whose settings
 * changed. Names alone decide, so that it holds on every disk.
 */
export async function repositoryShapes({ before, after, changed }: FileNames): Promise<RepositoryShape[]> {
  if (!(await hasRepositoryParts(changed))) return [];
  const was = await foldersOf(before);
  const touched = await foldersOf(changed);
  const shapes: RepositoryShape[] = [];
  for (const [name, folder] of await foldersOf(after)) {
    if (!touched.has(name) || !isRepository(folder)) continue;
    const known = was.get(name);
    const entries = isRepository(known) ? changedSettings(touched.get(name)) : newParts(known, folder);
    if (entries.length > 0) shapes.push({ folder: folder.path, entries });
  }
  return shapes;
}

function changedSettings(touched: Folder | undefined): string[] {
  return SETTINGS.flatMap((part) => [...(touched?.parts.get(part) ?? [])]);
}

/** A HEAD that is new is enough to take away: the rest may be the project's files. */
function newParts(known: Folder | undefined, { parts }: Folder): string[] {
  const added = SHAPE.filter((part) => parts.has(part) && !known?.parts.has(part));
  const [first] = added;
  return (first === "head" ? [first] : added).flatMap((part) => [...(parts.get(part) ?? [])]);
}
