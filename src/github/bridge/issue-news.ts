import * as z from "zod";
import { userSchema } from "../tracker/comments.ts";

const labelSchema = z.union([z.string(), z.object({ name: z.string().nullish() })]);

/** What counts of an issue as GitHub tells it in lists. */
const issueSchema = z.object({
  number: z.number(),
  node_id: z.string(),
  html_url: z.string(),
  title: z.string(),
  body: z.string().nullish(),
  user: userSchema.nullable(),
  labels: z.array(labelSchema),
  assignees: z.array(userSchema).nullish(),
  created_at: z.string(),
  updated_at: z.string(),
  pull_request: z.unknown().optional(),
});
export const issuesSchema = z.array(issueSchema);
export type GitHubIssue = z.infer<typeof issueSchema>;

const happeningSchema = z.object({
  id: z.number(),
  event: z.string(),
  actor: userSchema.nullable(),
  created_at: z.string(),
  label: z.object({ name: z.string() }).nullish(),
  assignee: userSchema.nullish(),
});
export const happeningsSchema = z.array(happeningSchema);
type Happening = z.infer<typeof happeningSchema>;

export const labelsOf = ({ labels }: GitHubIssue): string[] =>
  labels.flatMap((label) => (typeof label === "string" ? [label] : label.name ? [label.name] : []));

/** How far issues were read. */
export interface IssueCursor {
  /** The newest change that was seen, by GitHub's clock. */
  readonly at: string;
  /** When those around it were changed last, by their numbers. */
  readonly seen: Readonly<Record<string, string>>;
  /** What happened around it and was told. */
  readonly told: readonly number[];
}

/** GitHub's lists may show something so much later than its time says. */
const OVERLAP_MS = 60_000;
const beforeThat = (at: string): number => Date.parse(at) - OVERLAP_MS;

export const sinceOf = ({ at }: IssueCursor): string => new Date(beforeThat(at)).toISOString().replace(/\.\d+Z$/, "Z");

/** Where issues end now: what happened before is not heard. */
export function presentCursor(newest: readonly GitHubIssue[]): IssueCursor {
  const at =
    newest
      .map((issue) => issue.updated_at)
      .toSorted()
      .at(-1) ?? "1970-01-01T00:02:00Z";
  return { at, seen: seenAround(newest, at), told: [] };
}

/** Pure: the issues that changed since the last look; pull requests are issues, too. */
export function changedIssues(issues: readonly GitHubIssue[], { seen }: IssueCursor): GitHubIssue[] {
  return issues.filter((issue) => issue.pull_request === undefined && seen[issue.number] !== issue.updated_at);
}

/** Pure: how far we are when these were told. */
export function cursorAfter(issues: readonly GitHubIssue[], told: readonly Told[], cursor: IssueCursor): IssueCursor {
  const at = [cursor.at, ...issues.map((issue) => issue.updated_at)].toSorted().at(-1) ?? cursor.at;
  if (issues.length === 0) return cursor;
  const recent = told.filter((one) => Date.parse(one.at) >= beforeThat(at)).map(({ id }) => id);
  const before = at === cursor.at ? cursor.told : [];
  return { at, seen: seenAround(issues, at), told: [...new Set([...before, ...recent])] };
}

function seenAround(issues: readonly GitHubIssue[], at: string): Record<string, string> {
  const around = issues.filter((issue) => Date.parse(issue.updated_at) >= beforeThat(at));
  return Object.fromEntries(around.map((issue) => [issue.number, issue.updated_at]));
}

export interface Told {
  readonly id: number;
  readonly at: string;
}

/** Something that may make a plan. */
export interface News extends Told {
  readonly type: "issue.opened" | "issue.labeled" | "issue.assigned" | "issue.reopened";
  /** Who did it: their permission decides. */
  readonly actor: z.infer<typeof userSchema> | null;
  readonly label?: string;
  readonly assignee?: string;
}

const TYPES: Readonly<Record<string, News["type"]>> = {
  labeled: "issue.labeled",
  assigned: "issue.assigned",
  reopened: "issue.reopened",
};

/** Pure: what happened to an issue that was not told yet, oldest first. */
export function newsOf(issue: GitHubIssue, happened: readonly Happening[], cursor: IssueCursor): News[] {
  const isNew = (at: string): boolean => Date.parse(at) >= beforeThat(cursor.at);
  const isOpened = isNew(issue.created_at) && cursor.seen[issue.number] === undefined;
  const opened: News[] = isOpened ? [{ id: 0, at: issue.created_at, type: "issue.opened", actor: issue.user }] : [];
  const later = happened.flatMap((one): News[] => {
    const type = TYPES[one.event];
    if (type === undefined || !isNew(one.created_at) || cursor.told.includes(one.id)) return [];
    const label = one.label ? { label: one.label.name } : {};
    const assignee = one.assignee ? { assignee: one.assignee.login } : {};
    return [{ id: one.id, at: one.created_at, type, actor: one.actor, ...label, ...assignee }];
  });
  return [...opened, ...later];
}
