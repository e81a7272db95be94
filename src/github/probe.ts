import * as z from "zod";
import type { GitHubClient } from "./client/client.ts";
import type { Outcome } from "./client/outcome.ts";

/** What a token can do with a repository, as GitHub itself says. */
export interface TokenFacts {
  readonly login: string;
  readonly repository: string;
  /** What it was asked by is its old name. */
  readonly isRenamed: boolean;
  /** Whether it may post where threads are locked, and set labels. */
  readonly mayTriage: boolean;
  /** Calls that are left of how many, and when all of them are there again (milliseconds since the epoch). */
  readonly limit?: { readonly remaining: number; readonly limit: number; readonly resetAt: number } | undefined;
}

const userSchema = z.object({ login: z.string() });
const repositorySchema = z.object({
  full_name: z.string(),
  permissions: z.object({ push: z.boolean(), triage: z.boolean().optional() }).optional(),
});

/** Asks; what went wrong is returned with what was asked for. */
export async function probeToken(
  client: GitHubClient,
  fullName: string,
): Promise<TokenFacts | { readonly problem: string }> {
  const user = await client.get("/user");
  if (user.kind !== "ok") return { problem: `who the token belongs to cannot be asked: ${reasonOf(user)}` };
  const first = await client.get(`/repos/${fullName}`);
  const moved = first.kind === "moved" && first.to.startsWith(`${client.apiUrl}/`);
  const found = moved ? await client.get(first.to.slice(client.apiUrl.length)) : first;
  if (found.kind !== "ok") return { problem: `the repository ${fullName} cannot be read: ${reasonOf(found)}` };
  const { full_name: repository, permissions } = repositorySchema.parse(found.data);
  // Fine-grained tokens list no scopes: whether issues can be read is seen by reading them.
  const issues = await client.get(`/repos/${repository}/issues`, { query: { per_page: 1 } });
  if (issues.kind !== "ok") return { problem: `issues of ${repository} cannot be read: ${reasonOf(issues)}` };
  return {
    ...{ login: userSchema.parse(user.data).login, repository, isRenamed: moved },
    mayTriage: permissions?.triage ?? permissions?.push ?? false,
    limit: client.budget.known().get("core"),
  };
}

const reasonOf = (outcome: Outcome): string => ("reason" in outcome ? outcome.reason : outcome.kind);
