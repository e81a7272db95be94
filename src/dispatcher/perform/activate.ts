import { rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { PlanConfig } from "../../config/presets.ts";
import { branchExists, currentBranch, defaultBaseBranch, isBranchName, requireCommits } from "../../git/repository.ts";
import { refuseBrought, trackedIn } from "../../git/tracked.ts";
import { canonical } from "../../git/worktree/claims.ts";
import { addWorktree } from "../../git/worktree/worktrees.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { errnoOf, PrloomError } from "../../kernel/errors.ts";
import { ensureDir, listDir, readTextNoFollow } from "../../kernel/files.ts";
import { lstatIfThere } from "../../kernel/lstat.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Extended } from "../buses/extensions.ts";
import type { Publishing, Reporting } from "../capabilities.ts";
import { type CommandRunning, runCommand } from "../enclosure/command-run.ts";
import { copyFiles } from "../enclosure/copy-files.ts";
import { makeRunCopy } from "../enclosure/run-copy.ts";
import { homeOf, inboxOf, type Located } from "../paths.ts";
import { baseTip } from "../publishing/base.ts";
import { changeStatus, planText, type Records, updateRecord } from "../records.ts";
import type { Configured } from "../settings/pinned.ts";
import { beginsOn } from "../steps/dependencies.ts";
import { givePorts } from "../worktree/ports.ts";
import { takePrepared, wayOfFix } from "../worktree/prepared.ts";
import { isReplaced, keepUnready } from "../worktree/remove-own.ts";
import { hookDue } from "./hook-due.ts";

/**
 * Inbox to worktree. The order is what makes a kill harmless: names are recorded first, `worktreeReady` is written only
 * when everything is there, and the inbox files go last. Whatever a kill left half made is made again.
 */
export async function activate(
  loom: CommandRunning & Extended & Publishing,
  planned: PlanRecord,
  config: PlanConfig,
): Promise<void> {
  const { id } = planned;
  loom.report({ planId: id, level: "info", text: "activating" });
  const record = await givePorts(loom, await chooseBranch(loom, planned));
  // A branch that no record knows of is a person's.
  await loom.store.synced();
  crashPoint("activate:named");
  const made = await makeWorktree(loom, record, config);
  crashPoint("activate:worktree");
  const text = planText(loom, record);
  if (!text)
    throw new PrloomError(
      "plan-invalid",
      `The text of ${id} vanished while it was activated.`,
      `Put it back as prloom/.local/inbox/${id}.md.`,
    );
  await refuseTracked(loom, id);
  const { result: active } = loom.store.together((files) => {
    const path = homeOf(loom.paths, id).plan;
    files.push({ path, data: text.text, onWritten: () => crashPoint("activate:text") });
    return changeStatus(loom, id, "activate", {
      worktreeReady: true,
      ...made,
      inInbox: true,
      ...(text.doc.todos.length > 0 ? { designed: true } : {}),
      ...hookDue(loom, record, "afterActivate"),
    });
  });
  makeRunCopy(loom, active, text.text);
  crashPoint("activate:ready");
  clearInbox(loom, id, text.text);
  loom.report({ planId: id, level: "info", text: `active on branch ${record.branch}` });
}

/** A plan is put into the inbox by a person here. One that git tracks came with a checkout: from the author of that branch. */
async function refuseTracked({ repo, paths }: Located, id: string): Promise<void> {
  const files = Object.values(inboxOf(paths, id));
  for (const file of files) await refuseBrought(repo, file);
  const tracked = await trackedIn(repo, dirname(paths.local));
  if (!files.some((file) => tracked.has(file))) return;
  throw new PrloomError(
    "plan-invalid",
    `${id} was not put into the inbox here: it is part of the branch that is checked out.`,
    `If you want it, read it first, then make it yours: \`prloom new --file prloom/.local/inbox/${id}.md\`.`,
  );
}

/**
 * The last act of activation, or what a kill left of it. A text that a person saved in the inbox meanwhile stays there: intake
 * tells that its id is in use.
 */
export function clearInbox(loom: Located & Records, id: string, activated = activatedText(loom, id)): void {
  const files = inboxOf(loom.paths, id);
  // From here on the home has the only text.
  loom.store.sync();
  const text = readTextNoFollow(loom.paths.inbox, basename(files.text));
  if (text === undefined || activated === undefined || text === activated) rmSync(files.text, { force: true });
  crashPoint("activate:half-cleared");
  rmSync(files.meta, { force: true });
  loom.store.forget([files.text, files.meta]);
  updateRecord(loom, id, () => ({ inInbox: false }));
}

/** What was taken from the inbox; undefined when a person changed the plan since, and no longer the file in the inbox. */
function activatedText({ paths }: Located, id: string): string | undefined {
  const { home, plan } = homeOf(paths, id);
  const [taken, left] = [lstatIfThere(plan), lstatIfThere(inboxOf(paths, id).text)];
  return taken && left && left.mtimeMs > taken.mtimeMs ? readTextNoFollow(home, basename(plan)) : undefined;
}

/** Makes the worktree of an open plan again, from its branch. */
export async function restoreWorktree(
  loom: CommandRunning & Extended,
  record: PlanRecord,
  config: PlanConfig,
): Promise<void> {
  loom.report({ planId: record.id, level: "warn", text: "making its worktree again" });
  const made = await makeWorktree(loom, record, config);
  updateRecord(loom, record.id, (now) => ({
    worktreeReady: true,
    ...made,
    ...hookBefore(now, hookDue(loom, now, "afterActivate")),
    // What was in the old tree is gone, so a TODO under way starts over, as the same attempt; a conflict is put into it again.
    ...(now.rebase ? { current: undefined, side: undefined } : {}),
    ...(!now.rebase && now.current && now.current.stage !== "committed" && now.current.stage !== "ticked"
      ? { current: { ...now.current, stage: "running", run: now.runs + 1 }, runs: now.runs + 1, side: undefined }
      : {}),
  }));
}

/**
 * A new worktree is prepared by plugins before anything else. What waited for plugins waits on, except for those that were
 * to look at work which is gone.
 */
function hookBefore({ hook }: PlanRecord, first: Pick<PlanRecord, "hook">): Pick<PlanRecord, "hook"> {
  const waited = hook?.point === "afterActivate" ? hook.next : hook;
  const next = waited?.point === "afterTodo" ? undefined : waited;
  return { hook: first.hook ? { ...first.hook, next } : next };
}

/** What to do about a base branch that is not there. */
export const BASE_HINT =
  "Set `baseBranch` in prloom/config.json to a branch that exists (`git branch` lists them) and run `prloom reload`.";

async function chooseBranch(
  loom: Located & Configured & Records & Publishing & Reporting,
  record: PlanRecord,
): Promise<PlanRecord> {
  if (record.branch && record.baseSha && record.baseBranch) return record;
  // Not what happens to be checked out by now.
  const started = loom.pinned.pin ? loom.pinned.pin.branch : await currentBranch(loom.repo);
  const lower = beginsOn(loom, record);
  const baseBranch = lower?.branch ?? loom.config.baseBranch ?? started ?? (await defaultBaseBranch(loom.repo));
  const wanted = record.metadata.branch;
  const branch = typeof wanted === "string" && wanted !== "" ? wanted : `prloom/${record.id}`;
  const [baseSha, isName, isTaken] = await Promise.all([
    lower?.published?.sha ?? (baseBranch === undefined ? undefined : baseTip(loom, baseBranch)),
    // A name that we made is one that git allows.
    branch !== wanted || isBranchName(loom.repo, branch),
    branchExists(loom.repo, branch),
  ]);
  if (!baseSha) {
    await requireCommits(loom.repo);
    const where = loom.forge.name === "local" ? "" : " on GitHub";
    throw new PrloomError("config-invalid", `The base branch ${baseBranch} does not exist${where}.`, BASE_HINT);
  }
  if (!isName) {
    throw new PrloomError(
      "plan-invalid",
      `metadata.branch is not a name that git allows: ${branch}`,
      `Fix it in prloom/.local/inbox/${record.id}.json, then run \`prloom unblock ${record.id}\`.`,
    );
  }
  if (isTaken) {
    throw new PrloomError(
      "branch-exists",
      `The branch ${branch} exists already, and prloom did not make it.`,
      `Rename it (\`git branch -m ${branch} <other>\`) or delete it (\`git branch -D ${branch}\`), then run \`prloom unblock ${record.id}\`.`,
    );
  }
  const named = join(loom.paths.worktrees, record.id);
  await refuseForeign(loom, record, named);
  makeWorktreesDir(loom.paths.worktrees);
  // A link on the way to it is nothing that an agent sees from inside its sandbox.
  const worktree = canonical(named);
  return updateRecord(loom, record.id, () => ({
    ...{ branch, baseBranch, baseSha, worktree },
    ...(lower ? { stack: { on: lower.uid } } : {}),
  }));
}

/** Before a place in it goes on record: behind a link to a disk that is away, nobody knows yet where that is. */
function makeWorktreesDir(dir: string): void {
  try {
    ensureDir(dir);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
    const hint = "Bring back what a link on the way there leads to, such as a disk, or set another `worktreesDir`.";
    throw new PrloomError("plan-state", `The folder of worktrees cannot be made: ${dir}`, hint, error);
  }
}

/** Once its place is on record, what git says it made there is taken for ours and removed. */
async function refuseForeign({ repo }: Located, { id }: PlanRecord, worktree: string): Promise<void> {
  await refuseBrought(repo, worktree);
  const stat = lstatIfThere(worktree);
  if (stat === undefined || (stat.isDirectory() && listDir(worktree).length === 0)) return;
  throw foreignAt(worktree, id, ", or set `worktreesDir` in prloom/config.json to another folder");
}

function foreignAt(worktree: string, id: string, otherwise = ""): PrloomError {
  return new PrloomError(
    "plan-state",
    `${worktree} is there already, and prloom did not make it.`,
    `Move it away${otherwise}, then run \`prloom unblock ${id}\`.`,
  );
}

type Made = Pick<PlanRecord, "worktreeName" | "prepared" | "kept">;

/** What the record is to say about the new worktree. */
async function makeWorktree(loom: CommandRunning, record: PlanRecord, config: PlanConfig): Promise<Made> {
  const { branch = "", baseSha = "", worktree: path = "" } = record;
  if (isReplaced(loom, record)) throw foreignAt(path, record.id);
  await keepUnready(loom, record);
  ensureDir(dirname(path));
  const { trustedFilters } = loom.config;
  const added = await addWorktree(loom.repo, { path, branch, baseSha, reuseBranch: true, trustedFilters });
  if (added.kind === "branch-exists") {
    throw new PrloomError(
      "branch-exists",
      `The branch ${branch} no longer contains the commit it began at (${baseSha.slice(0, 8)}).`,
      `Put it back (\`git branch -f ${branch} ${baseSha.slice(0, 8)}\`), then run \`prloom unblock ${record.id}\`.`,
    );
  }
  const { worktree } = added;
  // From here on a person may look at it, and what they change is kept when it is made again.
  updateRecord(loom, record.id, () => ({ worktreeName: worktree.name }));
  crashPoint("worktree:named");
  await copyFiles(loom, path, true);
  const runs = join(homeOf(loom.paths, record.id).runs, "init");
  const fresh = { ...record, worktree: path, worktreeName: worktree.name };
  for (const [index, command] of loom.config.initCommands.entries()) {
    const env = config.stages.worker.env;
    loom.report({ planId: record.id, level: "info", text: `preparing its worktree: ${command}` });
    const outcome = await runCommand(loom, fresh, { command, runDir: join(runs, String(index)), env });
    if (outcome.ok) continue;
    throw new PrloomError(
      "plan-state",
      `An initCommand failed: ${outcome.summary}`,
      `Fix it, then run \`prloom unblock ${record.id}\`. ${wayOfFix(record)}`,
    );
  }
  const { initCommands } = loom.config;
  const left = initCommands.length === 0 ? { prepared: undefined, kept: undefined } : await takePrepared(loom, fresh);
  return { worktreeName: worktree.name, ...left };
}
