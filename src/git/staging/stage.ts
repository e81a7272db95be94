import { join, posix } from "node:path";
import { isWithin } from "../../kernel/paths.ts";
import { takeTurns } from "../../kernel/turns.ts";
import { lined, splitNul } from "../output.ts";
import type { GitOptions } from "../run.ts";
import { gitIn, type Worktree } from "../worktree/worktrees.ts";
import { clearHidingFlags } from "./hiding-flags.ts";
import { takeMadeIndex } from "./made-index.ts";
import {
  dissolveShapes,
  type FoundShapes,
  findShapes,
  isRepositoryInstead,
  removeRepositories,
  removeStrayRepositories,
  repairSubmodules,
} from "./nested-repositories.ts";
import { withinAny } from "./paths-above.ts";
import { inBytes, isGitsOwn, isProtected, OURS, PROTECTED_PATHSPECS, settingsIn } from "./protected-paths.ts";
import { inWords, type RepositoryShape } from "./repository-shape.ts";
import { openFolders, removeUnreadableRules, unhindered } from "./rule-files.ts";
import { stageRaw } from "./stage-raw.ts";
import { bytesOf, kindAt, realFolders, refuseHuge, unlockFiles } from "./tree-entries.ts";

export interface StageTarget {
  readonly indexFile: string;
  /** The commit that the index starts from: what the agent staged itself has no say. */
  readonly from: string;
  /** It is the worktree's own index and HEAD: as git made them, there is nothing to read. */
  readonly mayBeMade?: true;
  /** Top-level relative paths to leave out. */
  readonly leaveOut: readonly string[];
  /** Whether what is protected is left out as well. */
  readonly leaveProtected?: boolean;
  /** What we copied in ourselves; that it is there does not count as a change. */
  readonly copied?: readonly string[];
  /** Takes the bytes of files as they are, without attributes and filters; links are left out. */
  readonly raw?: boolean;
  /** How long git may take for each of its answers. */
  readonly timeoutMs?: number;
}

export interface Staged {
  /** Folders in which the agent had made repositories; they are ordinary folders now. */
  readonly nested: string[];
  /** Files of git's own that would have made repositories of folders; they are out of the index and of the tree. */
  readonly refused: RepositoryShape[];
  /** Something in `prloom/` or among the settings of agent programs differs from what the index started from. */
  readonly protectedChanged: boolean;
}

interface TreeChanges {
  readonly gone: string[];
  readonly changed: string[];
}

interface Listing extends TreeChanges {
  /** Folders that are repositories and that the index does not know as submodules. */
  readonly nested: string[];
  /** Submodules that the index has. */
  readonly gitlinks: string[];
  /** Real folders with files that git looks at. */
  readonly folders: string[];
}

/** Git can store files and links; a pipe or socket in the place of a file leaves that file gone. */
function isStorable(worktree: Worktree, path: string): boolean {
  return ["file", "link", "folder"].includes(kindAt(bytesOf(worktree, path)));
}

const askChanges = (worktree: Worktree, options: GitOptions) =>
  Promise.all([
    gitIn(worktree, ["diff-files", "--name-status", "--no-renames", "--ignore-submodules=dirty", "-z"], options),
    gitIn(worktree, ["ls-files", "-t", "--stage", "--cached", "--others", "--exclude-standard", "-z"], options),
  ]);

/** Git only warns of a folder that it may not enter, and passes over what lies there: such folders are opened first. */
async function askAll(worktree: Worktree, options: GitOptions): ReturnType<typeof askChanges> {
  const answers = await askChanges(worktree, options);
  if (answers.every(({ stderr }) => stderr === "")) return answers;
  await openFolders(worktree);
  return askChanges(worktree, options);
}

/** How the tree differs from an index, path by path; names are latin1, so byte for byte. */
async function listChanges(worktree: Worktree, options: GitOptions): Promise<Listing> {
  const [diff, listed] = await askAll(worktree, options);
  const tracked: string[] = [];
  const others: string[] = [];
  const gitlinks = new Set<string>();
  for (const entry of await listed.entries()) {
    await takeTurns();
    const path = entry.startsWith("? ") ? entry.slice(2) : entry.slice(entry.indexOf("\t") + 1);
    if (entry.startsWith("? ")) others.push(path);
    else if (/^\S+ 160000 /.test(entry)) gitlinks.add(path);
    else tracked.push(path);
  }
  const result: TreeChanges & { nested: string[] } = { gone: [], changed: [], nested: [] };
  const fields = await diff.entries();
  for (let index = 0; index + 1 < fields.length; index += 2) {
    await takeTurns();
    const path = fields[index + 1] ?? "";
    const isGone = fields[index] === "D" || !isStorable(worktree, path);
    if (isGone) result.gone.push(path);
    else result[isRepositoryInstead(worktree, path, gitlinks) ? "nested" : "changed"].push(path);
  }
  // Only a repository of its own is listed as a folder.
  for (const path of others) {
    await takeTurns();
    if (path.endsWith("/")) result.nested.push(path.slice(0, -1));
    else result.changed.push(path);
  }
  return { ...result, gitlinks: [...gitlinks], folders: await realFolders(worktree, [...tracked, ...others]) };
}

