import { crashPoint } from "../../kernel/crash-point.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { splitNul } from "../output.ts";
import type { AskGit } from "../run.ts";
import { clearHidingFlags } from "../staging/hiding-flags.ts";
import { settleHead, unfinishedOperation } from "../worktree/settle-head.ts";
import { gitIn, type Worktree } from "../worktree/worktrees.ts";
import { type UnsafeTree, unsafeTree } from "./unsafe-tree.ts";

export interface RebaseRequest {
  readonly branch: string;
  /** Branch or commit to rebase onto. */
  readonly base: string;
  /** The commit of base that the branch began at, as far as is known: what comes before it is not the branch's own. */
  readonly began?: string | undefined;
  /** From `commitIdentity`. */
  readonly identity: Readonly<Record<string, string>>;
  /** Where agents write, below the top. */
  readonly places: readonly string[];
}

export type RebaseOutcome =
  | { readonly kind: "rebased"; readonly sha: string }
  | { readonly kind: "nothing" }
  | { readonly kind: "conflict"; readonly files: string[] }
  /** Together with what base has. */
  | UnsafeTree;

const REBASE_CONFIG = ["rebase.updateRefs=false", "rebase.autoSquash=false", "rebase.rebaseMerges=false"].flatMap(
  (setting) => ["-c", setting],
);

/**
 * Rebases the plan's branch in its worktree. Between runs only, with everything committed: uncommitted changes are an
 * error, except those of a rebase of ours that was interrupted. Where the branch was is kept until the result was looked
 * at: after a kill in between the rebase is done, and must still be taken back if it is unsafe.
 */
export async function rebaseOnto(worktree: Worktree, request: RebaseRequest): Promise<RebaseOutcome> {
  const { branch } = request;
  const now = await read(worktree, `refs/heads/${branch}`);
  const kept = await interruptedAt(worktree, branch);
  const wasKilled = kept !== undefined;
  const before = kept ?? now;
  if (unfinishedOperation(worktree.gitDir) !== undefined) await backTo(worktree, branch, now);
  else await settleHead(worktree, { branch, baseSha: now });
  const onto = await read(worktree, request.base);
  const upstream = request.began === undefined ? onto : await ownBegin(worktree, request.began, { onto, now });
  // A branch that has all of base may stand on more than that: on commits that base had, or on those of another plan.
  const isContained = upstream === onto && (await isIn(worktree, onto, now));
  if (isContained && !wasKilled) return { kind: "nothing" };
  await gitIn(worktree, ["update-ref", keptRef(branch), before]);
  try {
    if (!isContained) {
      const conflict = await rebase(worktree, request, { onto, now, upstream });
      if (conflict) return conflict;
    }
    crashPoint("rebase:rebased");
    return await looked(worktree, request, { onto, before });
  } finally {
    await gitIn(worktree, ["update-ref", "-d", keptRef(branch)]);
  }
}

const keptRef = (branch: string) => `refs/prloom/rebase/${branch}`;

/** Where the branch was before a rebase of ours that was interrupted. */
export async function interruptedAt(worktree: Worktree, branch: string): Promise<string | undefined> {
  const kept = await gitIn(worktree, ["rev-parse", "--verify", "--quiet", keptRef(branch)], { allowExit: [1] });
  return kept.code === 0 ? kept.stdout.trim() : undefined;
}

async function read(worktree: Worktree, rev: string): Promise<string> {
  return (await gitIn(worktree, ["rev-parse", "--verify", `${rev}^{commit}`])).stdout.trim();
}

async function isIn(worktree: Worktree, older: string, newer: string): Promise<boolean> {
  return (await gitIn(worktree, ["merge-base", "--is-ancestor", older, newer], { allowExit: [1] })).code === 0;
}

/**
 * The commit behind which the branch's own begin. A person who has amended base took something out of it: the commit as it was, which the
 * branch stands on, must not come back as one of the branch. It is another where a person brought the branch up to date by hand.
 */
export async function ownBegin(
  worktree: Worktree,
  began: string,
  { onto, now }: { onto: string; now: string },
): Promise<string> {
  if (!(await isIn(worktree, began, now))) return onto;
  const shared = await gitIn(worktree, ["merge-base", onto, now], { allowExit: [1] });
  return shared.code === 0 && (await isIn(worktree, shared.stdout.trim(), began)) ? began : onto;
}

async function backTo(worktree: Worktree, branch: string, sha: string): Promise<void> {
  await settleHead(worktree, { branch, baseSha: sha });
  await clearHidingFlags(worktree);
  await gitIn(worktree, ["reset", "--quiet", "--hard", sha]);
}

/** Takes a rebase back that nobody is to have. What leaves the branch stays findable: after a kill a person may have committed to it. */
async function looked(
  worktree: Worktree,
  { branch, places }: RebaseRequest,
  { onto, before }: { onto: string; before: string },
): Promise<RebaseOutcome> {
  const sha = await read(worktree, `refs/heads/${branch}`);
  const ask: AskGit = (args, options) => gitIn(worktree, args, options);
  const unsafe = await unsafeTree(ask, { base: onto, tip: before, head: sha, places });
  if (!unsafe) return { kind: "rebased", sha };
  await gitIn(worktree, ["update-ref", `refs/prloom/aside/${sha}`, sha]);
  await gitIn(worktree, ["update-ref", "-m", "prloom: put back", `refs/heads/${branch}`, before, sha]);
  await backTo(worktree, branch, before);
  return unsafe;
}

/** Undefined when it is done. */
async function rebase(
  worktree: Worktree,
  { branch, identity }: RebaseRequest,
  { onto, now, upstream }: { onto: string; now: string; upstream: string },
): Promise<RebaseOutcome | undefined> {
  const flags = ["--no-autostash", "--no-fork-point", "--reapply-cherry-picks", "--empty=keep", "--quiet"];
  const rebased = await gitIn(worktree, [...REBASE_CONFIG, "rebase", ...flags, "--onto", onto, upstream], {
    env: { ...identity, GIT_EDITOR: "true", GIT_SEQUENCE_EDITOR: "true" },
    allowExit: [1],
  });
  if (rebased.code === 0) return undefined;
  if (unfinishedOperation(worktree.gitDir) === undefined) {
    // It did not even start: the tree is not clean, and a reset would throw away whatever is there.
    throw new PrloomError(
      "git-failed",
      `${branch} cannot be rebased: ${rebased.stderr.trim()}`,
      `Look with \`git -C ${worktree.path} status\`.`,
    );
  }
  // Not with `diff`, which looks into repositories inside of the tree and runs what their configuration says.
  const unmerged = await gitIn(worktree, ["ls-files", "--unmerged", "-z"]);
  await backTo(worktree, branch, now);
  const paths = splitNul(unmerged.stdout).map((entry) => entry.slice(entry.indexOf("\t") + 1));
  return { kind: "conflict", files: [...new Set(paths)] };
}
