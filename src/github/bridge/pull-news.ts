import * as z from "zod";
import type { BridgeEvent } from "../../bridges/contract.ts";
import type { TrackerAuthor } from "../../bridges/tracker/port.ts";
import type { ServerChange } from "../../forge/port.ts";
import { splitMarker } from "../tracker/marker.ts";
import { PULL_TARGET } from "./pull-address.ts";

const actorSchema = z
  .object({ __typename: z.string(), login: z.string(), databaseId: z.number().nullish() })
  .nullable();

/** Has more bits than GraphQL's numbers, so it comes as a string. */
const fullId = z.union([z.string(), z.number()]).transform(Number);

const reviewSchema = z.object({
  fullDatabaseId: fullId,
  author: actorSchema,
  state: z.enum(["APPROVED", "CHANGES_REQUESTED", "COMMENTED", "DISMISSED", "PENDING"]),
  body: z.string(),
  submittedAt: z.string().nullable(),
  lastEditedAt: z.string().nullable(),
  commit: z.object({ oid: z.string() }).nullable(),
});
export type Review = z.infer<typeof reviewSchema>;

const threadSchema = z.object({
  id: z.string(),
  isResolved: z.boolean(),
  resolvedBy: actorSchema,
  path: z.string(),
  line: z.number().nullish(),
  comments: z.object({ nodes: z.array(z.object({ fullDatabaseId: fullId })) }),
});
export type ReviewThread = z.infer<typeof threadSchema>;

const pageInfo = z.object({ endCursor: z.string().nullable(), hasNextPage: z.boolean() });
export const talkSchema = z.object({
  node: z
    .object({
      reviews: z.object({ nodes: z.array(reviewSchema), pageInfo }).nullable(),
      reviewThreads: z.object({ nodes: z.array(threadSchema), pageInfo }),
    })
    .nullable(),
});

const ACTOR = "__typename login ... on User { databaseId } ... on Bot { databaseId }";
/** Reviews and threads of one pull request, a page of each. */
export const TALK = `query ($id: ID!, $reviews: String, $threads: String) { node(id: $id) { ... on PullRequest {
  reviews(first: 100, after: $reviews) {
    nodes { fullDatabaseId author { ${ACTOR} } state body submittedAt lastEditedAt commit { oid } }
    pageInfo { endCursor hasNextPage }
  }
  reviewThreads(first: 100, after: $threads) {
    nodes { id isResolved resolvedBy { __typename login databaseId } path line comments(first: 1) { nodes { fullDatabaseId } } }
    pageInfo { endCursor hasNextPage }
  }
} } }`;

/** What was told of a pull request so far. */
export interface KnownPull {
  /** When it had changed at the last look at it. */
  readonly updated: string;
  /** When that was seen first, and when it was looked at last (milliseconds). */
  readonly seenAt?: number;
  readonly lookedAt?: number;
  /** As it was told last. */
  readonly state?: string;
  /** What it needs of its base, as that was told last. */
  readonly needs?: ServerChange["needs"];
  /** Reviews by their ids: one that was begun early is handed in late, so no newest one tells. */
  readonly reviews: readonly number[];
  readonly resolved: readonly string[];
  readonly head: string;
  readonly nodeId: string;
  readonly base: string;
  /** The summary of its checks at that head, and since when that head is known (milliseconds). */
  readonly checks: ChecksState;
  readonly headAt: number;
  /** When its checks were looked at one by one, in milliseconds. */
  readonly checkedAt?: number | undefined;
  /** Checks whose end was told. */
  readonly told: readonly string[];
  /** The head whose failed jobs were asked to run once more. */
  readonly rerun?: string | undefined;
}

/** Times have whole seconds, and clocks of servers differ a little. */
const SAME_TIME_MS = 2000;

/** Pure: whether it may have changed once more in the second in which it was seen to have changed: then both look the same. */
export function isFresh({ lookedAt = 0, seenAt = 0 }: KnownPull): boolean {
  return lookedAt > 0 && lookedAt - seenAt < SAME_TIME_MS;
}

