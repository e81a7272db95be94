import { existsSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod";
import { readTip } from "../../git/refs.ts";
import { branchTip, gitAt } from "../../git/repository.ts";
import { readmitWorktree } from "../../git/worktree/readmit.ts";
import { repairGitFile } from "../../git/worktree/repair.ts";
import { hasChanges, resetTo, savePartial } from "../../git/worktree/reset.ts";
import { headState } from "../../git/worktree/settle-head.ts";
import { type KeptTree, keepTip, keepTree, restoreTree } from "../../git/worktree/snapshot.ts";
import { worktreeHealth } from "../../git/worktree/worktrees.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { messageOf, PrloomError } from "../../kernel/errors.ts";
import { ensureDir, listDir, readTextIfExists, writeFileAtomic } from "../../kernel/files.ts";
import { passesByItself } from "../../kernel/system/used-up.ts";
import { freeId } from "../../plan/identity.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Reporting } from "../capabilities.ts";
import { homeOf, type Located, worktreeOf } from "../paths.ts";
import { blockPlan, type Records } from "../records.ts";
import type { Configured } from "../settings/pinned.ts";

/** Files of a worktree that are not an agent's work: they are in no commit and no patch, and outlast what is taken back. */
export function leftOut(loom: Configured, record: Pick<PlanRecord, "prepared">): readonly string[] {
  return [...loom.config.copyFiles, ...(record.prepared ?? [])];
}

/** Remembers what the worktree holds, uncommitted changes included; its branch is at `head`. */
export function keepNow(loom: Located & Configured, record: PlanRecord, head: string): Promise<KeptTree> {
  const { branch = "" } = record;
  return keepTree(worktreeOf(loom, record), { branch, head, leaveOut: leftOut(loom, record) });
}

/** A patch in the folder of a run; its name says why it was set aside. */
export interface Aside {
  readonly run: number;
  readonly name: "partial" | "aside" | "discarded" | "before-rebase";
}

function patchOf(loom: Located, record: PlanRecord, { run, name }: Aside): string {
  const patch = join(homeOf(loom.paths, record.id).run(run), `${name}.patch`);
  ensureDir(dirname(patch));
  return patch;
}

/**
 * Takes back what the run that the record waits for did to the tree; returns the patch that has it, if there was anything.
 * Under a reviewer lies the work of a TODO that is verified and not yet committed, and under any run may lie what a person
 * left: that stays as it was.
 */
export async function takeBackRun(
  loom: Located & Configured,
  record: PlanRecord,
  aside: Aside,
): Promise<string | undefined> {
  const { current, side, kept: left, branch = "" } = record;
  const baseSha = current?.baseSha ?? side?.baseSha;
  if (baseSha === undefined) return undefined;
  const tree = (side && current?.tree) ?? (left?.baseSha === baseSha ? left.tree : undefined);
  if (tree === undefined) return takeBack(loom, record, { ...aside, baseSha });
  const patch = patchOf(loom, record, aside);
  const kept = { tree, branch, head: baseSha, leaveOut: leftOut(loom, record) };
  return restoreTree(worktreeOf(loom, record), kept, { patchFile: patch });
}

/** Keeps what the tree has beyond `baseSha` as a patch and puts the tree back there. */
export async function takeBack(
  loom: Located & Configured,
  record: PlanRecord,
  { baseSha, ...aside }: Aside & { readonly baseSha: string },
): Promise<string | undefined> {
  const { branch = "" } = record;
  const worktree = worktreeOf(loom, record);
  const patchFile = patchOf(loom, record, aside);
  await repairGitFile(worktree);
  await headState(worktree, { branch, baseSha });
  if (readTip(worktree.commonDir, branch) !== baseSha) await keepTip(worktree, branch, baseSha);
  const patch = await savePartial(worktree, { baseSha, patchFile, leaveOut: leftOut(loom, record) });
  await resetTo(worktree, baseSha, branch, record.prepared);
  return patch;
}

/** Whether the worktree holds what is in no commit: a person may have left it there. */
export async function hasUncommitted(loom: Located & Configured, record: PlanRecord): Promise<boolean> {
  const { worktreeReady, worktreeName, branch = "" } = record;
  const head = await branchTip(loom.repo, branch);
  if (!worktreeReady || worktreeName === undefined || head === undefined) return false;
  if (worktreeHealth(worktreeOf(loom, record)) !== "ok") return false;
  const { tree } = await keepNow(loom, record, head);
  return tree !== (await gitAt(loom.repo, ["rev-parse", "--verify", `${head}^{tree}`])).stdout.trim();
}

/**
 * What lies in a worktree that is about to be removed, and is in no commit, is kept as a patch in the plan's home. Returns the
 * patch, if there was anything.
 */
export async function keepBeforeRemoval(
  loom: Located & Configured & Reporting,
  record: PlanRecord,
): Promise<string | undefined> {
  const worktree = worktreeOf(loom, record);
  // One that is half made, or half removed, has no name on record.
  if (record.worktreeName === undefined) return undefined;
  let kept: string | undefined;
  const { home } = homeOf(loom.paths, record.id);
  const patchFile = join(home, `${freeId("left", (name) => existsSync(join(home, `${name}.patch`)))}.patch`);
  const tell = (text: string): void => loom.report({ planId: record.id, level: "warn", text });
  try {
    await readmitWorktree(loom.repo, worktree, record.branch ?? "");
    if (worktreeHealth(worktree) !== "ok") return undefined;
    kept = await savePartial(worktree, { baseSha: "HEAD", patchFile, leaveOut: leftOut(loom, record) });
    if (kept !== undefined) tell(`its worktree held changes that are in no commit; kept in ${kept}`);
  } catch (error) {
    // What can be kept as soon as the disk has room must not be lost now. To look at a tree takes none.
    if (passesByItself(error) && (await hasChanges(worktree, leftOut(loom, record))))
      throw notKept(worktree.path, error);
    if (passesByItself(error)) return undefined;
    tell(`what its worktree held beyond its commits could not be kept: ${messageOf(error)}`);
  }
  crashPoint("worktree:kept");
  return kept;
}

/** As passing as what caused it. */
function notKept(path: string, cause: PrloomError): PrloomError {
  const why = `${path} stays: it holds what is in no commit, and that could not be kept as a patch (${cause.message})`;
  return new PrloomError(cause.code, `${why}; \`prloom clean\` tries again`, cause.hint, cause);
}

/** What the worktree was before an agent of a plugin, or a check of a merge, came; it is there until the worktree is put back. */
const KEPT = "kept.json";
const keptSchema = z.object({
  tree: z.string(),
  branch: z.string(),
  head: z.string(),
  leaveOut: z.array(z.string()),
  by: z.string().optional(),
});

/** What the agent of a plugin, whose files are in `runDir`, found in the worktree. */
export interface Visited {
  readonly runDir: string;
  readonly kept: KeptTree;
  /** Who came, if it was not an agent of a plugin: what it changed is nothing that a person would miss. */
  readonly by?: string | undefined;
  /** The tree that prloom put there for it. Not known after a kill: then everything is kept. */
  readonly placed?: string | undefined;
}

/** Writes down what is to be put back, before the agent comes. */
export function noteVisit({ runDir, kept, by }: Visited): void {
  ensureDir(runDir);
  writeFileAtomic(join(runDir, KEPT), JSON.stringify({ ...kept, by }));
  crashPoint("hook-agent:kept");
}

/** What cannot be put back must not be committed with the next TODO: a person has to look first. */
export async function endVisit(
  loom: Located & Configured & Records & Reporting,
  record: PlanRecord,
  { runDir, kept, by, placed, isInterrupted = false }: Visited & { readonly isInterrupted?: boolean },
): Promise<void> {
  const aside = { patchFile: join(runDir, "aside.patch"), placed };
  const patch = await restoreTree(worktreeOf(loom, record), kept, aside).catch((error: unknown) => {
    blockPlan(loom, record.id, {
      reason: `What ${by ?? "a plugin's agent"} changed in ${record.worktree} could not be put back: ${messageOf(error)}`,
      hint: `Look there (\`git -C ${record.worktree} status\`), then run \`prloom unblock ${record.id}\`.`,
      cause: "step",
    });
    throw error;
  });
  crashPoint("hook-agent:restored");
  rmSync(join(runDir, KEPT), { force: true });
  // After a kill it may be a person's as well.
  if (patch !== undefined && (by === undefined || isInterrupted)) {
    const text = `${by ?? "a plugin's agent"} changed files; put aside in ${patch}`;
    loom.report({ planId: record.id, level: "warn", text });
  }
}

/**
 * A dispatcher was killed under an agent of a plugin: what that left in the worktree is put aside now. Throws when it cannot be:
 * the next TODO would be committed with it.
 */
export async function endInterruptedVisits(
  loom: Located & Configured & Records & Reporting,
  record: PlanRecord,
): Promise<void> {
  const dir = join(homeOf(loom.paths, record.id).runs, "hooks");
  for (const name of listDir(dir)) {
    const runDir = join(dir, name);
    if (existsSync(join(runDir, KEPT))) await endInterrupted(loom, record, runDir);
  }
}

/** The branch stays where it is: since the kill a person may have committed to it, and a commit does not say whose it is. */
async function endInterrupted(
  loom: Located & Configured & Records & Reporting,
  record: PlanRecord,
  runDir: string,
): Promise<void> {
  const { by, ...kept } = readKept(join(runDir, KEPT), record);
  const isThere = record.worktreeReady && worktreeHealth(worktreeOf(loom, record)) === "ok";
  if (isThere && (await branchTip(loom.repo, kept.branch)) === kept.head)
    return endVisit(loom, record, { runDir, kept, by, isInterrupted: true });
  rmSync(join(runDir, KEPT), { force: true });
  if (!isThere) return;
  const text = `${kept.branch} moved since a plugin's agent was interrupted; what that left in ${record.worktree} stays there`;
  loom.report({ planId: record.id, level: "warn", text });
}

function readKept(file: string, { id, worktree }: PlanRecord): z.infer<typeof keptSchema> {
  try {
    return keptSchema.parse(JSON.parse(readTextIfExists(file) ?? ""));
  } catch (error) {
    const hint = `Look whether ${worktree} has changes that you do not want, then remove ${file}.`;
    throw new PrloomError("recovery-failed", `${file} of ${id} cannot be read: ${messageOf(error)}`, hint, error);
  }
}
