import { CallError } from "../pages.ts";
import type { PullState } from "../pulls/pull-state.ts";
import type { RepositoryCalls } from "../repository.ts";
import { runsUnderWay } from "./actions.ts";
import { countingOf, stateOf } from "./check-state.ts";
import { headChecks } from "./checks.ts";

/**
 * Why the checks of a pull request speak against its merge; undefined when they do not. What GitHub requires it tells itself. None is not
 * green where the base branch has some: they have not begun.
 */
export async function whyNotGreen(repository: RepositoryCalls, pull: PullState): Promise<string | undefined> {
  const found = await headChecks(repository, { nodeId: pull.nodeId, head: pull.head.sha });
  // More may come: GitHub counts what is there. What is required it waits for itself.
  const isOver = ["green", "none"].includes(stateOf(found)) && !found.some(({ isRequired }) => isRequired);
  const checks = isOver ? [...found, ...(await runsUnderWay(repository, pull.head.sha))] : found;
  const state = stateOf(checks);
  if (state === "green") return undefined;
  if (state === "none") {
    const others = await checksOn(repository, pull.base);
    if (others === "unseen") return UNSEEN;
    return others === "some" ? `no check of ${pull.head.sha.slice(0, 8)} has begun` : undefined;
  }
  const bad = countingOf(checks).filter((check) => check.state !== "green");
  const names = bad.slice(0, 5).map(({ name, state: is }) => `${name} (${is === "pending" ? "not ended" : "failed"})`);
  return `not all checks are green: ${names.join(", ")}`;
}

const UNSEEN =
  "the token may not see whether the checks are green: give it the permission Checks: read (an app), or Actions: read and Commit statuses: read";

/** Whether checks are run in this repository: its base branch has some. `unseen`: the token may see too little to tell. */
async function checksOn(repository: RepositoryCalls, branch: string): Promise<"some" | "none" | "unseen"> {
  const commit = `/commits/${encodeURIComponent(branch)}`;
  const asked: readonly [path: string, key: string, query: Readonly<Record<string, string>>][] = [
    [`${commit}/check-runs`, "check_runs", {}],
    // What a token without the permission for checks may see.
    ["/actions/runs", "workflow_runs", { branch }],
    [`${commit}/status`, "statuses", {}],
  ];
  const refused: string[] = [];
  for (const [path, key, query] of asked) {
    const outcome = await repository.get(path, { query: { per_page: 1, ...query } });
    const found = outcome.kind === "ok" ? (outcome.data as Record<string, unknown>)[key] : [];
    if (Array.isArray(found) && found.length > 0) return "some";
    if (outcome.kind === "refused") refused.push(key);
    if (outcome.kind !== "ok" && outcome.kind !== "refused" && outcome.kind !== "not-found")
      throw new CallError(path, outcome);
  }
  // What checks are, runs and statuses tell together; one alone does not.
  return refused.includes("check_runs") && refused.length > 1 ? "unseen" : "none";
}