/** A head without checks may get some yet. */
const CHECKS_BEGIN_MS = 10 * 60_000;
/** What runs longer waits for a person, or will never tell: looked for with the others then. */
const CHECKS_END_MS = 2 * 60 * 60_000;

/** Pure: whether its checks are still to be asked for at each look. */
export function isUnfinished({ checks, headAt }: KnownPull, now: number): boolean {
  const age = Math.abs(now - headAt);
  return (checks === "pending" && age < CHECKS_END_MS) || (checks === "none" && age < CHECKS_BEGIN_MS);
}

/**
 * Pure: whether the checks of one are to be looked at for a token that is told no summary of them: that takes several requests, so what
 * stays as it is is looked at less and less often.
 */
export function isCheckDue(known: KnownPull, now: number): boolean {
  const { headAt, checkedAt = headAt } = known;
  const age = Math.min(Math.abs(checkedAt - headAt), CHECKS_END_MS);
  return Math.abs(now - checkedAt) >= (isUnfinished(known, now) ? age / 8 : age);
}

export type ChecksState = "none" | "pending" | "red" | "green";

/** An event of a pull request, but for its plan; whose permission is to be looked up. */
export interface PullEvent extends Omit<BridgeEvent, "plan"> {
  readonly by?: TrackerAuthor;
}

function actorOf(actor: Review["author"]): TrackerAuthor {
  if (!actor) return { login: "ghost", id: "0" };
  const bot = actor.__typename !== "User";
  // GraphQL tells a bot's name without what its login ends with.
  const login = bot && !actor.login.endsWith("[bot]") ? `${actor.login}[bot]` : actor.login;
  return { login, id: String(actor.databaseId ?? 0), bot };
}

const VERDICTS = {
  APPROVED: "approved",
  CHANGES_REQUESTED: "changes requested",
  COMMENTED: "comments",
  DISMISSED: "dismissed",
} as const;

/** Pure: the reviews that were handed in since. What holds nothing but comments on lines is told by those. */
export function reviewEvents(
  reviews: readonly Review[],
  { known, thread, self }: { readonly known: readonly number[]; readonly thread: string; readonly self: TrackerAuthor },
): PullEvent[] {
  const fresh = reviews.filter(({ fullDatabaseId, state }) => state !== "PENDING" && !known.includes(fullDatabaseId));
  return fresh.flatMap((review): PullEvent[] => {
    const { fullDatabaseId: id, state, body, submittedAt, lastEditedAt, commit } = review;
    const by = actorOf(review.author);
    const isOurs = by.id === self.id && splitMarker(body).id !== undefined;
    if (state === "PENDING" || isOurs || (state === "COMMENTED" && body.trim() === "")) return [];
    return [
      {
        ...{ id: `github-review-${id}`, type: "review", severity: "info", body, by },
        title: `Review by ${by.login}: ${VERDICTS[state]}`,
        replyTo: { target: PULL_TARGET, token: thread },
        context: {
          ...{ state: state.toLowerCase(), at: submittedAt ?? "", edited: lastEditedAt !== null, ref: String(id) },
          // What a merge that follows from it is for.
          ...(commit ? { commit: commit.oid } : {}),
          // Without words it asks for nothing; neither does one that does not hold any more.
          ...(body.trim() === "" || state === "DISMISSED" ? { information: true } : {}),
        },
      },
    ];
  });
}

/** Pure: the threads that were resolved since. */
export function resolvedEvents(
  threads: readonly ReviewThread[],
  known: readonly string[],
  thread: string,
): PullEvent[] {
  return threads
    .filter(({ id, isResolved }) => isResolved && !known.includes(id))
    .map(({ id, resolvedBy, path, line, comments: { nodes } }) => {
      const by = actorOf(resolvedBy);
      const [first] = nodes;
      const token = first ? `${thread}/${first.fullDatabaseId}` : thread;
      return {
        ...{ id: `github-resolved-${id}`, type: "review_thread.resolved", severity: "info", body: "", by },
        title: `${by.login} resolved the thread on ${path}${line ? `:${line}` : ""}`,
        replyTo: { target: PULL_TARGET, token },
        context: { path, ...(line ? { line } : {}), information: true },
      };
    });
}
