import { type Comment, fullNameOf, type Issue, type IssueEvent, type Repository } from "../world.ts";
import { nodeId, userShape, webOf } from "./people.ts";

export const labelShape = (api: string, repository: Repository, name: string): Record<string, unknown> => ({
  ...{
    id: labelId(name),
    node_id: nodeId("LA", labelId(name)),
    name,
    description: null,
    color: "ededed",
    default: false,
  },
  url: `${api}/repos/${fullNameOf(repository)}/labels/${encodeURIComponent(name)}`,
});

const labelId = (name: string): number =>
  [...name].reduce((sum, char) => (sum * 31 + (char.codePointAt(0) ?? 0)) % 1_000_003, 7);

export function issueShape(api: string, repository: Repository, issue: Issue): Record<string, unknown> {
  const { id, number, title, body, state, locked, pull } = issue;
  const url = `${api}/repos/${fullNameOf(repository)}/issues/${number}`;
  const html = `${webOf(api)}/${fullNameOf(repository)}/${pull ? "pull" : "issues"}/${number}`;
  return {
    ...{
      id,
      node_id: nodeId("I", id),
      number,
      title,
      body: body === "" ? null : body,
      state,
      locked,
      url,
      html_url: html,
    },
    repository_url: `${api}/repos/${fullNameOf(repository)}`,
    ...Object.fromEntries(
      ["labels", "comments", "events", "timeline"].map((part) => [`${part}_url`, `${url}/${part}`]),
    ),
    user: userShape(api, issue.user),
    labels: [...issue.labels].map((name) => labelShape(api, repository, name)),
    assignee: [...issue.assignees].map((one) => userShape(api, one))[0] ?? null,
    assignees: [...issue.assignees].map((one) => userShape(api, one)),
    milestone: issue.milestone === undefined ? null : milestoneShape(api, repository, issue.milestone),
    comments: issue.comments.length,
    ...{ created_at: issue.createdAt, updated_at: issue.updatedAt, closed_at: issue.closedAt ?? null },
    ...{ author_association: "NONE", active_lock_reason: null, state_reason: null },
    performed_via_github_app: issue.app === undefined ? null : appShape(api, issue.app),
    ...(pull
      ? {
          draft: pull.draft,
          pull_request: {
            ...{
              url: url.replace("/issues/", "/pulls/"),
              html_url: html,
              diff_url: `${html}.diff`,
              patch_url: `${html}.patch`,
            },
            merged_at: pull.merged?.at ?? null,
          },
        }
      : {}),
  };
}

export function commentShape(
  api: string,
  { repository, issue, comment }: { repository: Repository; issue: Issue; comment: Comment },
): Record<string, unknown> {
  const { id, body } = comment;
  const url = `${api}/repos/${fullNameOf(repository)}/issues/comments/${id}`;
  const kind = issue.pull ? "pull" : "issues";
  return {
    ...{ id, node_id: nodeId("IC", id), url, body, user: userShape(api, comment.user) },
    html_url: `${webOf(api)}/${fullNameOf(repository)}/${kind}/${issue.number}#issuecomment-${id}`,
    issue_url: `${api}/repos/${fullNameOf(repository)}/issues/${issue.number}`,
    ...{ created_at: comment.createdAt, updated_at: comment.updatedAt, author_association: "NONE" },
    performed_via_github_app: comment.app === undefined ? null : appShape(api, comment.app),
  };
}

export const appShape = (api: string, slug: string): Record<string, unknown> => ({
  ...{ id: labelId(slug), slug, node_id: nodeId("A", slug), client_id: slug, name: slug, description: null },
  owner: userShape(api, { id: 1, login: "apps", type: "User" }),
  ...{ external_url: api, html_url: `${webOf(api)}/apps/${slug}`, events: [] },
  permissions: { issues: "write", metadata: "read" },
  ...{ created_at: "2020-01-01T00:00:00Z", updated_at: "2020-01-01T00:00:00Z" },
});

export function issueEventShape(api: string, repository: Repository, event: IssueEvent): Record<string, unknown> {
  return {
    ...{ id: event.id, node_id: nodeId("EV", event.id), event: event.event, commit_id: null, commit_url: null },
    url: `${api}/repos/${fullNameOf(repository)}/issues/events/${event.id}`,
    // Of an assignment the actor is who was assigned: GitHub keeps that as it always was.
    ...{ actor: userShape(api, event.assignee ?? event.actor), created_at: event.createdAt },
    performed_via_github_app: event.app === undefined ? null : appShape(api, event.app),
    ...(event.label === undefined ? {} : { label: { name: event.label, color: "ededed" } }),
    ...(event.rename === undefined ? {} : { rename: event.rename }),
    ...(event.assignee === undefined
      ? {}
      : { assignee: userShape(api, event.assignee), assigner: userShape(api, event.actor) }),
  };
}

export function milestoneShape(api: string, repository: Repository, number: number): Record<string, unknown> {
  const url = `${api}/repos/${fullNameOf(repository)}/milestones/${number}`;
  return {
    ...{
      url,
      html_url: url,
      labels_url: `${url}/labels`,
      id: number,
      node_id: nodeId("MI", number),
      number,
      state: "open",
    },
    ...{ title: repository.milestones[number - 1] ?? "", description: null, creator: userShape(api, repository.owner) },
    ...{ open_issues: 0, closed_issues: 0, closed_at: null, due_on: null },
    ...{ created_at: "2020-01-01T00:00:00Z", updated_at: "2020-01-01T00:00:00Z" },
  };
}
