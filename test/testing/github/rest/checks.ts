import { branchHead } from "../git.ts";
import { annotationShape, checkRunShape, jobShape, statusShape, workflowRunShape } from "../shapes/checks.ts";
import { fullRepositoryShape } from "../shapes/repository.ts";
import type { CheckRun } from "../world.ts";
import { type Call, notFound, ok, page, paged, type Route, reads, writes } from "./route.ts";

export const checkRoutes: readonly Route[] = [
  {
    ...{ method: "GET", path: "/commits/{ref}/check-runs", needs: reads("checks") },
    handle(call) {
      const sha = commitOf(call);
      const all = call.repository.checkRuns.filter((check) => check.sha === sha);
      const path = `/repos/${call.params.owner}/${call.params.repo}/commits/${sha}/check-runs`;
      const { items, headers } = page(call, path, all);
      const check_runs = items.map((check) => checkRunShape(call.api, call.repository, check));
      return { status: 200, body: { total_count: all.length, check_runs }, headers };
    },
  },
  {
    ...{ method: "GET", path: "/check-runs/{check}/annotations", needs: reads("checks") },
    handle: (call) =>
      paged(call, `/check-runs/${call.params.check}/annotations`, {
        all: checkOf(call, call.params.check).annotations,
        shape: annotationShape,
      }),
  },
  {
    ...{ method: "GET", path: "/commits/{ref}/status", needs: reads("statuses") },
    handle(call) {
      const sha = commitOf(call);
      const newest = [
        ...new Map(call.repository.statuses.filter((one) => one.sha === sha).map((one) => [one.context, one])).values(),
      ];
      const state = newest.some((one) => one.state === "failure" || one.state === "error")
        ? "failure"
        : newest.length > 0 && newest.every((one) => one.state === "success")
          ? "success"
          : "pending";
      const url = `${call.api}/repos/${call.params.owner}/${call.params.repo}/commits/${sha}`;
      return ok({
        ...{ state, sha, total_count: newest.length, commit_url: url, url: `${url}/status` },
        statuses: newest.map((one) => statusShape(call.api, call.repository, one)),
        repository: fullRepositoryShape(call.api, call.repository, call.user),
      });
    },
  },
  {
    ...{ method: "GET", path: "/actions/runs", needs: reads("actions") },
    handle(call) {
      const sha = call.query.get("head_sha");
      const jobs = call.repository.checkRuns.filter(
        (check) => check.workflowRun !== undefined && (sha === null || check.sha === sha),
      );
      // Newest first.
      const all = [...Map.groupBy(jobs, ({ workflowRun }) => workflowRun).values()].reverse();
      const { items, headers } = page(call, `/repos/${call.params.owner}/${call.params.repo}/actions/runs`, all);
      const workflow_runs = items.map((ones) => workflowRunShape(call.api, call.repository, ones));
      return { status: 200, body: { total_count: all.length, workflow_runs }, headers };
    },
  },
  {
    ...{ method: "GET", path: "/actions/runs/{run}/jobs", needs: reads("actions") },
    handle(call) {
      const all = runOf(call);
      const path = `/repos/${call.params.owner}/${call.params.repo}/actions/runs/${call.params.run}/jobs`;
      const { items, headers } = page(call, path, all);
      const jobs = items.map((check) => jobShape(call.api, call.repository, check));
      return { status: 200, body: { total_count: all.length, jobs }, headers };
    },
  },
  {
    ...{ method: "GET", path: "/actions/jobs/{job}/logs", needs: { ...reads("actions"), least: "write" } },
    handle(call) {
      const { id } = checkOf(call, call.params.job);
      return { status: 302, headers: { location: `${call.api}/_logs/${call.repository.id}/${id}` } };
    },
  },
  {
    ...{ method: "POST", path: "/actions/runs/{run}/rerun-failed-jobs", needs: writes("actions") },
    handle(call) {
      for (const check of runOf(call)) {
        Object.assign(check, {
          status: "queued",
          conclusion: undefined,
          completedAt: undefined,
          attempt: check.attempt + 1,
        });
      }
      return { status: 201, body: {} };
    },
  },
];

function commitOf(call: Call): string {
  const { ref = "" } = call.params;
  return branchHead(call.repository.folder, ref) ?? ref;
}

function checkOf(call: Call, id: string | undefined): CheckRun {
  const found = call.repository.checkRuns.find((check) => check.id === Number(id));
  if (!found) throw notFound();
  return found;
}

function runOf(call: Call): CheckRun[] {
  const found = call.repository.checkRuns.filter(({ workflowRun }) => workflowRun === Number(call.params.run));
  if (found.length === 0) throw notFound();
  return found;
}
