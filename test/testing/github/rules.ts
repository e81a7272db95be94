import { tryGit } from "./git.ts";
import { type CheckRun, mayDo, type Pull, type Repository, type Review } from "./world.ts";

export type RollupState = "SUCCESS" | "FAILURE" | "PENDING" | "EXPECTED" | "ERROR";

/** The newest check of each name, and the newest status of each context. */
export function newestChecks(repository: Repository, sha: string): Map<string, RollupState> {
  const states = new Map<string, RollupState>();
  for (const check of repository.checkRuns) if (check.sha === sha) states.set(check.name, stateOf(check));
  for (const status of repository.statuses)
    if (status.sha === sha) states.set(status.context, status.state.toUpperCase() as RollupState);
  return states;
}

function stateOf({ status, conclusion }: CheckRun): RollupState {
  if (status !== "completed") return "PENDING";
  return conclusion === "success" || conclusion === "neutral" || conclusion === "skipped" ? "SUCCESS" : "FAILURE";
}

export function rollup(repository: Repository, sha: string): RollupState | undefined {
  const states = [...newestChecks(repository, sha).values()];
  if (states.length === 0) return undefined;
  if (states.some((state) => state === "FAILURE" || state === "ERROR")) return "FAILURE";
  return states.every((state) => state === "SUCCESS") ? "SUCCESS" : "PENDING";
}

/** Whether a rule asks for what the base got since. */
export function isBehind(repository: Repository, { base, head }: Pick<Pull, "base" | "head">): boolean {
  if (!repository.rules.get(base.branch)?.upToDate) return false;
  return tryGit(repository.folder, ["merge-base", "--is-ancestor", base.branch, head.sha]).status !== 0;
}

/** Why GitHub would not merge it, in its words. */
export function unmetRules(repository: Repository, { base, head, reviews }: Pull): string | undefined {
  const rules = repository.rules.get(base.branch);
  if (!rules) return undefined;
  if (isBehind(repository, { base, head })) return "Head branch is out of date. Update it with the base branch.";
  if (rules.mergeQueue) return "Changes must be made through the merge queue";
  const states = newestChecks(repository, head.sha);
  const missing = rules.requiredChecks.filter((name) => states.get(name) !== "SUCCESS");
  if (missing.length > 0)
    return `Required status check "${missing[0]}" is ${states.has(missing[0] ?? "") ? "failing" : "expected"}.`;
  if (rules.approvals > 0 && decisionOf(repository, reviews, rules.approvals) !== "APPROVED")
    return `At least ${rules.approvals} approving review is required by reviewers with write access.`;
  return undefined;
}

/** Of each person the newest verdict counts, if that person may write. */
export function decisionOf(repository: Repository, reviews: readonly Review[], needed: number): string | null {
  const verdicts = reviews.filter(({ state, user }) => state !== "COMMENTED" && mayDo(repository, user, "write"));
  const newest = [...new Map(verdicts.map(({ user, state }) => [user, state])).values()];
  if (newest.includes("CHANGES_REQUESTED")) return "CHANGES_REQUESTED";
  if (newest.filter((state) => state === "APPROVED").length >= Math.max(1, needed)) return "APPROVED";
  return needed > 0 ? "REVIEW_REQUIRED" : null;
}
