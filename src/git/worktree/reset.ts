import { copyFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { messageOf, PrloomError } from "../../kernel/errors.ts";
import { existsNoFollow, hashCheckedOut, writeFileAtomic } from "../../kernel/files.ts";
import { passesByItself } from "../../kernel/system/used-up.ts";
import { takeTurns } from "../../kernel/turns.ts";
import { clearHidingFlags } from "../staging/hiding-flags.ts";
import { removeLinksAbove, removeStrayRepositories, repairSubmodules } from "../staging/nested-repositories.ts";
import { removeRules, unhindered } from "../staging/rule-files.ts";
import { stageInto } from "../staging/stage.ts";
import { realFolders } from "../staging/tree-entries.ts";
import { makeWritable } from "./make-writable.ts";
import { exactly } from "./prepared-files.ts";
import { settleHead } from "./settle-head.ts";
import { gitIn, type Worktree } from "./worktrees.ts";

const LOCAL = "prloom/.local";

export interface Partial {
  readonly baseSha: string;
  readonly patchFile: string;
  /** Files that must not get into a patch, such as copied secrets. */
  readonly leaveOut?: readonly string[];
}

/**
 * Keeps what an interrupted run left, untracked files included, as a patch against `baseSha`; returns that, if there was
 * anything. Call it after `headState`. A patch that is already there is kept: it was made before a reset that did not finish,
 * and what is there by now that it does not have, a person's perhaps, gets one with a number.
 * What cannot be kept is told in the place of the patch: a reset is what heals such a tree, so it must not wait for one.
 */
export async function savePartial(worktree: Worktree, partial: Partial): Promise<string | undefined> {
  try {
    return await writePatch(worktree, partial, false);
  } catch (error) {
    if (passesByItself(error)) throw error;
    return saveRaw(worktree, partial, messageOf(error));
  }
}

/** The second try, with the bytes as they are: attributes that an agent wrote may make git refuse its own files. */
async function saveRaw(worktree: Worktree, partial: Partial, why: string): Promise<string | undefined> {
  try {
    return await writePatch(worktree, partial, true);
  } catch (error) {
    if (passesByItself(error)) throw error;
    const words = [
      `What was changed could not be kept as a patch: ${why}`,
      `Its bytes could not either: ${messageOf(error)}`,
    ];
    const file = freePatch(partial.patchFile);
    writeFileAtomic(file, `${words.join("\n").replace(/^/gm, "# ")}\n`);
    return file;
  }
}

async function writePatch(worktree: Worktree, partial: Partial, raw: boolean): Promise<string | undefined> {
  const { baseSha, patchFile, leaveOut = [] } = partial;
  const indexFile = join(worktree.gitDir, "prloom-partial.index");
  const ownIndex = join(worktree.gitDir, "index");
  const temporary = `${patchFile}.tmp`;
  try {
    rmSync(`${indexFile}.lock`, { force: true });
    rmSync(indexFile, { force: true });
    // What the index remembers of files makes git compare them, and that goes by attributes and filters.
    if (!raw && existsNoFollow(ownIndex)) copyFileSync(ownIndex, indexFile);
    await stageInto(worktree, { indexFile, from: baseSha, leaveOut: [LOCAL, ...leaveOut], raw });
    await gitIn(worktree, [...PATCH, `--output=${temporary}`, baseSha], { env: { GIT_INDEX_FILE: indexFile } });
    const isAny = statSync(temporary).size > 0;
    if (existsNoFollow(patchFile) && (!isAny || isSame(temporary, patchFile))) return patchFile;
    if (!isAny) return undefined;
    const file = freePatch(patchFile);
    renameSync(temporary, file);
    return file;
  } finally {
    rmSync(temporary, { force: true });
    rmSync(`${indexFile}.lock`, { force: true });
    rmSync(indexFile, { force: true });
  }
}

function freePatch(patchFile: string): string {
  let file = patchFile;
  for (let number = 2; existsNoFollow(file); number += 1) file = patchFile.replace(/(\.patch)?$/, `-${number}$1`);
  return file;
}

/** One that is too large to be hashed is kept twice. */
function isSame(one: string, other: string): boolean {
  const hash = hashCheckedOut(one);
  return hash !== undefined && hash === hashCheckedOut(other);
}

const PATCH = [
  ...["diff", "--cached", "--no-ext-diff", "--no-textconv", "--no-color", "--binary", "--full-index"],
  "--ignore-submodules=none",
];

/** Whether there is anything to keep, beside what is left out; writes nothing, and so works on a full disk too. */
export async function hasChanges(worktree: Worktree, leaveOut: readonly string[] = []): Promise<boolean> {
  const spared = [LOCAL, ...leaveOut].map((path) => `:(top,exclude,literal)${path}`);
  const look = ["--no-optional-locks", "status", "--porcelain", "--no-renames", "--untracked-files=all", "--", "."];
  return (await gitIn(worktree, [...look, ...spared])).stdout !== "";
}

interface Contents {
  readonly files: string[];
  readonly gitlinks: string[];
}

/** Files and submodules of a commit or tree, byte for byte. */
export async function contentsOf(worktree: Worktree, tree: string): Promise<Contents> {
  const listed = await gitIn(worktree, ["ls-tree", "-r", "-z", "--full-tree", tree], { encoding: "latin1" });
  const files: string[] = [];
  const gitlinks: string[] = [];
  for (const line of await listed.entries()) {
    await takeTurns();
    (line.startsWith("160000") ? gitlinks : files).push(line.slice(line.indexOf("\t") + 1));
  }
  return { files, gitlinks };
}

/**
 * Puts branch, index and tree back to `baseSha`. Untracked files go, nested repositories too; ignored files,
 * `prloom/.local` and what is `spared` stay. Links are removed, never followed.
 */
export async function resetTo(
  worktree: Worktree,
  baseSha: string,
  branch: string,
  spared: readonly string[] = [],
): Promise<void> {
  await settleHead(worktree, { branch, baseSha });
  await gitIn(worktree, ["update-ref", "--no-deref", "-m", "prloom: reset", `refs/heads/${branch}`, baseSha]);
  await clearHidingFlags(worktree);
  const { files, gitlinks } = await contentsOf(worktree, baseSha);
  await removeRules(worktree, files);
  await removeLinksAbove(worktree, gitlinks);
  const restore = async () => {
    // Before the tree is touched: what the agent committed with force, `prloom/.local` too, is then merely untracked.
    await gitIn(worktree, ["read-tree", "--reset", baseSha]);
    await gitIn(worktree, ["reset", "--quiet", "--hard", baseSha]);
    await gitIn(worktree, ["clean", "--quiet", "-ffd", ...[LOCAL, ...spared].flatMap((path) => ["-e", exactly(path)])]);
  };
  await insistently(worktree, restore);
  await removeStrayRepositories(worktree, await realFolders(worktree, files));
  await repairSubmodules(worktree, gitlinks);
}

/** Does what changes the tree; when it fails, once more with everything out of the way that an agent may have put there. */
export async function insistently(worktree: Worktree, act: () => Promise<void>): Promise<void> {
  try {
    await unhindered(worktree, act);
  } catch (error) {
    if (error instanceof PrloomError && error.code === "filter-refused") throw error;
    // Most likely a directory that the agent made read-only; anything else fails again, with its own message.
    await makeWritable(worktree.path);
    await act();
  }
}
