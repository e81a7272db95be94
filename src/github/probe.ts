import * as z from "zod";
import type { GitHubAccess } from "./access.ts";
import type { Outcome } from "./client/outcome.ts";
import { CallError } from "./pages.ts";
import type { RepositoryCalls } from "./repository.ts";

/** What a token can do with a repository, as GitHub itself says. */
export interface TokenFacts {
  readonly login: string;
  /** Where the token comes from; never the token. */
  readonly from: string;
  readonly repository: string;
  /** Whether its account may post where threads are locked, and set labels. */
  readonly mayTriage: boolean;
  /** It was made from another one. */
  readonly isFork: boolean;
  readonly abilities: readonly Ability[];
  /** Calls that are left of how many, and when all of them are there again (milliseconds since the epoch). */
  readonly limit?: { readonly remaining: number; readonly limit: number; readonly resetAt: number } | undefined;
}

/** Something that prloom wants of the token; with GitHub's words where it is refused. */
export interface Ability {
  readonly what: "write issues" | "write contents" | "write pull requests" | "read checks" | "read runs and statuses";
  readonly refused?: string;
}

const repositorySchema = z.object({
  permissions: z.object({ push: z.boolean(), triage: z.boolean().optional() }).optional(),
  default_branch: z.string(),
  fork: z.boolean().default(false),
});

/** Asks; what went wrong is returned with what was asked for. */
export async function probeToken({
  client,
  connection,
}: Pick<GitHubAccess, "client" | "connection">): Promise<TokenFacts | { readonly problem: string }> {
  let asking = "who the token belongs to cannot be asked";
  try {
    const { login } = await connection.self();
    asking = `the repository ${connection.fullName} cannot be read`;
    const repository = await connection.repository();
    const found = repositorySchema.parse(await need(repository, ""));
    // Fine-grained tokens list no scopes: whether issues can be read is seen by reading them.
    asking = `issues of ${repository.fullName} cannot be read`;
    await need(repository, "/issues");
    const { push = false, triage = push } = found.permissions ?? {};
    return {
      ...{ login, from: client.tokenFrom, repository: repository.fullName },
      ...{ mayTriage: triage, isFork: found.fork },
      abilities: [
        { what: "write issues", ...refusal(await unfinished(repository, "/issues")) },
        { what: "write contents", ...refusal(await unfinished(repository, "/git/refs")) },
        { what: "write pull requests", ...refusal(await unfinished(repository, "/pulls")) },
        ...(await readsChecks(repository, found.default_branch)),
      ],
      limit: client.budget.known().get("core"),
    };
  } catch (error) {
    if (error instanceof CallError) return { problem: `${asking}: ${error.reason}` };
    throw error;
  }
}

async function need(repository: RepositoryCalls, path: string): Promise<unknown> {
  const outcome = await repository.get(path, { query: { per_page: 1 } });
  if (outcome.kind !== "ok") throw new CallError(path, outcome);
  return outcome.data;
}

/** A request that lacks everything: GitHub asks first whether its sender may, and then finds it invalid. Nothing comes of it. */
const unfinished = (repository: RepositoryCalls, path: string): Promise<Outcome> =>
  repository.send("POST", path, { body: {} });

function refusal(outcome: Outcome): Pick<Ability, "refused"> {
  if (outcome.kind === "ok" || (outcome.kind === "refused" && outcome.status === 422)) return {};
  return { refused: "reason" in outcome ? outcome.reason : outcome.kind };
}

/** There is no permission for checks among those of fine-grained tokens: then runs and statuses tell what there is to know. */
async function readsChecks(repository: RepositoryCalls, branch: string): Promise<Ability[]> {
  const commit = `/commits/${encodeURIComponent(branch)}`;
  const checks: Ability = { what: "read checks", ...refusal(await repository.get(`${commit}/check-runs`)) };
  if (checks.refused === undefined) return [checks];
  const others = [await repository.get(`${commit}/status`), await repository.get("/actions/runs")];
  const refused = others.map(refusal).find((one) => one.refused !== undefined) ?? {};
  return [checks, { what: "read runs and statuses", ...refused }];
}
