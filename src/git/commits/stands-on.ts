import { branchTip, gitAt, isAncestor, type Repository, STEP_TRAILER } from "../repository.ts";

export interface PlanBranch {
  readonly branch: string;
  readonly base: string;
  /** The commit of base that prloom made the branch at, or brought it onto last. */
  readonly began: string | undefined;
  /** Of the plan. */
  readonly uid: string;
}

/**
 * The commit of base that a branch stands on. That is where it began, unless a person rebased it by hand since, onto commits that base has
 * no more: they would count as the branch's own, and come back with it. Where base was is in its reflog.
 */
export async function standsOn(
  repo: Repository,
  { branch, base, began, uid }: PlanBranch,
): Promise<string | undefined> {
  const tip = began === undefined ? undefined : await branchTip(repo, branch);
  if (began === undefined || tip === undefined) return began;
  const asked = await gitAt(repo, ["merge-base", "--fork-point", `refs/heads/${base}`, tip], { allowExit: [1, 128] });
  const found = asked.stdout.trim();
  if (asked.code !== 0 || found === began || found === tip) return began;
  // What base still has is found without its reflog.
  if ((await isAncestor(repo, found, `refs/heads/${base}`)) || !(await isAncestor(repo, began, found))) return began;
  // Base had the plan's own work, and a person took it out again.
  const own = [
    "log",
    "--format=%H",
    "-1",
    "--fixed-strings",
    `--grep=${STEP_TRAILER}: ${uid}/`,
    `${began}..${found}`,
    "--",
  ];
  return (await gitAt(repo, own)).stdout.trim() === "" ? found : began;
}
