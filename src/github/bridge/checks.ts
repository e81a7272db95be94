import * as z from "zod";
import type { Outcome } from "../client/outcome.ts";
import { CallError } from "../pages.ts";
import type { RepositoryCalls } from "../repository.ts";
import type { ChecksState, KnownPull } from "./pull-news.ts";

/** One check of a commit. `held`: it waits for people, and no commit ends that. */
export interface Check {
  readonly id: string;
  readonly name: string;
  /** What reports it; a status is reported by itself. */
  readonly app: string;
  readonly state: "pending" | "green" | "red" | "held";
  readonly isRequired: boolean;
  readonly says: string;
  /** Of GitHub Actions: the job, which has a log, and its run, which can be run again. */
  readonly job?: number | undefined;
  readonly run?: number | undefined;
  /** Has annotations. */
  readonly checkRun?: number | undefined;
}

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

/** The checks of the heads of pull requests, by their node ids, many with one question; without those that have too many for that. */
export async function checksTogether(
  repository: RepositoryCalls,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly Check[]>> {
  const found = new Map<string, readonly Check[]>();
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const some = ids.slice(from, from + AT_ONCE);
    const pages = await contextsOf(repository, some);
    if (pages === "unseen") return found;
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
    if (pages === "unseen") return actionsOf(repository, head);
    const [page] = pages;
    found.push(...(page?.nodes ?? []));
    if (!page?.pageInfo.hasNextPage) return checksIn(found);
    after = page.pageInfo.endCursor;
  }
}

/**
 * Pure: those with the newest id of their kind. A commit keeps what ran there before: one event cancels the run of another, as when a draft
 * is made ready, and what failed is begun anew. GitHub's own rules look at the newest, too.
 */
