import { readFileSync } from "node:fs";
import { buildSchema, type GraphQLError, graphql } from "graphql";
import type { Counted } from "../limits.ts";
import { nodeId } from "../shapes/people.ts";
import type { Token } from "../tokens.ts";
import { reaches } from "../tokens.ts";
import { type Issue, mayDo, type Pull, permissionOf, type Repository, type World } from "../world.ts";
import {
  commentNode,
  issueNode,
  pullNode,
  repositoryNode,
  reviewCommentNode,
  threadNodes,
  userNode,
} from "./objects.ts";
import { ownerNode, projectNode } from "./projects.ts";

/** The part of the published schema that is answered here. */
export const SCHEMA = ["schema.graphql", "inputs.graphql", "projects.graphql"]
  .map((name) => readFileSync(new URL(name, import.meta.url), "utf8"))
  .join("\n");

const schema = buildSchema(SCHEMA);

export interface Question {
  readonly world: World;
  readonly token: Token;
  readonly counted: () => Counted;
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Answers with 200 and `errors` where REST would have a status of its own. */
export async function answerGraphql(question: Question): Promise<{ data?: unknown; errors?: readonly unknown[] }> {
  const { query, variables } = question;
  const { data, errors } = await graphql({
    schema,
    source: query,
    rootValue: rootOf(question),
    variableValues: variables,
  });
  return { ...(data === undefined ? {} : { data }), ...(errors ? { errors: errors.map(errorShape) } : {}) };
}

const errorShape = (error: GraphQLError): unknown => ({
  type: /^Could not resolve/.test(error.message)
    ? "NOT_FOUND"
    : /not accessible/.test(error.message)
      ? "FORBIDDEN"
      : /required scopes/.test(error.message)
        ? "INSUFFICIENT_SCOPES"
        : "UNPROCESSABLE",
  ...{ path: error.path, locations: error.locations, message: error.message },
});

function rootOf({ world, token, counted }: Question): Record<string, unknown> {
  const visible = world.repositories.filter((one) => permissionOf(one, token.user) !== "none");
  const pulls = (): { repository: Repository; issue: Issue & { pull: Pull } }[] =>
    visible.flatMap((repository) =>
      [...repository.issues.values()]
        .filter((issue): issue is Issue & { pull: Pull } => issue.pull !== undefined)
        .map((issue) => ({ repository, issue })),
    );
  const pullFor = (id: string): { repository: Repository; issue: Issue & { pull: Pull } } => {
    const found = pulls().find(({ issue }) => nodeId("PR", issue.id) === id);
    if (!found) throw new Error(`Could not resolve to a node with the global id of '${id}'`);
    if (!mayDo(found.repository, token.user, "write") || !reaches(token, "pull_requests", "write"))
      throw new Error("Resource not accessible by personal access token");
    return found;
  };
  const node = ({ id }: { id: string }): unknown => {
    const pull = pulls().find(({ issue }) => nodeId("PR", issue.id) === id);
    const sees = { checks: reaches(token, "checks", "read"), rollup: reaches(token, "statuses", "read") };
    if (pull) return pullNode(pull.repository, pull.issue, sees);
    for (const one of visible)
      for (const issue of one.issues.values()) {
        if (nodeId("I", issue.id) === id) return issueNode(one, issue);
        const comment = issue.comments.find((written) => nodeId("IC", written.id) === id);
        if (comment) return commentNode(comment);
        const onLine = issue.pull?.reviewComments.find((written) => nodeId("PRRC", written.id) === id);
        if (onLine) return reviewCommentNode(onLine);
      }
    const repository = visible.find((one) => nodeId("R", one.id) === id);
    if (repository) return repositoryNode(repository);
    const project = world.projects.find((one) => one.id === id);
    if (project && (project.readers?.has(token.user) ?? true)) return projectNode(project, token);
    throw new Error(`Could not resolve to a node with the global id of '${id}'`);
  };
  const draft =
    (isDraft: boolean) =>
    ({ input }: { input: { pullRequestId: string } }) => {
      const { repository, issue } = pullFor(input.pullRequestId);
      issue.pull.draft = isDraft;
      issue.updatedAt = world.time();
      return { pullRequest: pullNode(repository, issue) };
    };
  return {
    viewer: userNode(token.user),
    rateLimit() {
      const { limit, remaining, used, reset } = counted();
      return { cost: 1, limit, remaining, used, resetAt: new Date(reset * 1000).toISOString() };
    },
    repository({ owner, name }: { owner: string; name: string }) {
      const found = world.find(owner, name);
      if (found && visible.includes(found.repository)) return repositoryNode(found.repository);
      throw new Error(`Could not resolve to a Repository with the name '${owner}/${name}'.`);
    },
    repositoryOwner: ({ login }: { login: string }) => ownerNode(world, token, login),
    node,
    // Each by its own: of those that are gone GitHub tells which, and the others all the same.
    nodes: ({ ids }: { ids: readonly string[] }) => ids.map(async (id) => node({ id })),
    markPullRequestReadyForReview: draft(false),
    convertPullRequestToDraft: draft(true),
    enqueuePullRequest({ input }: { input: { pullRequestId: string; expectedHeadOid?: string } }) {
      const { repository, issue } = pullFor(input.pullRequestId);
      if (!repository.rules.get(issue.pull.base.branch)?.mergeQueue)
        throw new Error("Merge queue is not enabled for this branch");
      if (input.expectedHeadOid && input.expectedHeadOid !== issue.pull.head.sha)
        throw new Error("Head branch was modified. Review and try again.");
      issue.pull.queued = true;
      issue.updatedAt = world.time();
      return { mergeQueueEntry: { id: nodeId("MQE", issue.id), position: 1, state: "QUEUED" } };
    },
    dequeuePullRequest({ input }: { input: { id: string } }) {
      const { issue } = pullFor(input.id);
      if (!issue.pull.queued) throw new Error("Pull request is not in the merge queue");
      issue.pull.queued = false;
      issue.updatedAt = world.time();
      return { mergeQueueEntry: null };
    },
    resolveReviewThread({ input }: { input: { threadId: string } }) {
      for (const { issue } of pulls()) {
        const thread = issue.pull.reviewComments.find((one) => one.thread.id === input.threadId)?.thread;
        if (!thread) continue;
        Object.assign(thread, { isResolved: true, resolvedBy: token.user });
        return { thread: threadNodes(issue.pull.reviewComments).find(({ id }) => id === thread.id) };
      }
      throw new Error(`Could not resolve to a node with the global id of '${input.threadId}'`);
    },
  };
}
