import * as z from "zod";
import type { BridgeEvent } from "../../bridges/contract.ts";
import { hasWritePermission } from "../../bus/author.ts";
import { allPages, CallError } from "../pages.ts";
import type { RepositoryCalls } from "../repository.ts";
import { authorIn } from "../tracker/comments.ts";
import type { Permissions } from "../tracker/permissions.ts";
import { ISSUE_TARGET, SYSTEM } from "../tracker/tracker.ts";
import {
  changedIssues,
  cursorAfter,
  type GitHubIssue,
  happeningsSchema,
  type IssueCursor,
  issuesSchema,
  labelsOf,
  type News,
  newsOf,
  presentCursor,
  sinceOf,
} from "./issue-news.ts";

export interface HeardIssues {
  readonly events: readonly BridgeEvent[];
  readonly cursor: IssueCursor;
}

/** What happened to the issues of a repository since the last look. The first look hears nothing. */
export async function hearIssues(
  repository: RepositoryCalls,
  permissions: Permissions,
  cursor: IssueCursor | undefined,
): Promise<HeardIssues> {
  if (!cursor) {
    const query = { state: "all", sort: "updated", direction: "desc" };
    const newest = await allPages(repository, "/issues", { query, schema: issuesSchema, maxPages: 1 });
    return { events: [], cursor: presentCursor(newest) };
  }
  const query = { state: "all", since: sinceOf(cursor), sort: "updated", direction: "asc" };
  const issues = await allPages(repository, "/issues", { query, schema: issuesSchema });
  const events: BridgeEvent[] = [];
  const told: News[] = [];
  for (const issue of changedIssues(issues, cursor)) {
    const path = `/issues/${issue.number}/events`;
    const news = newsOf(issue, await allPages(repository, path, { schema: happeningsSchema }), cursor);
    told.push(...news);
    for (const one of news) events.push(await eventOf({ repository, permissions }, issue, one));
  }
  return { events, cursor: cursorAfter(issues, told, cursor) };
}

interface Looking {
  readonly repository: RepositoryCalls;
  readonly permissions: Permissions;
}

async function eventOf({ repository, permissions }: Looking, issue: GitHubIssue, news: News): Promise<BridgeEvent> {
  const { number, title, body } = issue;
  const thread = `${repository.id}#${number}`;
  const author = authorIn(news.actor);
  const { label, assignee } = news;
  return {
    id: news.type === "issue.opened" ? `github-issue-${repository.id}-${number}` : `github-event-${news.id}`,
    ...{ type: news.type, severity: "info", title, body: body ?? "" },
    replyTo: { target: ISSUE_TARGET, token: thread },
    context: {
      source: { system: SYSTEM, kind: "issue", id: thread },
      ...{ repo: repository.fullName, url: issue.html_url, at: news.at },
      ...{ labels: labelsOf(issue), assignees: (issue.assignees ?? []).map(({ login }) => login) },
      ...(label === undefined ? {} : { label }),
      ...(assignee === undefined ? {} : { assignee }),
      ...((await isRewritten({ repository, permissions }, issue, news)) ? { rewritten: true } : {}),
      author: { ...author, permission: await permissions.of(author) },
    },
  };
}

const EDITED =
  "query ($id: ID!) { node(id: $id) { ... on Issue { lastEditedAt editor { login ... on User { databaseId } } } } }";
const editedSchema = z.object({
  node: z.object({
    lastEditedAt: z.string().nullable(),
    editor: z.object({ login: z.string(), databaseId: z.number().nullish() }).nullable(),
  }),
});

/** Whether what we read is not what the person saw: a stranger changed the text of the issue after they labelled it. */
async function isRewritten(
  { repository, permissions }: Looking,
  { node_id: id }: GitHubIssue,
  news: News,
): Promise<boolean> {
  const outcome = await repository.client.graphql(EDITED, { id });
  if (outcome.kind !== "ok") throw new CallError("who edited an issue", outcome);
  const { lastEditedAt, editor } = editedSchema.parse(outcome.data).node;
  if (lastEditedAt === null || Date.parse(lastEditedAt) < Date.parse(news.at)) return false;
  if (!editor) return true;
  const known = editor.databaseId ? { id: String(editor.databaseId) } : {};
  return !hasWritePermission({ permission: await permissions.of({ login: editor.login, ...known }) });
}
