import { lstatSync } from "node:fs";
import { join, posix } from "node:path";
import { existsNoFollow, readTextNoFollow } from "../kernel/files.ts";
import { splitNul } from "./run.ts";
import { removeTree } from "./tree.ts";
import { gitIn, type Worktree } from "./worktrees.ts";

/** Our own top-level folder. */
const OURS = "prloom";

/**
 * Top-level files and folders from which agent programs take settings, hooks and tools. What an agent writes there would
 * decide about the next run, so for every run they are what the base commit has.
 */
const HOST_SETTINGS = [".opencode", ".claude", ".codex", ".gemini", "opencode.json", "opencode.jsonc", ".mcp.json"];

/** Never committed by prloom. */
const PROTECTED = [OURS, ...HOST_SETTINGS];

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

/** Forgets flags that hide changes (assume-unchanged, skip-worktree), and an index that git cannot read. */
export async function clearHidingFlags(worktree: Worktree, indexFile = join(worktree.gitDir, "index")): Promise<void> {
  const options = { env: { GIT_INDEX_FILE: indexFile }, encoding: "latin1" } as const;
  const listed = await gitIn(worktree, ["ls-files", "-v", "-z"], { ...options, allowExit: [128] });
  if (listed.code !== 0) {
    await removeTree(indexFile);
    return;
  }
  const hidden = splitNul(listed.stdout).filter((line) => !/^[HM]/.test(line));
  if (hidden.length === 0) return;
  const input = hidden.map((line) => `${line.slice(2)}\0`).join("");
  for (const flag of ["--no-assume-unchanged", "--no-skip-worktree"]) {
    await gitIn(worktree, ["update-index", "-z", flag, "--stdin"], { ...options, input });
  }
}

/** Paths that `.gitmodules` declares, so that a repository there is a submodule and not a stray one. */
async function declaredSubmodules(worktree: Worktree): Promise<Set<string>> {
  const text = readTextNoFollow(worktree.path, ".gitmodules");
  if (text === undefined) return new Set();
  const args = ["config", "-z", "--file", "-", "--get-regexp", "^submodule\\..*\\.path$"];
  const found = await gitIn(worktree, args, {
    input: Buffer.from(text).toString("latin1"),
    encoding: "latin1",
    allowExit: [1, 3, 128],
  });
  return new Set(splitNul(found.stdout).map((entry) => entry.slice(entry.indexOf("\n") + 1)));
}

export interface StageTarget {
  readonly indexFile: string;
  /** The commit that the index starts from: what the agent staged itself has no say. */
  readonly from: string;
  /** Top-level relative paths to leave out. */
  readonly leaveOut: readonly string[];
  /** Of these, what we copied in ourselves: that it is there is no change. */
  readonly copied?: readonly string[];
}

export interface Staged {
  /** Repositories that the agent made inside the tree: their content cannot be committed. */
  readonly nested: string[];
  /** Something in `prloom/` or among the settings of agent programs differs from what the index started from. */
  readonly protectedChanged: boolean;
}

interface TreeChanges {
  readonly gone: string[];
  readonly changed: string[];
  readonly nested: string[];
}

/** Git can store files and links; a pipe or socket in the place of a file leaves that file gone. */
function isStorable(worktree: Worktree, path: string): boolean {
  const bytes = Buffer.concat([Buffer.from(`${worktree.path}/`), Buffer.from(path, "latin1")]);
  const stat = lstatSync(bytes, { throwIfNoEntry: false });
  return stat !== undefined && (stat.isFile() || stat.isSymbolicLink() || stat.isDirectory());
}

/** How the tree differs from an index, path by path; names are latin1, so byte for byte. */
async function treeChanges(worktree: Worktree, indexFile: string): Promise<TreeChanges> {
  const options = { env: { GIT_INDEX_FILE: indexFile }, encoding: "latin1" } as const;
  const [declared, diff, others] = await Promise.all([
    declaredSubmodules(worktree),
    gitIn(worktree, ["diff-files", "--name-status", "--no-renames", "--ignore-submodules=dirty", "-z"], options),
    gitIn(worktree, ["ls-files", "--others", "--exclude-standard", "-z"], options),
  ]);
  const result: TreeChanges = { gone: [], changed: [], nested: [] };
  const fields = splitNul(diff.stdout);
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const path = fields[index + 1] ?? "";
    const isGone = fields[index] === "D" || !isStorable(worktree, path);
    result[isGone ? "gone" : "changed"].push(path);
  }
  for (const entry of splitNul(others.stdout)) {
    // Only a repository of its own is listed as a folder.
    const path = entry.replace(/\/$/, "");
    const isNested = path !== entry && !declared.has(path);
    result[isNested ? "nested" : "changed"].push(path);
  }
  return result;
}

/**
 * Stages the whole tree into an index; returns the nested repositories it left out. Not with `git add`, which fails on
 * a nested repository without commits, on a pipe, and when a pathspec to leave out is an ignored folder.
 */
