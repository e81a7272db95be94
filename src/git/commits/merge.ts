import { existsSync } from "node:fs";
import { join } from "node:path";
import { crashPoint } from "../../kernel/crash-point.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { readCheckedOut } from "../../kernel/files.ts";
import { branchTip, gitAt, isAncestor, type Repository, treeOf } from "../repository.ts";
import { type AskGit, GitFailure, git, requireGitVersion } from "../run.ts";
import { unfinishedOperation } from "../worktree/settle-head.ts";
import { listWorktrees } from "../worktree/worktrees.ts";
import { hasMerged, isEmptied, type MergeRequest, writeMerge } from "./merge-commit.ts";
import { type UnsafeTree, unsafeTree } from "./unsafe-tree.ts";

type InTheWay = {
  readonly kind: "checkout-in-the-way";
  readonly path: string;
  readonly reason: string;
  /** The file by which another git keeps this one out. */
  readonly lock?: string;
};

export type MergeOutcome =
  /** `unsafe`: which was allowed. */
  | { readonly kind: "merged"; readonly sha: string; readonly unsafe?: UnsafeTree }
  | { readonly kind: "already" }
  | { readonly kind: "conflict"; readonly files: string[] }
  /** The branch stands on commits that base had, and has no more. */
  | { readonly kind: "rewritten"; readonly commits: number }
  /** A person took the plan's work off the branch, up to this commit, and base does not have it. */
  | { readonly kind: "emptied"; readonly newest: string }
  /** Together with what base has. */
  | UnsafeTree
  | InTheWay;

/** A base branch that moves under us is read again this often. */
const TRIES = 5;

async function requireTip(repo: Repository, branch: string): Promise<string> {
  const tip = await branchTip(repo, branch);
  if (tip !== undefined) return tip;
  throw new PrloomError(
    "git-failed",
    `There is no branch ${branch}.`,
    `\`git branch\` lists those that there are. Give it its name back (\`git branch -m <name> ${branch}\`), or make it again: \`git branch ${branch} <commit>\`.`,
  );
}

/** Whether everything on `branch` is in `base`, by whatever method. Of a branch that is gone it cannot be told: false. */
export async function isMergedInto(
  repo: Repository,
  request: Pick<MergeRequest, "branch" | "base" | "made" | "own" | "began">,
): Promise<boolean> {
  const { branch, base, made } = request;
  const [tip, old] = await Promise.all([branchTip(repo, branch), branchTip(repo, base)]);
  if (tip === undefined || old === undefined || !(await hasMerged(repo, tip, old, made))) return false;
  return !(await isEmptied(repo, request, { old, tip }));
}

type Checkout = { readonly path: string; readonly gitDir: string };

/** The checkout that stands on `base` and must move with it, or why none may. */
async function checkoutOf(repo: Repository, base: string): Promise<Checkout | InTheWay | undefined> {
  const found: Checkout[] = [];
  for (const entry of await listWorktrees(repo)) {
    const { path } = entry;
    // No program can be started in a folder whose name is not UTF-8, but one may be there.
    if (entry.bare || entry.prunable !== undefined || !(existsSync(path) || path.includes("\ufffd"))) continue;
    const onBase = entry.branch === base;
    const gitDir = await gitDirAt(path);
    if (typeof gitDir !== "string") {
      // Of another branch, one that a person broke is in no way.
      if (!onBase) continue;
      return { kind: "checkout-in-the-way", path, reason: gitDir.words };
    }
    const rebasesBase = ["rebase-merge", "rebase-apply"].some(
      (folder) => readCheckedOut(join(gitDir, folder, "head-name"))?.trim() === `refs/heads/${base}`,
    );
    if ((onBase && unfinishedOperation(gitDir) !== undefined) || rebasesBase) {
      const reason = `a merge, rebase or cherry-pick on ${base} is not finished there`;
      return { kind: "checkout-in-the-way", path, reason };
    }
    if (onBase) found.push({ path, gitDir });
  }
  if (found.length > 1) {
    const paths = found.map((checkout) => checkout.path).join(" and ");
    return {
      kind: "checkout-in-the-way",
      path: found[0]?.path ?? "",
      reason: `${base} is checked out twice: ${paths}`,
    };
  }
  return found[0];
}

/** Git's folder of a checkout, or why git cannot use it. */
async function gitDirAt(cwd: string): Promise<string | GitFailure> {
  try {
    return (await git(["rev-parse", "--absolute-git-dir"], { cwd })).stdout.trimEnd();
  } catch (error) {
    if (error instanceof GitFailure) return error;
    throw error;
  }
}

/** Why git would not move the checkout: the files it named, else its own words. */
function refusal(stderr: string): string {
  const files = stderr
    .split("\n")
    .filter((line) => line.startsWith("\t"))
    .map((line) => line.trim());
  if (files.length > 0) return `changes there would be overwritten: ${files.join(", ")}`;
  return stderr.trim().split("\n")[0] ?? "git refused to move it";
}

