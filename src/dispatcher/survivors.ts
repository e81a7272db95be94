import { existsSync } from "node:fs";
import { join } from "node:path";
import { endSurvivors, readExit } from "../agents/runner.ts";
import { isInhabited } from "../agents/survivors.ts";
import { removeWorktree } from "../git/worktrees.ts";
import { listDir, removeTemporaryFiles } from "../kernel/files.ts";
import { shortHash } from "../kernel/ids.ts";
import { endProcesses, processesWithVariable } from "../kernel/process-tree.ts";
import type { PlanRecord } from "../plan/record.ts";
import { putBackInterrupted } from "./hook-agent.ts";
import type { Loom } from "./loom.ts";
import { homeOf, type Paths } from "./paths.ts";
import { clearEnclosure } from "./perform/enclose.ts";

/** Before anything else after a start: ends every process that an earlier dispatcher left alive, and clears up after it. */
export async function endAllSurvivors(loom: Loom): Promise<number> {
  await endStrayGit(loom);
  const { records } = loom.store.list({ status: ["queued", "active", "review"] }, { limit: Number.MAX_SAFE_INTEGER });
  let ended = 0;
  for (const record of records) {
    // Never activated, so nothing was ever started for it.
    if (record.worktree === undefined) continue;
    ended += await endRunsOf(loom, record);
    for (const dir of runDirs(loom, record)) await clearEnclosure(dir);
    await putBackInterrupted(loom, record);
    const home = homeOf(loom.paths, record.id);
    for (const dir of [
      home.home,
      home.bus,
      join(home.bus, "state"),
      join(home.bus, "blobs"),
      home.pluginState,
      ...runDirs(loom, record),
    ]) {
      removeTemporaryFiles(dir);
    }
    // Half made, it would make git refuse to add any other worktree.
    if (!record.worktreeReady) await removeWorktree(loom.repo, record.worktree);
  }
  await removeDeleted(loom);
  const { authority, bus, pluginState } = loom.paths;
  for (const dir of [authority, bus, join(bus, "state"), join(bus, "blobs"), pluginState]) removeTemporaryFiles(dir);
  return ended;
}

/** The same for the processes of one plan, before a command touches it without a dispatcher. */
export async function endPlanSurvivors(loom: Loom, id: string): Promise<void> {
  const record = loom.store.byId(id);
  if (record?.worktree === undefined) return;
  await endStrayGit(loom);
  await endRunsOf(loom, record);
}

function runDirs(loom: Loom, record: PlanRecord): string[] {
  const home = homeOf(loom.paths, record.id);
  const newest = home.run(record.runs);
  return [
    newest,
    ...below(join(newest, "checks")),
    ...below(join(home.runs, "init")),
    ...below(join(home.runs, "hooks")),
  ];
}

async function endRunsOf(loom: Loom, record: PlanRecord): Promise<number> {
  let ended = 0;
  for (const dir of runDirs(loom, record)) {
    if (!existsSync(join(dir, "request.json")) || (readExit(dir) && !isInhabited(dir))) continue;
    ended += await endSurvivors(dir, { graceMs: loom.config.limits.stopGraceMs });
  }
  return ended;
}

/** A kill in the middle of `prloom delete` leaves the worktree. */
async function removeDeleted(loom: Loom): Promise<void> {
  for (const record of loom.store.list({}, { limit: Number.MAX_SAFE_INTEGER }).records) {
    if (record.deleted && record.worktree && existsSync(record.worktree))
      await removeWorktree(loom.repo, record.worktree);
  }
}

/** A git process of a killed dispatcher goes on by itself; it must not write beside the one we start. */
async function endStrayGit(loom: Loom): Promise<void> {
  const find = (): number[] =>
    processesWithVariable(`${OWNER_VARIABLE}=${ownerTag(loom.paths)}`).map((found) => found.pid);
  await endProcesses(find, { graceMs: 0 });
}

/** What the processes that the owner of this repository starts carry in their environment. */
export const OWNER_VARIABLE = "PRLOOM_OWNER";

export function ownerTag(paths: Paths): string {
  return shortHash(paths.commonDir, 16);
}

function below(dir: string): string[] {
  return listDir(dir).map((name) => join(dir, name));
}
