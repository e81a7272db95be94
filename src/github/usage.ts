import type { GitHubAccess } from "./access.ts";

/** What the token was used for, and what is left of it; for `prloom status`. */
export interface GitHubUsage {
  readonly repo: string;
  readonly lastHour: number;
  /** Calls since the dispatcher started, by plan; those for the repository as a whole are not in it. */
  readonly plans: Readonly<Record<string, number>>;
  readonly limits: Readonly<
    Record<string, { readonly limit: number; readonly remaining: number; readonly resetAt: number }>
  >;
  /** The share of each limit that is left to people. */
  readonly reserve: number;
}

export function usageOf({ client, connection }: GitHubAccess, now: number): GitHubUsage {
  const plans = [...client.calls()].filter(([plan]) => plan !== "");
  return {
    ...{ repo: connection.fullName, lastHour: client.callsInHour(now), reserve: client.budget.reserve },
    ...{ plans: Object.fromEntries(plans), limits: Object.fromEntries(client.budget.known()) },
  };
}
