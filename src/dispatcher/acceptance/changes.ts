import { stagedTree } from "../../git/commits/commit.ts";
import type { AskGit } from "../../git/run.ts";
import { LIST_INDEX, linksAstray } from "../../git/staging/links-astray.ts";
import { putBack } from "../../git/staging/put-back.ts";
import { restoreProtected, stageAll } from "../../git/staging/stage.ts";
import { type StagedChanges, stagedChanges } from "../../git/staging/staged-changes.ts";
import { repairGitFile } from "../../git/worktree/repair.ts";
import { foldAgentCommits, headState } from "../../git/worktree/settle-head.ts";
import { gitIn, type Worktree } from "../../git/worktree/worktrees.ts";
import { matchesAny } from "../../governance/policy/paths.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Reporting } from "../capabilities.ts";
import { agentPlaces, type Located, worktreeOf } from "../paths.ts";
import type { Configured } from "../settings/pinned.ts";
import { leftOut } from "../worktree/set-aside.ts";
import type { Changes } from "./judge-run.ts";

/** So many files are named to people. */
const MAX_TOLD = 5;

/** What the run left, staged for the commit; what agents may not touch is put back, and told. */
export async function changesOf(loom: Located & Configured & Reporting, record: PlanRecord): Promise<Changes> {
  const worktree = worktreeOf(loom, record);
  const baseSha = record.current?.baseSha ?? "";
  await repairGitFile(worktree);
  const head = await headState(worktree, { branch: record.branch ?? "", baseSha });
  if (head === "diverged") return { kind: "diverged" };
  if (head === "ahead") await foldAgentCommits(worktree, baseSha);
  const { protectedChanged, nested, refused } = await stageAll(worktree, leftOut(loom, record));
  if (nested.length > 0) {
    const text = `repositories that it made are ordinary folders now: ${nested.slice(0, MAX_TOLD).join(", ")}`;
    loom.report({ planId: record.id, level: "warn", text });
  }
  if (refused.length > 0) {
    const entries = refused.flatMap((shape) => shape.entries).slice(0, MAX_TOLD);
    const text = `taken out, since git would take a folder for a repository: ${entries.join(", ")}`;
    loom.report({ planId: record.id, level: "warn", text });
  }
  // It is not in the commit, and it must not stay for the next TODO either.
  if (protectedChanged) await restoreProtected(worktree, leftOut(loom, record));
  const back = await putBackOwn(worktree, baseSha, loom.config.governance.protected);
  const names = [...(protectedChanged ? ["prloom/ or settings of agent programs"] : []), ...back.slice(0, MAX_TOLD)];
  if (names.length > 0) {
    const text = `it changed what agents may not change, which is as it was again: ${names.join(", ")}`;
    loom.report({ planId: record.id, level: "warn", text });
  }
  const { astray, ...staged } = await withoutAstray(loom, record, await stagedChanges(worktree, baseSha));
  return { kind: "staged", ...staged, astray, onlyProtected: names.length > 0 && staged.files.length === 0, refused };
}

/** The tree as plugins left it, for the commit; what agents may not touch stays out as always. */
export async function restage(loom: Located & Configured & Reporting, record: PlanRecord): Promise<string | undefined> {
  await changesOf(loom, record);
  return stagedTree(worktreeOf(loom, record));
}

/** Takes links out of what is staged that lead out of the project, or to where agents write. */
async function withoutAstray(
  loom: Located & Configured & Reporting,
  record: PlanRecord,
  staged: StagedChanges,
): Promise<StagedChanges & { readonly astray: readonly string[] }> {
  if (staged.links.length === 0) return { ...staged, astray: [] };
  const { worktree, baseSha } = { worktree: worktreeOf(loom, record), baseSha: record.current?.baseSha ?? "" };
  const ask: AskGit = (args, options) => gitIn(worktree, args, options);
  const wanted = { changed: staged.links, places: agentPlaces(loom.paths) };
  const astray = new Set(await linksAstray(ask, LIST_INDEX, wanted));
  if (astray.size === 0) return { ...staged, astray: [] };
  await putBack(worktree, baseSha, (path) => astray.has(path));
  const text = `taken out, since it leads out of the project, or to where agents write: ${[...astray].slice(0, MAX_TOLD).join(", ")}`;
  loom.report({ planId: record.id, level: "warn", text });
  return { ...(await stagedChanges(worktree, baseSha)), astray: [...astray] };
}

/** What the config protects. A script of the agent may have changed it: the policy inside of an agent sees only its calls. */
async function putBackOwn(worktree: Worktree, baseSha: string, own: readonly string[]): Promise<readonly string[]> {
  if (own.length === 0) return [];
  return putBack(worktree, baseSha, (path) => matchesAny(path, own, "any-case"));
}
