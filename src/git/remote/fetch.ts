import type { Repository } from "../repository.ts";
import { GitFailure, git } from "../run.ts";
import { gitRemote, type Remote, remoteTip } from "./remote.ts";

export type FetchOutcome =
  | { readonly kind: "fetched"; readonly sha: string }
  | { readonly kind: "absent" }
  | { readonly kind: "failed"; readonly reason: string };

/** Brings the commits of a branch here, and says which is its newest. No ref of the repository changes. */
export async function fetchBranch(repo: Repository, remote: Remote, branch: string): Promise<FetchOutcome> {
  try {
    const sha = await remoteTip(repo, remote, `refs/heads/${branch}`);
    if (sha === undefined) return { kind: "absent" };
    if (!(await isWhole(repo, sha))) {
      const args = [
        "fetch",
        "--quiet",
        "--no-tags",
        "--no-write-fetch-head",
        "--recurse-submodules=no",
        remote.url,
        sha,
      ];
      await gitRemote(repo, remote, { args });
    }
    return { kind: "fetched", sha };
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error;
    return { kind: "failed", reason: error.words };
  }
}

/** Whether the commit is here with all that it stands on: something of it may have come without the rest. */
async function isWhole({ root, commonDir }: Repository, sha: string): Promise<boolean> {
  const args = ["rev-list", "--objects", "--quiet", sha, "--not", "--all"];
  const { code } = await git(args, { cwd: root, gitDir: commonDir, allowExit: [128] });
  return code === 0;
}
