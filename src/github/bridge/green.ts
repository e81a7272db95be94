import { CallError } from "../pages.ts";
import type { PullState } from "../pulls/pull-state.ts";
import type { RepositoryCalls } from "../repository.ts";
import { checksOf, countingOf, stateOf } from "./checks.ts";

/**
 * Why the checks of a pull request speak against its merge; undefined when they do not. What GitHub requires it tells itself. None is not
 * green where the base branch has some: they have not begun.
 */
export async function whyNotGreen(repository: RepositoryCalls, pull: PullState): Promise<string | undefined> {
  const checks = await checksOf(repository, { nodeId: pull.nodeId, head: pull.head.sha });
  const state = stateOf(checks);
  if (state === "green") return undefined;
  if (state === "none") {
    return (await hasChecks(repository, pull.base)) ? `no check of ${pull.head.sha.slice(0, 8)} has begun` : undefined;
  }
  const bad = countingOf(checks).filter((check) => check.state !== "green");
  const names = bad.slice(0, 5).map(({ name, state: is }) => `${name} (${is === "pending" ? "not ended" : "failed"})`);
  return `not all checks are green: ${names.join(", ")}`;
}

/** Whether checks are run in this repository: its base branch has some. */
async function hasChecks(repository: RepositoryCalls, branch: string): Promise<boolean> {
  const commit = `/commits/${encodeURIComponent(branch)}`;
  const asked: readonly [path: string, key: string, query: Readonly<Record<string, string>>][] = [
    [`${commit}/check-runs`, "check_runs", {}],
    // What a token without the permission for checks may see.
    ["/actions/runs", "workflow_runs", { branch }],
    [`${commit}/status`, "statuses", {}],
  ];
  for (const [path, key, query] of asked) {
    const outcome = await repository.get(path, { query: { per_page: 1, ...query } });
    const found = outcome.kind === "ok" ? (outcome.data as Record<string, unknown>)[key] : [];
    if (Array.isArray(found) && found.length > 0) return true;
    if (outcome.kind !== "ok" && outcome.kind !== "refused" && outcome.kind !== "not-found")
      throw new CallError(path, outcome);
  }
  return false;
}