/** Removing a repository may show others that lay behind it; more often than this nothing new can come. */
const PASSES = 3;

interface Cleared {
  readonly changes: TreeChanges;
  readonly nested: string[];
  readonly refused: RepositoryShape[];
}

/** The changes of a tree in which no repository is left but those of the commit `from`, submodules and others. */
async function treeChanges(worktree: Worktree, from: string, options: GitOptions): Promise<Cleared> {
  const nested = new Set<string>();
  const refused: RepositoryShape[] = [];
  for (let pass = 1; ; pass += 1) {
    const { listing, shapes } = await listWithShapes(worktree, from, options);
    const strays = await removeStrayRepositories(worktree, listing.folders);
    for (const folder of listing.nested) await removeRepositories(worktree, folder);
    const repaired = await repairSubmodules(worktree, listing.gitlinks);
    await dissolveShapes(worktree, from, shapes.all);
    // Not all in one call: an agent decides how many there are, and a call takes no more than some 100,000.
    for (const shape of shapes.committed) refused.push(shape);
    for (const folder of [...strays, ...listing.nested]) nested.add(folder);
    const known = new Set(refused.map(({ folder }) => folder));
    for (const { folder } of shapes.all) if (!known.has(folder)) nested.add(folder);
    const isSettled = listing.nested.length === 0 && !repaired && shapes.all.length === 0;
    if (isSettled || pass === PASSES) return { changes: listing, nested: [...nested], refused };
  }
}

async function listWithShapes(
  worktree: Worktree,
  from: string,
  options: GitOptions,
): Promise<{ listing: Listing; shapes: FoundShapes }> {
  const listing = await listChanges(worktree, options);
  const shapes = await findShapes(worktree, from, listing);
  if (shapes.all.length === 0) return { listing, shapes };
  // A file that was only touched is listed as well; the run is not to blame for that.
  await gitIn(worktree, ["update-index", "-q", "--refresh"], { ...options, allowExit: [1] });
  const exact = await listChanges(worktree, options);
  return { listing: exact, shapes: await findShapes(worktree, from, exact) };
}

/** Makes ordinary folders of the repositories that an agent made, on top of a commit, in a tree that will not be staged. */
export async function dissolveRepositories(worktree: Worktree, from: string): Promise<void> {
  await removeUnreadableRules(worktree, await realFolders(worktree, await clearHidingFlags(worktree)));
  await treeChanges(worktree, from, { encoding: "latin1" });
}

/**
 * Stages the whole tree into an index. Repositories that the agent made are ordinary folders afterwards, on disk too. Not
 * with `git add`, which fails on a nested repository without commits, on a pipe, and when a pathspec to leave out is an
 * ignored folder.
 */
export function stageInto(worktree: Worktree, target: StageTarget): Promise<Staged> {
  return unhindered(worktree, () => stageNow(worktree, target), target.from);
}

