import { PrloomError } from "../../kernel/errors.ts";
import { splitNul } from "../run.ts";
import { clearHidingFlags } from "../staging/stage.ts";
import { settleHead, unfinishedOperation } from "../worktree/settle-head.ts";
import { gitIn, type Worktree } from "../worktree/worktrees.ts";
import { repositoriesMade } from "./history.ts";

export interface RebaseRequest {
  readonly branch: string;
  /** Branch or commit to rebase onto. */
  readonly base: string;
  /** From `commitIdentity`. */
  readonly identity: Readonly<Record<string, string>>;
}

export type RebaseOutcome =
  | { readonly kind: "rebased"; readonly sha: string }
  | { readonly kind: "nothing" }
  | { readonly kind: "conflict"; readonly files: string[] }
  /** Together with what base has, the branch's files would make a folder a repository. */
  | { readonly kind: "repository"; readonly files: string[] };

const REBASE_CONFIG = ["rebase.updateRefs=false", "rebase.autoSquash=false", "rebase.rebaseMerges=false"].flatMap(
  (setting) => ["-c", setting],
);

/**
 * Rebases the plan's branch in its worktree. Between runs only, with everything committed: uncommitted changes are an
 * error, except those of a rebase of ours that was interrupted.
 */
export async function rebaseOnto(worktree: Worktree, request: RebaseRequest): Promise<RebaseOutcome> {
  const { branch, base, identity } = request;
  const read = async (rev: string) =>
    (await gitIn(worktree, ["rev-parse", "--verify", `${rev}^{commit}`])).stdout.trim();
  const before = await read(`refs/heads/${branch}`);
  const backToBranch = async () => {
    await settleHead(worktree, { branch, baseSha: before });
    await clearHidingFlags(worktree);
    await gitIn(worktree, ["reset", "--quiet", "--hard", before]);
  };
  const interrupted = unfinishedOperation(worktree.gitDir) !== undefined;
  if (interrupted) await backToBranch();
  else await settleHead(worktree, { branch, baseSha: before });
  const onto = await read(base);
  const contained = await gitIn(worktree, ["merge-base", "--is-ancestor", onto, before], { allowExit: [1] });
  if (contained.code === 0) return { kind: "nothing" };
  const flags = ["--no-autostash", "--no-fork-point", "--reapply-cherry-picks", "--empty=keep", "--quiet"];
  const rebased = await gitIn(worktree, [...REBASE_CONFIG, "rebase", ...flags, onto], {
    env: { ...identity, GIT_EDITOR: "true", GIT_SEQUENCE_EDITOR: "true" },
    allowExit: [1],
  });
  if (rebased.code === 0) {
    const sha = await read(`refs/heads/${branch}`);
    const shapes = await repositoriesMade((args, options) => gitIn(worktree, args, options), onto, sha);
    if (shapes.length === 0) return { kind: "rebased", sha };
    await gitIn(worktree, ["update-ref", "-m", "prloom: put back", `refs/heads/${branch}`, before, sha]);
    await backToBranch();
    return { kind: "repository", files: shapes.flatMap(({ entries }) => entries) };
  }
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
  await backToBranch();
  const paths = splitNul(unmerged.stdout).map((entry) => entry.slice(entry.indexOf("\t") + 1));
  return { kind: "conflict", files: [...new Set(paths)] };
}
