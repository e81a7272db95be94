import * as z from "zod";
import type { Outcome } from "../client/outcome.ts";
import { CallError } from "../pages.ts";
import type { RepositoryCalls } from "../repository.ts";
import { actionsOf } from "./actions.ts";
import { type Check, newestOfKind, runState, STATUS, statusState } from "./check-state.ts";
import { beatOf } from "./pull-beat.ts";
import type { KnownPull } from "./pull-news.ts";

const checkRunNode = z.object({
  __typename: z.literal("CheckRun"),
  databaseId: z.number(),
  name: z.string(),
  status: z.string(),
  conclusion: z.string().nullable(),
  completedAt: z.string().nullable(),
  isRequired: z.boolean(),
  checkSuite: z.object({
    app: z.object({ slug: z.string() }).nullable(),
    workflowRun: z
      .object({
        databaseId: z.number(),
        event: z.string(),
        workflow: z.object({ databaseId: z.number().nullable() }),
      })
      .nullable(),
  }),
});
const statusNode = z.object({
  __typename: z.literal("StatusContext"),
  id: z.string(),
  context: z.string(),
  state: z.string(),
  description: z.string().nullable(),
  isRequired: z.boolean(),
});
const contexts = z.object({
  nodes: z.array(z.discriminatedUnion("__typename", [checkRunNode, statusNode])),
  pageInfo: z.object({ endCursor: z.string().nullable(), hasNextPage: z.boolean() }),
});
const pullSchema = z.object({
  commits: z.object({
    nodes: z.array(z.object({ commit: z.object({ statusCheckRollup: z.object({ contexts }).nullable() }) })),
  }),
});
const checksSchema = z.record(z.string(), pullSchema);

/** A pull request has to be named for each check, to tell whether it is required. */
const ofPull = (
  name: string,
): string => `${name}: node(id: $${name}) { ... on PullRequest { commits(last: 1) { nodes { commit {
  statusCheckRollup { contexts(first: 100, after: $after) {
    nodes {
      __typename
      ... on CheckRun { databaseId name status conclusion completedAt isRequired(pullRequestId: $${name})
        checkSuite { app { slug } workflowRun { databaseId event workflow { databaseId } } } }
      ... on StatusContext { id context state description isRequired(pullRequestId: $${name}) }
    }
    pageInfo { endCursor hasNextPage }
  } }
} } } } }`;

type Contexts = z.infer<typeof contexts>;
type ContextNode = Contexts["nodes"][number];

/** A page of the checks of each; `unseen`: the token may not see them. */
async function contextsOf(
  { client }: RepositoryCalls,
  ids: readonly string[],
  after: string | null = null,
): Promise<readonly (Contexts | undefined)[] | "unseen"> {
  const names = ids.map((_, index) => `pull${index}`);
  const query = `query ($after: String, ${names.map((name) => `$${name}: ID!`).join(", ")}) { ${names.map(ofPull).join("\n")} }`;
  const variables = Object.fromEntries(names.map((name, index) => [name, ids[index]]));
  const outcome: Outcome = await client.graphql(query, { ...variables, after });
  // Refused for anything else, they are there to be seen, and those of other apps would be left out.
  if (outcome.kind === "refused" && outcome.status === 403) return "unseen";
  if (outcome.kind !== "ok") throw new CallError("checks", outcome);
  const pulls = checksSchema.parse(outcome.data);
  return names.map((name) => pulls[name]?.commits.nodes[0]?.commit.statusCheckRollup?.contexts);
}

const AT_ONCE = 50;

/** The checks of the heads of pull requests, by their node ids, many with one question; without those that have too many for that. `unseen`: the token may not see them. */
export async function checksTogether(
  repository: RepositoryCalls,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly Check[]> | "unseen"> {
  const found = new Map<string, readonly Check[]>();
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const some = ids.slice(from, from + AT_ONCE);
    const pages = await contextsOf(repository, some);
    if (pages === "unseen") return pages;
    for (const [index, id] of some.entries()) {
      const page = pages[index];
      if (!page?.pageInfo.hasNextPage) found.set(id, checksIn(page?.nodes ?? []));
    }
  }
  return found;
}

/** The checks of the head of a pull request; without the permission for checks those of GitHub Actions and statuses. */
export async function headChecks(
  repository: RepositoryCalls,
  { nodeId, head }: Pick<KnownPull, "nodeId" | "head">,
): Promise<readonly Check[]> {
  const found: ContextNode[] = [];
  for (let after: string | null = null; ; ) {
    const pages: Awaited<ReturnType<typeof contextsOf>> = await contextsOf(repository, [nodeId], after);
    if (pages === "unseen")
      return actionsOf(repository, head, (await beatOf(repository, [nodeId])).get(nodeId)?.checks);
    const [page] = pages;
    found.push(...(page?.nodes ?? []));
    if (!page?.pageInfo.hasNextPage) return checksIn(found);
    after = page.pageInfo.endCursor;
  }
}

/** Of a workflow the run counts with all its jobs; of other apps each check by itself. */
function checksIn(nodes: readonly ContextNode[]): readonly Check[] {
  const kindOf = (node: ContextNode): string => {
    if (node.__typename === "StatusContext") return `status ${node.id}`;
    const { app, workflowRun: run } = node.checkSuite;
    return run ? `workflow ${run.workflow.databaseId} ${run.event}` : `check ${app?.slug} ${node.name}`;
  };
  const idOf = (node: ContextNode): number =>
    node.__typename === "StatusContext" ? 0 : (node.checkSuite.workflowRun?.databaseId ?? node.databaseId);
  return newestOfKind(nodes, kindOf, idOf).map(checkOf);
}

function checkOf(node: ContextNode): Check {
  if (node.__typename === "StatusContext") {
    const { id, context: name, state, description, isRequired } = node;
    return { id, name, app: STATUS, isRequired, state: statusState(state), says: description ?? "" };
  }
  const { databaseId: checkRun, name, status, conclusion, completedAt, isRequired, checkSuite } = node;
  const run = checkSuite.workflowRun?.databaseId;
  return {
    ...{ id: `${checkRun}-${Date.parse(completedAt ?? "") || 0}`, name, isRequired, says: "", checkRun },
    app: checkSuite.app?.slug ?? "",
    ...{ state: runState(status, conclusion), ...(run === undefined ? {} : { run, job: checkRun }) },
  };
}