async function stageNow(worktree: Worktree, target: StageTarget): Promise<Staged> {
  const { timeoutMs } = target;
  const env = { GIT_INDEX_FILE: target.indexFile };
  const options = { env, encoding: "latin1", ...(timeoutMs === undefined ? {} : { timeoutMs }) } as const;
  const before = await clearHidingFlags(worktree, target.indexFile);
  await removeUnreadableRules(worktree, await realFolders(worktree, before));
  const isMade = target.mayBeMade && takeMadeIndex(worktree);
  if (!isMade) await gitIn(worktree, ["read-tree", "--reset", target.from], options);
  const { changes, nested, refused } = await treeChanges(worktree, target.from, options);
  const leaveOut = [...target.leaveOut.map(inBytes), ...refused.flatMap(({ entries }) => entries)];
  const isLeftOut = withinAny(leaveOut);
  const isKept = (path: string) =>
    !isGitsOwn(path) && !isLeftOut(path) && !(target.leaveProtected && isProtected(path));
  const update = async (flags: string[], paths: string[]) => {
    const args = ["update-index", ...flags, "-z", "--stdin"];
    if (paths.length > 0) await gitIn(worktree, args, { ...options, input: lined(paths) });
  };
  await update(["--force-remove"], await filtered(changes.gone, isKept));
  const changed = await filtered(changes.changed, isKept);
  if (!target.raw) await refuseHuge(worktree, changed);
  const stageChanged = () =>
    target.raw ? stageRaw(worktree, changed, options) : update(["--add", "--remove", "--replace"], changed);
  await stageChanged().catch(async (error: unknown) => {
    if (!(await unlockFiles(worktree, changed))) throw error;
    await stageChanged();
  });
  const spared = [`${OURS}/.local`, ...(target.copied ?? []).map(inBytes)];
  const isForeign = (path: string) => isProtected(path) && !spared.some((one) => isWithin(path, one));
  return {
    nested: nested.map((path) => Buffer.from(path, "latin1").toString("utf8")),
    refused: refused.map(inWords),
    protectedChanged: (await filtered([...changes.gone, ...changes.changed, ...nested], isForeign)).length > 0,
  };
}

/** As `filter`, while the others go on: an agent decides how many there are, and how long each is. */
async function filtered(paths: readonly string[], isWanted: (path: string) => boolean): Promise<string[]> {
  const wanted: string[] = [];
  for (const path of paths) {
    await takeTurns();
    if (isWanted(path)) wanted.push(path);
  }
  return wanted;
}

/**
 * Stages everything the agent did, except in the top-level `prloom/` and in settings of agent programs, which stay as HEAD
 * has them. Call it after `headState`, and after the agent's commits were folded. `leaveOut` are further paths, such as
 * files that we copied in.
 */
export async function stageAll(worktree: Worktree, leaveOut: readonly string[] = []): Promise<Staged> {
  const indexFile = join(worktree.gitDir, "index");
  const target = {
    indexFile,
    from: "HEAD",
    mayBeMade: true,
    leaveOut,
    leaveProtected: true,
    copied: leaveOut,
  } as const;
  const staged = await stageInto(worktree, target);
  if (staged.protectedChanged) return staged;
  return { ...staged, protectedChanged: await hasIgnoredSettings(worktree, leaveOut) };
}

const literal = (paths: readonly string[]) => paths.map((path) => `:(literal)${path}`);

/** Files that people keep to themselves (`settings.local.json`) are ignored by git, and programs read them all the same. */
async function hasIgnoredSettings(worktree: Worktree, leaveOut: readonly string[]): Promise<boolean> {
  const there = await settingsIn(worktree);
  if (there.length === 0) return false;
  const args = ["ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--", ...literal(there)];
  const { stdout } = await gitIn(worktree, args);
  return splitNul(stdout).some((path) => !leaveOut.some((out) => isWithin(path, posix.join(out, "."))));
}

/**
 * Puts `prloom/` and the settings of agent programs back to what HEAD has. Ignored files of `prloom/`, `.local` among them,
 * stay; of settings only what is in `leaveOut`.
 */
export async function restoreProtected(worktree: Worktree, leaveOut: readonly string[] = []): Promise<void> {
  await gitIn(worktree, ["reset", "--quiet", "HEAD", "--", ...PROTECTED_PATHSPECS]);
  const tracked = await gitIn(worktree, ["ls-files", "-z", "--", ...PROTECTED_PATHSPECS], { encoding: "latin1" });
  if (tracked.stdout !== "") {
    const again = ["checkout-index", "--index", "--force", "-z", "--stdin"];
    await gitIn(worktree, again, { input: tracked.stdout, encoding: "latin1" });
  }
  await gitIn(worktree, ["clean", "--quiet", "-ffd", "-e", `/${OURS}/.local`, "--", `:(top,icase)${OURS}`]);
  await clearHostSettings(worktree, leaveOut);
}

/** Removes settings of agent programs that are not from the base commit, ignored ones too. */
export async function clearHostSettings(worktree: Worktree, leaveOut: readonly string[] = []): Promise<void> {
  const there = await settingsIn(worktree);
  if (there.length === 0) return;
  await removeUnreadableRules(worktree, ["", ...there]);
  const spared = leaveOut.flatMap((path) => ["-e", `/${posix.join(path, ".")}`]);
  await gitIn(worktree, ["clean", "--quiet", "-ffdx", ...spared, "--", ...literal(there)]);
}
