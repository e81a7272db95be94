import * as z from "zod";
import { CallError, PAGE_SIZE } from "../pages.ts";
import type { RepositoryCalls } from "../repository.ts";
import { type Check, checkName, newestOfKind, runState, STATUS, stateOf, statusState } from "./check-state.ts";
import type { ChecksState } from "./pull-news.ts";

const ACTIONS = "github-actions";

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
      ...{ status: z.string().nullable(), conclusion: z.string().nullable(), run_attempt: z.number().default(1) },
    }),
  ),
});
type Run = z.infer<typeof runsSchema>["workflow_runs"][number];
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
  const outcome = await repository.get(path, { query: { per_page: PAGE_SIZE, ...query } });
  if (outcome.kind === "refused" || outcome.kind === "not-found") return undefined;
  if (outcome.kind !== "ok") throw new CallError(path, outcome);
  return schema.parse(outcome.data);
}

/**
 * What a fine-grained token sees of them. Which of them are required it does not see. What they all come to it may be told: then what no
 * run accounts for, not even one that another took the place of, stands for checks of which it knows no more.
 */
export async function actionsOf(
  repository: RepositoryCalls,
  sha: string,
  summary?: ChecksState,
): Promise<readonly Check[]> {
  const runs = await runsOf(repository, sha);
  const seen = [...(await jobsOf(repository, runs)), ...(await statusesOf(repository, sha))];
  const isUnlike = (summary === "red" || summary === "pending") && ["green", "none"].includes(stateOf(seen));
  const isFirst = (run: Run): boolean =>
    run.run_attempt === 1 && runState(run.status ?? "", run.conclusion) === "green";
  if (!isUnlike || !runs.every(isFirst)) return seen;
  const state = summary === "red" ? "held" : "pending";
  const name = "one that the token may not see";
  return [...seen, { id: `unseen-${sha}`, name, app: "", state, isRequired: false, says: "" }];
}

const endedSchema = z.object({
  workflow_runs: z.array(z.object({ head_sha: z.string(), updated_at: z.string(), status: z.string().nullable() })),
});

/** When a run of each commit last ended, as far as it is among the hundred that began last. */
export async function runsEnded(repository: RepositoryCalls): Promise<ReadonlyMap<string, number>> {
  const query = { exclude_pull_requests: "true" };
  const found = await readOf(repository, "/actions/runs", { schema: endedSchema, query });
  const ended = new Map<string, number>();
  for (const { head_sha: sha, updated_at: at, status } of found?.workflow_runs ?? [])
    if (status === "completed") ended.set(sha, Math.max(Date.parse(at), ended.get(sha) ?? 0));
  return ended;
}

/** Runs are found by a commit, never by the name of a branch. */
async function runsOf(repository: RepositoryCalls, sha: string): Promise<readonly Run[]> {
  const found = await readOf(repository, "/actions/runs", { schema: runsSchema, query: { head_sha: sha } });
  return found?.workflow_runs ?? [];
}

const newestRuns = (runs: readonly Run[]): readonly Run[] =>
  newestOfKind(
    runs,
    ({ workflow_id: workflow, event }) => `${workflow} ${event}`,
    ({ id }) => id,
  );

async function jobsOf(repository: RepositoryCalls, runs: readonly Run[]): Promise<readonly Check[]> {
  const found: Check[] = [];
  for (const run of newestRuns(runs)) {
    const whole = wholeOf(run);
    const jobs = (await jobsIn(repository, run.id)).map((job) => ({
      ...{ id: `${job.id}-${Date.parse(job.completed_at ?? "") || 0}`, name: job.name, says: "", isRequired: false },
      ...{ app: ACTIONS, state: runState(job.status, job.conclusion), run: job.run_id, job: job.id },
    }));
    // One whose workflow cannot be read has failed without a job, and jobs are made when those that they need have ended.
    const isMore = whole.state !== "green" && !jobs.some(({ state }) => state === whole.state);
    found.push(...jobs, ...(jobs.length === 0 || isMore ? [whole] : []));
  }
  return found;
}

/** More jobs than a run has; what it comes to counts all the same. */
const MAX_PAGES = 20;

async function jobsIn(repository: RepositoryCalls, run: number): Promise<z.infer<typeof jobsSchema>["jobs"]> {
  const all = [];
  for (let page = 1; ; page += 1) {
    const query = { page: String(page) };
    const { jobs = [] } = (await readOf(repository, `/actions/runs/${run}/jobs`, { schema: jobsSchema, query })) ?? {};
    all.push(...jobs);
    if (jobs.length < PAGE_SIZE || page === MAX_PAGES) return all;
  }
}

const wholeOf = ({ id, name, status, conclusion }: Run): Check => ({
  ...{ id: `${id}-0`, name: name ?? "workflow", says: "", isRequired: false },
  ...{ app: ACTIONS, state: runState(status ?? "", conclusion), run: id },
});

/** The runs of a commit that have not ended, whatever the jobs say that they have by now. */
export async function runsUnderWay(repository: RepositoryCalls, sha: string): Promise<readonly Check[]> {
  const runs = newestRuns(await runsOf(repository, sha)).map(wholeOf);
  return runs.filter(({ state }) => state === "pending");
}

async function statusesOf(repository: RepositoryCalls, commit: string): Promise<readonly Check[]> {
  const path = `/commits/${encodeURIComponent(commit)}/status`;
  const { statuses = [] } = (await readOf(repository, path, { schema: statusesSchema })) ?? {};
  return statuses.map(({ id, context: name, state, description }) => ({
    ...{ id: `status-${id}`, name, app: STATUS, isRequired: false, state: statusState(state), says: description ?? "" },
  }));
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
  return head ? jobsOf(repository, await runsOf(repository, head.object.sha)) : [];
}
