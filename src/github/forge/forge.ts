import * as z from "zod";
import type { Refused, ServerChange, ServerForge, ServerMerge } from "../../forge/port.ts";
import type { MergeMethod } from "../../git/merge-method.ts";
import { fetchBranch } from "../../git/remote/fetch.ts";
import { pushBranch, pushRef } from "../../git/remote/push.ts";
import type { Repository } from "../../git/repository.ts";
import type { GitHubAccess } from "../access.ts";
import { whyNotGreen } from "../bridge/green.ts";
import { allPages, CallError } from "../pages.ts";
import { changeOf, type PullState } from "../pulls/pull-state.ts";
import { Pulls } from "../pulls/pulls.ts";
import type { RepositoryCalls } from "../repository.ts";
import { claimsAt } from "./claims.ts";
import { gitHubRemote } from "./remote.ts";

export interface GitHubForgeOptions {
  readonly access: GitHubAccess;
  readonly repo: Repository;
  /** Ours alone: git that has the token reads its configuration here. */
  readonly folder: string;
}

/** Pull requests of one repository, and its branches. */
export function githubForge({ access, repo, folder }: GitHubForgeOptions): ServerForge {
  const pulls = async (): Promise<{ repository: RepositoryCalls; pulls: Pulls }> => {
    const repository = await access.connection.repository();
    return { repository, pulls: new Pulls(repository) };
  };
  const pullOf = async (
    ref: string,
    how: "get" | "getJudged" = "get",
  ): Promise<{ pull: PullState; pulls: Pulls; repository: RepositoryCalls }> => {
    const asked = await pulls();
    const pull = await asked.pulls[how](numberOf(asked.repository, ref));
    if (pull === "gone") throw new Error(`the pull request ${ref} is gone`);
    return { pull, ...asked };
  };
  const atRemote = gitHubRemote(access, folder);
  return {
    now: () => access.client.timeThere(),
    push: (pushed) => atRemote((there) => pushBranch(repo, there, pushed)),
    fetch: (branch) => atRemote((there) => fetchBranch(repo, there, branch)),
    async open(draft) {
      const { repository, pulls: all } = await pulls();
      return orRefused(repository, await all.open(draft));
    },
    async describe(ref, draft, ready) {
      const { repository, pulls: all, pull } = await pullOf(ref);
      if (pull.state !== "open") return changeOf(repository, pull);
      const described = await all.describe(pull, draft);
      if ("refused" in described || !ready) return orRefused(repository, described);
      return orRefused(repository, await all.markReady(described));
    },
    async takeBack(ref) {
      const { repository, pulls: all, pull } = await pullOf(ref);
      return orRefused(repository, await all.takeBack(pull));
    },
    async look(ref) {
      const { repository, pulls: all } = await pulls();
      const pull = await all.get(numberOf(repository, ref));
      return pull === "gone" ? pull : changeOf(repository, pull);
    },
    async isReviewed(ref) {
      const { repository } = await pulls();
      const [self, path] = [await access.connection.self(), `/pulls/${numberOf(repository, ref)}/reviews`];
      const reviews = await allPages(repository, path, { query: {}, schema: reviewsSchema });
      return reviews.some(({ user }) => user !== null && String(user.id) !== self.id && user.type === "User");
    },
    async merge(ref, { sha, base, method, force = false, confirm, before }) {
      const { pull, pulls: all, repository } = await pullOf(ref, force ? "get" : "getJudged");
      if (pull.state === "open" && pull.base !== base)
        return { kind: "refused", reason: `its pull request is for ${pull.base}, not for ${base}` };
      const why =
        force || pull.state !== "open" || pull.head.sha !== sha ? undefined : await whyNotGreen(repository, pull);
      if (why !== undefined) return { kind: "refused", reason: why };
      if (pull.state === "open" && pull.head.sha === sha) await before?.();
      return mergeAllowed(repository, method, (one) => all.merge(pull, { sha, method: one, force, confirm }));
    },
    async close(ref) {
      const { repository, pulls: all, pull } = await pullOf(ref);
      return orRefused(repository, await all.close(pull));
    },
    async deleteBranch(branch, { sha, instead }) {
      if (!(await isFreeToGo(await pulls(), branch, { sha, instead }))) return;
      const ref = `refs/heads/${branch}`;
      const deleted = await atRemote((there) => pushRef(repo, there, { ref, sha: undefined, expected: sha }));
      // A person who pushes at this moment keeps it; so does a rule of the repository.
      if (deleted.kind === "failed") throw new Error(`deleting ${branch}: ${deleted.reason}`);
    },
    ...claimsAt({ connection: access.connection, repo, atRemote }),
  };
}

/** Whether a branch is still at that commit, and nothing would be closed with it: what it is the base of gets another. */
async function isFreeToGo(
  { repository, pulls }: { readonly repository: RepositoryCalls; readonly pulls: Pulls },
  branch: string,
  { sha, instead }: { readonly sha: string; readonly instead: string },
): Promise<boolean> {
  const found = await repository.get(`/git/ref/heads/${branch}`);
  // GitHub deletes it by itself where the repository says so.
  if (found.kind === "not-found") return false;
  if (found.kind !== "ok") throw new CallError(`the branch ${branch}`, found);
  // A person has pushed to it since.
  if ((found.data as { object?: { sha?: unknown } }).object?.sha !== sha) return false;
  const left = await pulls.retarget(branch, instead);
  if (left !== undefined) throw new Error(`${branch} is still the base of #${left.number}: ${left.refused}`);
  return true;
}

function numberOf({ id }: RepositoryCalls, ref: string): number {
  const [, repository, number] = /^(\d+)#(\d+)$/.exec(ref) ?? [];
  if (Number(repository) !== id) throw new Error(`the pull request ${ref} is not one of this repository`);
  return Number(number);
}

function orRefused(repository: RepositoryCalls, outcome: PullState | Refused): ServerChange | Refused {
  return "refused" in outcome ? outcome : changeOf(repository, outcome);
}

const reviewsSchema = z.array(z.object({ user: z.object({ id: z.number(), type: z.string() }).nullable() }));

const METHODS: readonly (readonly [MergeMethod, string])[] = [
  ["squash", "allow_squash_merge"],
  ["merge", "allow_merge_commit"],
  ["rebase", "allow_rebase_merge"],
];

/** Squash unless the repository forbids it; a token that is not told what it allows tries that. */
async function mergeAllowed(
  repository: RepositoryCalls,
  method: MergeMethod | undefined,
  merge: (method: MergeMethod) => Promise<ServerMerge>,
): Promise<ServerMerge> {
  if (method !== undefined && method !== "squash") return merge(method);
  const asked = await repository.get("");
  const settings = (asked.kind === "ok" ? asked.data : {}) as Record<string, unknown>;
  const [allowed] = METHODS.find(([, key]) => settings[key] !== false) ?? ["squash" as const];
  const outcome = await merge(allowed);
  return outcome.kind === "merged" ? { ...outcome, method: allowed } : outcome;
}