/** Moves `base` from `old` to `sha`, together with the checkout on it; "moved" when another process moved it first. */
async function advance(
  repo: Repository,
  request: MergeRequest,
  step: { readonly old: string; readonly sha: string; readonly checkout: Checkout | undefined },
): Promise<"done" | "moved" | InTheWay> {
  const { old, sha, checkout } = step;
  const moved = async () => (await branchTip(repo, request.base)) !== old;
  if (checkout === undefined) {
    const args = ["update-ref", "-m", `prloom: merge ${request.branch}`, `refs/heads/${request.base}`, sha, old];
    const updated = await gitAt(repo, args, { env: request.identity, allowExit: [1, 128] });
    if (updated.code === 0) return "done";
    if (await moved()) return "moved";
    throw new PrloomError(
      "git-failed",
      updated.stderr.trim(),
      `Look with \`git log ${request.base}\`, then try again.`,
    );
  }
  // What git ignores is the person's all the same, a file with keys say; a branch may have another one under its name.
  const careful = ["--no-overwrite-ignore", "--no-autostash"];
  const flags = ["--ff-only", ...careful, "--no-verify-signatures", "--no-squash", "--no-stat", "--quiet"];
  const merged = await git(["merge", ...flags, sha], {
    cwd: checkout.path,
    env: request.identity,
    allowExit: [1, 2, 128],
  });
  if (merged.code === 0) return "done";
  if (await moved()) return "moved";
  const inTheWay = { kind: "checkout-in-the-way", path: checkout.path } as const;
  const lock = /'(.{1,4096}\.lock)': File exists/.exec(merged.stderr)?.[1];
  if (lock !== undefined)
    return { ...inTheWay, reason: `another git is at work there, or was killed and left ${lock}`, lock };
  return { ...inTheWay, reason: refusal(merged.stderr) };
}

/**
 * How many commits that the branch stands on a person took out of base or changed there (amend, rebase, reset): a merge would bring back what
 * they had. The same change in another commit is not missing; and a branch that was brought up to date by hand has what its person wants.
 */
async function takenOut(
  repo: Repository,
  began: string | undefined,
  { old, tip }: { old: string; tip: string },
): Promise<number> {
  if (began === undefined || began === old) return 0;
  const shared = await gitAt(repo, ["merge-base", old, tip], { allowExit: [1] });
  // Base was begun anew: the branch stands on all that was there before.
  if (shared.code === 1) return Number((await gitAt(repo, ["rev-list", "--count", began, "--"])).stdout);
  const args = ["rev-list", "--count", "--no-merges", "--cherry-pick", "--right-only", `${old}...${began}`, "--"];
  const { code, stdout } = await gitAt(repo, args, { allowExit: [128] });
  // Gone from the repository, so the branch does not stand on it.
  const missing = code === 0 ? Number(stdout) : 0;
  if (missing === 0 || !(await isAncestor(repo, began, tip))) return 0;
  return (await isAncestor(repo, shared.stdout.trim(), began)) ? missing : 0;
}

/**
 * Brings a branch into base: with a merge commit, as one commit (squash), or commit by commit (rebase). It is made in the
 * object store alone; a checkout of base is then fast-forwarded, and one with changes in the way is left untouched. Safe
 * to repeat after a crash at any point: what came by squash or rebase is known by what was kept before.
 */
export async function mergeIntoBase(repo: Repository, request: MergeRequest): Promise<MergeOutcome> {
  await requireGitVersion(2, 38);
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const old = await requireTip(repo, request.base);
    const tip = await requireTip(repo, request.branch);
    if (await hasMerged(repo, tip, old, request.made)) {
      const isEmpty = await isEmptied(repo, request, { old, tip });
      return isEmpty ? { kind: "emptied", newest: request.own?.newest ?? "" } : { kind: "already" };
    }
    const commits = await takenOut(repo, request.began, { old, tip });
    if (commits > 0) return { kind: "rewritten", commits };
    const checkout = await checkoutOf(repo, request.base);
    if (checkout !== undefined && "kind" in checkout) return checkout;
    const made = await writeMerge(repo, request, { old, tip });
    if (made.kind === "conflict") return made;
    const ask: AskGit = (args, options) => gitAt(repo, args, options);
    const unsafe = await unsafeTree(ask, { base: old, tip, head: made.sha, places: request.places });
    if (unsafe && !request.allowUnsafe) return unsafe;
    if (request.check && (await treeOf(repo, made.sha)) !== request.checked) await request.check(made.sha);
    request.keep?.({ tip, sha: made.sha });
    crashPoint("merge:written");
    const outcome = await advance(repo, request, { old, sha: made.sha, checkout });
    if (outcome === "done") {
      return { kind: "merged", sha: made.sha, ...(unsafe ? { unsafe } : {}) };
    }
    if (outcome !== "moved") return outcome;
  }
  throw new PrloomError(
    "git-failed",
    `${request.base} moved ${TRIES} times while ${request.branch} was being merged.`,
    "Wait until nothing else commits to it, then run `prloom merge` again.",
  );
}