export async function stageInto(worktree: Worktree, target: StageTarget): Promise<Staged> {
  const options = { env: { GIT_INDEX_FILE: target.indexFile }, encoding: "latin1" } as const;
  await clearHidingFlags(worktree, target.indexFile);
  await gitIn(worktree, ["read-tree", "--reset", target.from], options);
  const { gone, changed, nested } = await treeChanges(worktree, target.indexFile);
  const inBytes = (path: string) => Buffer.from(posix.join(path, ".")).toString("latin1");
  const leaveOut = target.leaveOut.map(inBytes);
  const isKept = (path: string) => !leaveOut.some((out) => isWithin(path, out));
  const update = async (flags: string[], paths: string[]) => {
    const input = paths
      .filter(isKept)
      .map((path) => `${path}\0`)
      .join("");
    if (input !== "") await gitIn(worktree, ["update-index", ...flags, "-z", "--stdin"], { ...options, input });
  };
  await update(["--force-remove"], gone);
  await update(["--add", "--remove", "--replace"], changed);
  const spared = [`${OURS}/.local`, ...(target.copied ?? []).map(inBytes)];
  const isProtected = (path: string) =>
    PROTECTED.some((one) => isWithin(path, one)) && !spared.some((one) => isWithin(path, one));
  return {
    nested: nested.filter(isKept).map((path) => Buffer.from(path, "latin1").toString("utf8")),
    protectedChanged: [...gone, ...changed, ...nested].some(isProtected),
  };
}

/**
 * Stages everything the agent did, except in the top-level `prloom/` and in settings of agent programs, which stay as HEAD
 * has them. Call it after `headState`, and after the agent's commits were folded. `leaveOut` are further paths, such as
 * files that we copied in.
 */
export async function stageAll(worktree: Worktree, leaveOut: readonly string[] = []): Promise<Staged> {
  const indexFile = join(worktree.gitDir, "index");
  const target = { indexFile, from: "HEAD", leaveOut: [...PROTECTED, ...leaveOut], copied: leaveOut };
  const staged = await stageInto(worktree, target);
  if (staged.protectedChanged) return staged;
  return { ...staged, protectedChanged: await hasIgnoredSettings(worktree, leaveOut) };
}

/** Those that there are; most repositories have none, and then git need not be asked. */
function settingsIn(worktree: Worktree): string[] {
  return HOST_SETTINGS.filter((name) => existsNoFollow(join(worktree.path, name)));
}

/** Files that people keep to themselves (`settings.local.json`) are ignored by git, and programs read them all the same. */
async function hasIgnoredSettings(worktree: Worktree, leaveOut: readonly string[]): Promise<boolean> {
  const there = settingsIn(worktree);
  if (there.length === 0) return false;
  const args = ["ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--", ...there];
  const { stdout } = await gitIn(worktree, args);
  return splitNul(stdout).some((path) => !leaveOut.some((out) => isWithin(path, posix.join(out, "."))));
}

export interface StagedChanges {
  /** Paths that differ from the base; of a rename the new one. */
  readonly files: string[];
  /** Files of the base that are gone, renames aside. */
  readonly deleted: number;
  /** Files that the base has; counted only when some were deleted. */
  readonly trackedBefore: number;
}

/** What a commit now would change against `baseSha`. Call it after `stageAll`. */
export async function stagedChanges(worktree: Worktree, baseSha: string): Promise<StagedChanges> {
  const diff = await gitIn(worktree, ["diff", "--cached", "--no-ext-diff", "--name-status", "-M", "-z", baseSha]);
  const fields = splitNul(diff.stdout);
  const files: string[] = [];
  let deleted = 0;
  for (let index = 0; index < fields.length; ) {
    const status = fields[index] ?? "";
    const isMove = /^[RC]/.test(status);
    files.push(fields[index + (isMove ? 2 : 1)] ?? "");
    if (status === "D") deleted += 1;
    index += isMove ? 3 : 2;
  }
  return { files, deleted, trackedBefore: deleted === 0 ? 0 : await countTracked(worktree, baseSha) };
}

async function countTracked(worktree: Worktree, baseSha: string): Promise<number> {
  const tree = await gitIn(worktree, ["ls-tree", "-r", "-z", "--name-only", "--full-tree", baseSha]);
  return splitNul(tree.stdout).length;
}

/**
 * Puts `prloom/` and the settings of agent programs back to what HEAD has. Ignored files of `prloom/`, `.local` among them,
 * stay; of settings only what is in `leaveOut`.
 */
export async function restoreProtected(worktree: Worktree, leaveOut: readonly string[] = []): Promise<void> {
  await gitIn(worktree, ["reset", "--quiet", "HEAD", "--", ...PROTECTED]);
  const tracked = await gitIn(worktree, ["ls-files", "-z", "--", ...PROTECTED]);
  if (tracked.stdout !== "")
    await gitIn(worktree, ["checkout-index", "--index", "--force", "-z", "--stdin"], { input: tracked.stdout });
  await gitIn(worktree, ["clean", "--quiet", "-ffd", "-e", `/${OURS}/.local`, "--", OURS]);
  await clearHostSettings(worktree, leaveOut);
}

/** Removes settings of agent programs that are not from the base commit, ignored ones too. */
export async function clearHostSettings(worktree: Worktree, leaveOut: readonly string[] = []): Promise<void> {
  const there = settingsIn(worktree);
  if (there.length === 0) return;
  const spared = leaveOut.flatMap((path) => ["-e", `/${posix.join(path, ".")}`]);
  await gitIn(worktree, ["clean", "--quiet", "-ffdx", ...spared, "--", ...there]);
}
