import { type Annotation, type CheckRun, type CommitStatus, fullNameOf, type Repository } from "../world.ts";
import { appShape } from "./issue.ts";
import { nodeId, userShape, webOf } from "./people.ts";
import { repositoryShape } from "./repository.ts";

export function checkRunShape(api: string, repository: Repository, check: CheckRun): Record<string, unknown> {
  const url = `${api}/repos/${fullNameOf(repository)}/check-runs/${check.id}`;
  const html = `${webOf(api)}/${fullNameOf(repository)}/runs/${check.id}`;
  return {
    ...{ id: check.id, name: check.name, node_id: nodeId("CR", check.id), head_sha: check.sha, external_id: "", url },
    ...{ html_url: html, details_url: html, status: check.status, conclusion: check.conclusion ?? null },
    ...{ started_at: check.startedAt, completed_at: check.completedAt ?? null },
    output: {
      ...{ title: check.name, summary: "", text: null },
      annotations_count: check.annotations.length,
      annotations_url: `${url}/annotations`,
    },
    ...{ check_suite: { id: check.id }, app: appShape(api, check.app), pull_requests: [] },
  };
}

export const annotationShape = ({ path, line, level, message }: Annotation): Record<string, unknown> => ({
  ...{ path, start_line: line, end_line: line, start_column: null, end_column: null, annotation_level: level },
  ...{ title: "", message, raw_details: "", blob_href: "" },
});

export function statusShape(api: string, repository: Repository, status: CommitStatus): Record<string, unknown> {
  return {
    url: `${api}/repos/${fullNameOf(repository)}/statuses/${status.sha}`,
    ...{ id: status.id, node_id: nodeId("SC", status.id), state: status.state, description: status.description },
    ...{ target_url: null, context: status.context, required: null, avatar_url: null },
    ...{ created_at: status.createdAt, updated_at: status.createdAt },
  };
}

/** A run has ended when all its jobs have, and no more are made. */
function runState(jobs: readonly CheckRun[]): Pick<CheckRun, "status" | "conclusion"> {
  const isOver = jobs.every(({ status }) => status === "completed") && !jobs.at(-1)?.hasFollowers;
  if (!isOver)
    return { status: jobs.some(({ status }) => status !== "queued") ? "in_progress" : "queued", conclusion: undefined };
  const worst = jobs.find(({ conclusion }) => conclusion === "failure") ?? jobs.at(-1);
  return { status: "completed", conclusion: worst?.conclusion };
}

/** A run of a workflow, by its jobs, each of which is a check. */
export function workflowRunShape(
  api: string,
  repository: Repository,
  jobs: readonly CheckRun[],
): Record<string, unknown> {
  const [check] = jobs;
  if (!check) throw new Error("a run without jobs");
  const { status, conclusion } = runState(jobs);
  const id = check.workflowRun ?? 0;
  const url = `${api}/repos/${fullNameOf(repository)}/actions/runs/${id}`;
  const parts = ["jobs", "logs", "check_suite", "artifacts", "cancel", "rerun", "workflow"];
  return {
    ...{
      id,
      name: check.name,
      node_id: nodeId("WFR", id),
      head_branch: null,
      head_sha: check.sha,
      path: ".github/workflows/ci.yml",
    },
    ...{
      run_number: 1,
      run_attempt: check.attempt,
      event: "push",
      status,
      conclusion: conclusion ?? null,
    },
    ...{
      workflow_id: check.workflow,
      url,
      html_url: url,
      pull_requests: [],
      created_at: check.startedAt,
      updated_at: jobs
        .map((job) => job.completedAt ?? job.startedAt)
        .reduce((one, other) => (one > other ? one : other)),
    },
    ...Object.fromEntries(parts.map((part) => [`${part}_url`, `${url}/${part}`])),
    ...{
      head_commit: null,
      repository: repositoryShape(api, repository),
      head_repository: repositoryShape(api, repository),
    },
    ...{
      display_title: check.name,
      actor: userShape(api, repository.owner),
      triggering_actor: userShape(api, repository.owner),
      run_started_at: check.startedAt,
    },
  };
}

export function jobShape(api: string, repository: Repository, check: CheckRun): Record<string, unknown> {
  const run = `${api}/repos/${fullNameOf(repository)}/actions/runs/${check.workflowRun}`;
  return {
    ...{ id: check.id, run_id: check.workflowRun, run_url: run, node_id: nodeId("CR", check.id), head_sha: check.sha },
    ...{
      url: `${api}/repos/${fullNameOf(repository)}/actions/jobs/${check.id}`,
      html_url: null,
      run_attempt: check.attempt,
    },
    ...{
      status: check.status,
      conclusion: check.conclusion ?? null,
      name: check.name,
      workflow_name: "ci",
      head_branch: null,
    },
    ...{ created_at: check.startedAt, started_at: check.startedAt, completed_at: check.completedAt ?? null, steps: [] },
    ...{ check_run_url: `${api}/repos/${fullNameOf(repository)}/check-runs/${check.id}`, labels: [] },
    ...{ runner_id: null, runner_name: null, runner_group_id: null, runner_group_name: null },
  };
}
