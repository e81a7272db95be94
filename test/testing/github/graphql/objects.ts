import { canMerge } from "../deeds.ts";
import { decisionOf, newestChecks, rollup } from "../rules.ts";
import { nodeId } from "../shapes/people.ts";
import { mergeStateOf } from "../shapes/pull.ts";
import {
  type CheckRun,
  type Comment,
  type CommitStatus,
  fullNameOf,
  type Issue,
  type Pull,
  type Repository,
  type ReviewComment,
  type User,
} from "../world.ts";
import { connection } from "./connection.ts";

type Page = Parameters<typeof connection>[1];
type Node = Record<string, unknown> & { readonly id: string };

export const userNode = ({ id, login, type }: User): Node => ({
  __typename: type,
  id: nodeId("U", id),
  databaseId: id,
  login,
});

export function repositoryNode(repository: Repository): Node {
  return {
    ...{
      __typename: "Repository",
      id: nodeId("R", repository.id),
      databaseId: repository.id,
      nameWithOwner: fullNameOf(repository),
    },
    pullRequest({ number }: { number: number }) {
      const issue = repository.issues.get(number);
      if (issue?.pull) return pullNode(repository, issue as Issue & { pull: Pull });
      throw new Error(`Could not resolve to a PullRequest with the number of ${number}.`);
    },
  };
}

/** A token may lack the permission for checks: then it is told what they come to, but none of them; without that for statuses nothing at all. */
interface Sees {
  readonly checks: boolean;
  readonly rollup: boolean;
}

export function pullNode(
  repository: Repository,
  issue: Issue & { pull: Pull },
  sees: Sees = { checks: true, rollup: true },
): Node {
  const { pull } = issue;
  const rules = repository.rules.get(pull.base.branch);
  const commits = [{ id: pull.head.sha, commit: commitNode(repository, pull, sees) }];
  return {
    ...{ __typename: "PullRequest", id: nodeId("PR", issue.id), number: issue.number },
    state: pull.merged ? "MERGED" : issue.state.toUpperCase(),
    ...{ isDraft: pull.draft, headRefOid: pull.head.sha, updatedAt: issue.updatedAt },
    ...{ isInMergeQueue: pull.queued, isMergeQueueEnabled: rules?.mergeQueue ?? false },
    mergeQueueEntry: pull.queued ? { id: nodeId("MQE", issue.id), position: 1, state: "QUEUED" } : null,
    mergeable: () => (issue.state === "closed" ? "UNKNOWN" : canMerge(repository, pull) ? "MERGEABLE" : "CONFLICTING"),
    mergeStateStatus: () => (issue.state === "closed" ? "UNKNOWN" : mergeStateOf(repository, pull)),
    reviewDecision: decisionOf(repository, pull.reviews, rules?.approvals ?? 0),
    reviews: (page: Page) =>
      connection(
        pull.reviews.map((review) => ({
          ...{
            id: nodeId("PRR", review.id),
            fullDatabaseId: String(review.id),
            author: userNode(review.user),
            state: review.state,
            body: review.body,
          },
          ...{ submittedAt: review.submittedAt, lastEditedAt: null, commit: { id: review.commit, oid: review.commit } },
        })),
        page,
      ),
    reviewThreads: (page: Page) => connection(threadNodes(pull.reviewComments), page),
    commits: (page: Page) => connection(commits, page),
  };
}

export function threadNodes(comments: readonly ReviewComment[]): Node[] {
  const threads = Map.groupBy(comments, ({ thread }) => thread);
  return [...threads].map(([{ id, isResolved, resolvedBy }, ones]) => ({
    ...{ __typename: "PullRequestReviewThread", id, isResolved, resolvedBy: resolvedBy ? userNode(resolvedBy) : null },
    ...{ path: ones[0]?.path, line: ones[0]?.line ?? null },
    comments: (page: Page) => connection(ones.map(reviewCommentNode), page),
  }));
}

export const reviewCommentNode = ({ id, editedAt }: ReviewComment): Node => ({
  ...{
    __typename: "PullRequestReviewComment",
    id: nodeId("PRRC", id),
    fullDatabaseId: String(id),
    lastEditedAt: editedAt ?? null,
  },
});

function commitNode(repository: Repository, pull: Pull, sees: Sees): Node {
  const { sha } = pull.head;
  const state = rollup(repository, sha);
  const required = repository.rules.get(pull.base.branch)?.requiredChecks ?? [];
  const names = new Set(newestChecks(repository, sha).keys());
  const checks = repository.checkRuns.filter((one) => one.sha === sha);
  const statuses = [
    ...new Map(repository.statuses.filter((one) => one.sha === sha).map((one) => [one.context, one])).values(),
  ];
  const contexts = [
    ...checks.map((check) => checkNode(check, required.includes(check.name))),
    ...statuses.map((status) => statusNode(status, required.includes(status.context))),
  ];
  const seen = (found: Record<string, unknown>): Record<string, unknown> => ({
    ...found,
    nodes: (found.nodes as Node[]).map((node) =>
      node.__typename === "StatusContext" || sees.checks ? node : new Error(NOT_ACCESSIBLE),
    ),
  });
  return {
    ...{ id: sha, oid: sha },
    statusCheckRollup() {
      if (!sees.checks && !sees.rollup) throw new Error(NOT_ACCESSIBLE);
      return names.size === 0 ? null : { id: sha, state, contexts: (page: Page) => seen(connection(contexts, page)) };
    },
  };
}

const NOT_ACCESSIBLE = "Resource not accessible by personal access token";

const checkNode = (check: CheckRun, isRequired: boolean): Node => ({
  ...{ __typename: "CheckRun", id: nodeId("CR", check.id), databaseId: check.id, name: check.name, detailsUrl: null },
  ...{
    status: check.status.toUpperCase(),
    conclusion: check.conclusion?.toUpperCase() ?? null,
    completedAt: check.completedAt ?? null,
    isRequired: () => isRequired,
  },
  checkSuite: {
    id: nodeId("CS", check.id),
    app: { id: nodeId("A", check.app), slug: check.app },
    workflowRun: workflowRunNode(check),
  },
});

const workflowRunNode = ({ workflowRun: run, workflow }: CheckRun): Node | null =>
  run === undefined || workflow === undefined
    ? null
    : {
        ...{ id: nodeId("WFR", run), databaseId: run, event: "push" },
        workflow: { id: nodeId("W", workflow), databaseId: workflow },
      };

const statusNode = (status: CommitStatus, isRequired: boolean): Node => ({
  ...{
    __typename: "StatusContext",
    id: nodeId("SC", status.id),
    context: status.context,
    state: status.state.toUpperCase(),
  },
  ...{ description: status.description, targetUrl: null, isRequired: () => isRequired },
});

export const issueNode = (repository: Repository, { id, number, edits }: Issue): Node => ({
  ...{ __typename: "Issue", id: nodeId("I", id), databaseId: id, number, repository: repositoryNode(repository) },
  userContentEdits: (page: Page) =>
    connection(
      edits
        .map(({ at, by }, index) => ({ id: nodeId("UCE", `${id}-${index}`), editedAt: at, editor: userNode(by) }))
        .reverse(),
      page,
    ),
});

export const commentNode = ({ id, editedAt }: Comment): Node => ({
  ...{ __typename: "IssueComment", id: nodeId("IC", id), lastEditedAt: editedAt ?? null },
});
