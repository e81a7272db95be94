import { join, relative } from "node:path";
import { readmitWorktree } from "../git/worktree/readmit.ts";
import { repairGitFile, repairWorktree } from "../git/worktree/repair.ts";
import { isTreeOf, type Worktree } from "../git/worktree/worktrees.ts";
import { messageOf, PrloomError } from "../kernel/errors.ts";
import { existsNoFollow, readTextIfExists, writeFileAtomic } from "../kernel/files.ts";
import { placeFile } from "../kernel/held/files.ts";
import type { Ids } from "../kernel/ids.ts";
import { asFields } from "../kernel/json-fields.ts";
import { isSameFolder } from "../kernel/lstat.ts";
import { isWithin } from "../kernel/paths.ts";
import { shellWord } from "../kernel/text/words.ts";
import type { PlanRecord } from "../plan/record.ts";
import type { Reporting } from "./capabilities.ts";
import { type Located, type Paths, worktreeOf } from "./paths.ts";
import type { Records } from "./records.ts";
import type { Configured } from "./settings/pinned.ts";

/** Where the repository was when its owner looked last. Records name worktrees and processes by what they were there. */
interface RepositoryPlace {
  readonly id: string;
  readonly root: string;
  readonly commonDir: string;
}

const fileIn = (authority: string): string => join(authority, "place.json");

/** What cannot be looked at counts as not there. Checked by hand: status reads it each time. */
function readPlace(authority: string): RepositoryPlace | undefined {
  try {
    const { id, root, commonDir } = asFields(JSON.parse(readTextIfExists(fileIn(authority)) ?? ""));
    const isPlace = typeof id === "string" && typeof root === "string" && typeof commonDir === "string";
    return isPlace ? { id, root, commonDir } : undefined;
  } catch {
    return undefined;
  }
}

function writePlace({ authority, root, commonDir }: Paths, id: string): void {
  writeFileAtomic(fileIn(authority), `${JSON.stringify({ id, root, commonDir } satisfies RepositoryPlace)}\n`);
}

/** The repository that this one was copied from, `.git` and all, if it is still there: worktrees, runs and dispatcher on record are its own. */
export function copiedFrom({ authority, commonDir }: Paths): string | undefined {
  const place = readPlace(authority);
  if (!place || place.commonDir === commonDir) return undefined;
  const there = join(place.commonDir, "prloom");
  return readPlace(there)?.id === place.id && !isSameFolder(there, authority) ? place.root : undefined;
}

/** What is wrong with working in a copy, and what to do instead; undefined where this is none. */
export function copyProblem(paths: Paths): PrloomError | undefined {
  const from = copiedFrom(paths);
  if (from === undefined) return undefined;
  const given = [paths.authority, paths.local].map(shellWord).join(" ");
  return new PrloomError(
    "repository-copied",
    `This repository is a copy of ${from}: its plans have their worktrees and agents there.`,
    `Work on them in ${from}; if this is to take its place, move that one away first. For plans of its own, give up the records, inbox and worktrees of the copy: \`rm -r ${given}\`.`,
  );
}

/** Nothing of another repository's is changed from its copy. */
export function refuseCopy(paths: Paths): void {
  const problem = copyProblem(paths);
  if (problem) throw problem;
}

/** Where the repository was moved, what is on record moves with it. The new place is written last, so a kill makes it be done again. */
export async function settlePlace(loom: Located & Configured & Records & Reporting, ids: Ids): Promise<void> {
  const { paths } = loom;
  const place = readPlace(paths.authority);
  if (!place) return writePlace(paths, ids.random(16));
  if (place.commonDir === paths.commonDir && place.root === paths.root) return;
  if (isSameFolder(join(place.commonDir, "prloom"), paths.authority) && isSameFolder(place.root, paths.root)) return;
  for (const record of loom.store.list().records)
    await moveWorktree(loom, record, place).catch((error: unknown) => {
      const text = `its worktree ${record.worktree} was not found again after a move: ${messageOf(error)}`;
      loom.report({ planId: record.id, level: "warn", text });
    });
  loom.store.sync();
  writePlace(paths, place.id);
  loom.report({
    level: "info",
    text: `the repository was moved here from ${place.root}; its worktrees are found again`,
  });
}

async function moveWorktree(
  loom: Located & Configured & Records,
  record: PlanRecord,
  from: RepositoryPlace,
): Promise<void> {
  const { worktree: old, uid, revision } = record;
  if (old === undefined) return;
  const path = placeNow(old, from.root, loom.paths.root);
  if (path !== old) loom.store.put(uid, { ...record, worktree: path }, revision);
  const worktree = { ...worktreeOf(loom, record), path };
  const isOurs = isTreeOf(path, join(from.commonDir, "worktrees", worktree.name));
  const isKnown = existsNoFollow(worktree.gitDir);
  if (isOurs && isKnown) await repairWorktree(worktree);
  else if (isOurs) await readmitMoved(loom, worktree, record);
  // Git would keep the branch for a worktree that it thinks is elsewhere.
  else if (isKnown && record.worktreeName !== undefined)
    placeFile(worktree.gitDir, "gitdir", `${join(path, ".git")}\n`, 0o644);
}

/** `git worktree prune` was typed after the move. */
async function readmitMoved({ repo }: Located, worktree: Worktree, { branch = "" }: PlanRecord): Promise<void> {
  await repairGitFile(worktree);
  await readmitWorktree(repo, worktree, branch);
}

/** What lay in the repository went along with it; what lay elsewhere has stayed there, unless it went along as well. */
function placeNow(old: string, from: string, to: string): string {
  // Done before a kill.
  if (isWithin(old, to) && existsNoFollow(old)) return old;
  const path = join(to, relative(from, old));
  return isWithin(old, from) || (!existsNoFollow(old) && existsNoFollow(path)) ? path : old;
}
