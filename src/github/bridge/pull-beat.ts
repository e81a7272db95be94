import * as z from "zod";
import type { ServerChange } from "../../forge/port.ts";
import { CallError } from "../pages.ts";
import { needsOf } from "../pulls/pull-state.ts";
import type { RepositoryCalls } from "../repository.ts";
import type { ChecksState, KnownPull } from "./pull-news.ts";

/** Of one pull request, what no list tells. */
export interface Beat {
  readonly head: string;
  readonly resolved: readonly string[];
  /** Undefined where the token may not see checks. */
  readonly checks: ChecksState | undefined;
  /** And that is why: it need not be asked for them. */
  readonly isForbidden: boolean;
  readonly needs: ServerChange["needs"];
  /** It is open, and in no merge queue. */
  readonly isUnqueued: boolean;
}

const rollupSchema = z.object({ state: z.string() }).nullish();
const commitsSchema = z.object({
  nodes: z.array(z.object({ commit: z.object({ oid: z.string(), statusCheckRollup: rollupSchema }) })),
});
const beatSchema = z.object({
  nodes: z.array(
    z
      .object({
        id: z.string(),
        state: z.string(),
        isInMergeQueue: z.boolean(),
        reviewThreads: z.object({ nodes: z.array(z.object({ id: z.string(), isResolved: z.boolean() })) }),
        commits: commitsSchema,
        mergeable: z.string(),
        mergeStateStatus: z.string().optional(),
      })
      .nullable(),
  ),
});

const BEAT = (state: string, checks: string): string => `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on PullRequest {
  id state isInMergeQueue mergeable reviewThreads(last: 100) { nodes { id isResolved } } commits(last: 1) { nodes { commit { oid ${checks} } } } ${state}
} } }`;
const AT_ONCE = 100;

/** Pull requests by their node ids, a hundred with one question. */
export async function beatOf(repository: RepositoryCalls, ids: readonly string[]): Promise<ReadonlyMap<string, Beat>> {
  const beats = new Map<string, Beat>();
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const some = ids.slice(from, from + AT_ONCE);
    const { nodes, isBlind, isForbidden } = await ask(repository, some);
    for (const node of nodes) {
      const commit = node?.commits.nodes[0]?.commit;
      if (!node || !commit) continue;
      const resolved = node.reviewThreads.nodes.filter(({ isResolved }) => isResolved).map(({ id }) => id);
      const checks = isBlind ? undefined : stateOf(commit.statusCheckRollup?.state);
      const isMergeable = node.mergeable === "UNKNOWN" ? undefined : node.mergeable !== "CONFLICTING";
      // The merge queue brings both together itself.
      const needs = node.isInMergeQueue ? undefined : needsOf(isMergeable, node.mergeStateStatus);
      const isUnqueued = node.state === "OPEN" && !node.isInMergeQueue;
      beats.set(node.id, { head: commit.oid, resolved, checks, isForbidden, needs, isUnqueued });
    }
  }
  return beats;
}

async function ask(
  { client }: RepositoryCalls,
  ids: readonly string[],
): Promise<z.infer<typeof beatSchema> & { readonly isBlind: boolean; readonly isForbidden: boolean }> {
  const whole = await client.graphql(BEAT("mergeStateStatus", "statusCheckRollup { state }"), { ids });
  // A fine-grained token may not see checks; threads it may.
  let outcome = whole;
  for (const state of ["mergeStateStatus", ""])
    if (outcome.kind === "refused") outcome = await client.graphql(BEAT(state, ""), { ids });
  if (outcome.kind !== "ok") throw new CallError("what became of pull requests", outcome);
  const isForbidden = whole.kind === "refused" && whole.status === 403;
  return { ...beatSchema.parse(outcome.data), isBlind: outcome !== whole, isForbidden };
}

/** Pure: that its base got something, or that it left the queue, changes nothing that lists tell. */
export function movedSince(
  { state, needs: told = "nothing" }: KnownPull,
  { needs, isUnqueued }: Beat,
): { readonly change: ServerChange; readonly known: Pick<KnownPull, "needs"> } | undefined {
  const known = needs === undefined || needs === told ? {} : { needs };
  if (state === undefined || !(isUnqueued || "needs" in known)) return undefined;
  return { change: { ...JSON.parse(state), ...known, ...(isUnqueued ? { unqueued: true } : {}) }, known };
}

function stateOf(rollup: string | undefined): ChecksState {
  if (rollup === undefined) return "none";
  if (rollup === "SUCCESS") return "green";
  return rollup === "FAILURE" || rollup === "ERROR" ? "red" : "pending";
}
