import { createHash } from "node:crypto";
import * as z from "zod";
import { peoplesPart } from "../body/issue-part.ts";
import { BEGINNING, behind, isLongPast, newer, PAGE_SIZE, readAgainFrom } from "../pages.ts";
import { userSchema } from "../tracker/comments.ts";

const labelSchema = z.union([z.string(), z.object({ name: z.string().nullish() })]);

/** What counts of an issue as GitHub tells it. */
export const issueSchema = z.object({
  number: z.number(),
  node_id: z.string(),
  html_url: z.string(),
  title: z.string(),
  // What prloom writes there itself is not a part of what it says: so nothing of that is an edit, by whatever hand.
  body: z
    .string()
    .nullish()
    .transform((body) => body && peoplesPart(body)),
  user: userSchema.nullable(),
  labels: z.array(labelSchema),
  assignees: z.array(userSchema).nullish(),
  created_at: z.string(),
  updated_at: z.string(),
  pull_request: z.unknown().optional(),
  performed_via_github_app: z.object({ slug: z.string().nullish() }).nullish(),
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
  assigner: userSchema.nullish(),
  performed_via_github_app: z.object({ slug: z.string().nullish() }).nullish(),
});
export const happeningsSchema = z.array(happeningSchema);
export type Happening = z.infer<typeof happeningSchema>;

export const labelsOf = ({ labels }: GitHubIssue): string[] =>
  labels.flatMap((label) => (typeof label === "string" ? [label] : label.name ? [label.name] : []));

/** How far issues were read; all times are GitHub's. */
export interface IssueCursor {
  /** The newest change that was read. */
  readonly at: string;
  /** From when on the list is read again; around `at` where absent. */
  readonly since?: string | undefined;
  /** What happened before is not told. It stays behind while not all is read: something old may have happened to what changed last. */
  readonly from: string;
  /** When those around `at` were changed last, by their numbers. */
  readonly seen: Readonly<Record<string, string>>;
  /** What happened since `from` and was told. */
  readonly told: readonly ToldEvent[];
  /** The issues that could not be looked at, and their `from`. */
  readonly held: Readonly<Record<string, string>>;
  /** What those say that have plans, or may have made them, by their numbers. */
  readonly texts?: Readonly<Record<string, KnownText>>;
}

/** What an issue said when it was looked at last. */
export interface KnownText {
  readonly sha256: string;
  readonly at: string;
}

/** A browser that saves it ends all its lines in another way, whatever was changed: that says nothing else. */
export const knownText = ({ title, body, updated_at: at }: GitHubIssue): KnownText => ({
  sha256: createHash("sha256")
    .update(`${title}\0${(body ?? "").replaceAll("\r\n", "\n")}`)
    .digest("hex"),
  at,
});

/** An event that was told, by its id. */
export interface ToldEvent {
  readonly id: string;
  readonly at: string;
}

/** Where issues end now: what happened before is not heard. */
export function presentCursor(newest: readonly GitHubIssue[], repositoryId: number): IssueCursor {
  const at = newest.reduce((time, issue) => newer(time, issue.updated_at), BEGINNING);
  const told = newest.map((issue) => ({ id: openedId(repositoryId, issue), at: issue.created_at }));
  return { at, from: at, seen: seenAround(newest, at), told: told.filter((one) => one.at >= at), held: {} };
}

/** Pure: whether it changed since the last look; pull requests are issues, too. */
export const isChanged = (issue: GitHubIssue, { seen }: IssueCursor): boolean =>
  issue.pull_request === undefined && seen[issue.number] !== issue.updated_at;

export interface LookedAt {
  /** Oldest change first. */
  readonly issues: readonly GitHubIssue[];
  /** Whether these are all that changed. */
  readonly isWhole: boolean;
  readonly told: readonly ToldEvent[];
  readonly held: IssueCursor["held"];
  readonly texts: NonNullable<IssueCursor["texts"]>;
  /** The time there when it began, in milliseconds. */
  readonly began: number;
}

/** Times have whole seconds, clocks differ by some, and what happened to an issue may be in its list a little later than its time. */
const SETTLED_MS = 10_000;

/** Pure: how far we are after a look. */
export function cursorAfter({ issues, isWhole, told, held, texts, began }: LookedAt, cursor: IssueCursor): IssueCursor {
  const at = issues.reduce((time, issue) => newer(time, issue.updated_at), cursor.at);
  const from = isWhole ? newer(cursor.from, readAgainFrom(at)) : cursor.from;
  // One that changed just now may have changed once more by the end of that second, and would look the same: it is looked at again.
  const settled = issues.filter(
    ({ number, updated_at: changed }) => number in held || began - Date.parse(changed) >= SETTLED_MS,
  );
  const seen = issues.length > 0 ? seenAround(settled, at) : cursor.seen;
  // With more than a page around that time, each look would take several requests.
  const isRead = isWhole && issues.length >= PAGE_SIZE && isLongPast(at, began);
  const since = issues.length === 0 ? cursor.since : isRead ? behind(at) : undefined;
  return { at, since, from, seen, told: [...cursor.told, ...told].filter((one) => one.at >= from), held, texts };
}

function seenAround(issues: readonly GitHubIssue[], at: string): Record<string, string> {
  const around = issues.filter((issue) => issue.updated_at >= readAgainFrom(at));
  return Object.fromEntries(around.map((issue) => [issue.number, issue.updated_at]));
}

/** Something that may make a plan. */
export interface News extends ToldEvent {
  readonly type: "issue.opened" | "issue.labeled" | "issue.assigned" | "issue.reopened";
  /** Who did it: their permission decides. */
  readonly actor: z.infer<typeof userSchema> | null;
  /** An app did it in that person's name: that decides nothing. */
  readonly byApp?: true;
  readonly label?: string;
  readonly assignee?: string;
}

const TYPES: Readonly<Record<string, News["type"]>> = {
  labeled: "issue.labeled",
  assigned: "issue.assigned",
  reopened: "issue.reopened",
};

const openedId = (repositoryId: number, { number }: GitHubIssue): string => `github-issue-${repositoryId}-${number}`;

/** Pure: what happened to an issue since a time and was not told yet, oldest first. */
export function newsOf(
  issue: GitHubIssue,
  happened: readonly Happening[],
  { from, told, repositoryId }: Pick<IssueCursor, "from" | "told"> & { readonly repositoryId: number },
): News[] {
  const opened: News = {
    ...{ id: openedId(repositoryId, issue), at: issue.created_at },
    ...{ type: "issue.opened", actor: issue.user },
    ...(issue.performed_via_github_app ? { byApp: true } : {}),
  };
  const later = happened.flatMap((one): News[] => {
    const type = TYPES[one.event];
    if (type === undefined) return [];
    const label = one.label ? { label: one.label.name } : {};
    // Taken away again before anything came of it.
    if (one.label && type === "issue.labeled" && !labelsOf(issue).includes(one.label.name)) return [];
    const assignee = one.assignee ? { assignee: one.assignee.login } : {};
    const byApp = one.performed_via_github_app ? { byApp: true as const } : {};
    const what = { ...label, ...assignee, ...byApp };
    // Of an assignment GitHub tells the assignee as actor.
    const actor = type === "issue.assigned" ? (one.assigner ?? null) : one.actor;
    return [{ id: `github-event-${one.id}`, at: one.created_at, type, actor, ...what }];
  });
  return [opened, ...later].filter(({ id, at }) => at >= from && !told.some((one) => one.id === id));
}