function newestOf<T>(all: readonly T[], kindOf: (one: T) => string, idOf: (one: T) => number): readonly T[] {
  const newest = new Map<string, number>();
  for (const one of all) newest.set(kindOf(one), Math.max(idOf(one), newest.get(kindOf(one)) ?? 0));
  return all.filter((one) => idOf(one) === newest.get(kindOf(one)));
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
  return newestOf(nodes, kindOf, idOf).map(checkOf);
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

const STATUS = "status";
const ACTIONS = "github-actions";

function statusState(state: string): Check["state"] {
  if (/^success$/i.test(state)) return "green";
  return /^(failure|error)$/i.test(state) ? "red" : "pending";
}

function runState(status: string, conclusion: string | null): Check["state"] {
  if (!/^completed$/i.test(status) || conclusion === null) return "pending";
  if (/^(success|neutral|skipped)$/i.test(conclusion)) return "green";
  return /^(failure|timed_out|startup_failure)$/i.test(conclusion) ? "red" : "held";
}

const jobsSchema = z.object({
  jobs: z.array(
    z.object({
      ...{ id: z.number(), name: z.string(), status: z.string(), conclusion: z.string().nullable() },
      ...{ run_id: z.number(), completed_at: z.string().nullable() },
    }),
  ),
});
const runsSchema = z.object({
  workflow_runs: z.array(
    z.object({
      ...{ id: z.number(), workflow_id: z.number(), event: z.string(), name: z.string().nullish() },
      ...{ status: z.string().nullable(), conclusion: z.string().nullable() },
    }),
  ),
});
const statusesSchema = z.object({
  statuses: z.array(
    z.object({ id: z.number(), context: z.string(), state: z.string(), description: z.string().nullable() }),
  ),
});

/** Undefined: the token may not see it, or it is not there. */
async function readOf<T>(
  repository: RepositoryCalls,
  path: string,
  { schema, query = {} }: { readonly schema: z.ZodType<T>; readonly query?: Readonly<Record<string, string>> },
): Promise<T | undefined> {
  const outcome = await repository.get(path, { query: { per_page: 100, ...query } });
  if (outcome.kind === "refused" || outcome.kind === "not-found") return undefined;
  if (outcome.kind !== "ok") throw new CallError(path, outcome);
  return schema.parse(outcome.data);
}

/** What a fine-grained token sees of them. Which of them are required it does not see. */
export async function actionsOf(repository: RepositoryCalls, sha: string): Promise<readonly Check[]> {
  return [...(await jobsOf(repository, sha)), ...(await statusesOf(repository, sha))];
}

/** Runs are found by a commit, never by the name of a branch. */
async function jobsOf(repository: RepositoryCalls, sha: string): Promise<readonly Check[]> {
  const found: Check[] = [];
  const runs = await readOf(repository, "/actions/runs", { schema: runsSchema, query: { head_sha: sha } });
  const kindOf = ({ workflow_id: workflow, event }: { workflow_id: number; event: string }): string =>
    `${workflow} ${event}`;
  for (const run of newestOf(runs?.workflow_runs ?? [], kindOf, ({ id }) => id)) {
    const { jobs = [] } = (await readOf(repository, `/actions/runs/${run.id}/jobs`, { schema: jobsSchema })) ?? {};
    // One whose workflow cannot be read has failed without a job, and one that waits has none yet.
    const whole = {
      ...run,
      name: run.name ?? "workflow",
      status: run.status ?? "",
      run_id: run.id,
      completed_at: null,
    };
    for (const one of jobs.length > 0 ? jobs : [whole])
      found.push({
        ...{ id: `${one.id}-${Date.parse(one.completed_at ?? "") || 0}`, name: one.name, says: "", isRequired: false },
        ...{ app: ACTIONS, state: runState(one.status, one.conclusion), run: one.run_id },
        ...(one === whole ? {} : { job: one.id }),
      });
  }
  return found;
}

async function statusesOf(repository: RepositoryCalls, commit: string): Promise<readonly Check[]> {
  const path = `/commits/${encodeURIComponent(commit)}/status`;
  const { statuses = [] } = (await readOf(repository, path, { schema: statusesSchema })) ?? {};
  return statuses.map(({ id, context: name, state, description }) => ({
    ...{ id: `status-${id}`, name, app: STATUS, isRequired: false, state: statusState(state), says: description ?? "" },
  }));
}

/** Pure: those that count: the required ones, else all of them. */
export function countingOf(checks: readonly Check[]): readonly Check[] {
  const required = checks.filter(({ isRequired }) => isRequired);
  return required.length > 0 ? required : checks;
}

/** Pure: what they come to. None is not green. */
export function stateOf(checks: readonly Check[]): ChecksState {
  const states = countingOf(checks).map(({ state }) => state);
  if (states.length === 0) return "none";
  if (states.includes("pending")) return "pending";
  return states.every((state) => state === "green") ? "green" : "red";
}

const baseRunsSchema = z.object({
  check_runs: z.array(
    z.object({
      ...{ name: z.string(), status: z.string(), conclusion: z.string().nullable() },
      app: z.object({ slug: z.string().optional() }).nullable(),
    }),
  ),
});

const branchSchema = z.object({ object: z.object({ sha: z.string() }) });

/** Pure: what is the same check at another commit: apps may give theirs the same name. */
export const checkName = ({ app, name }: Pick<Check, "app" | "name">): string => `${app}/${name}`;

/** The checks that fail on a branch, too: of what runs there, and of what others report as statuses. */
export async function redOn(repository: RepositoryCalls, branch: string): Promise<ReadonlySet<string>> {
  const path = `/commits/${encodeURIComponent(branch)}/check-runs`;
  const runs = (await readOf(repository, path, { schema: baseRunsSchema }))?.check_runs;
  const checks =
    runs?.map(({ app, name, status, conclusion }) => ({
      ...{ app: app?.slug ?? "", name, state: runState(status, conclusion) },
    })) ?? (await jobsOn(repository, branch));
  const all = [...checks, ...(await statusesOf(repository, branch))];
  return new Set(all.filter(({ state }) => state === "red").map(checkName));
}

async function jobsOn(repository: RepositoryCalls, branch: string): Promise<readonly Check[]> {
  const head = await readOf(repository, `/git/ref/heads/${branch}`, { schema: branchSchema });
  return head ? jobsOf(repository, head.object.sha) : [];
}
