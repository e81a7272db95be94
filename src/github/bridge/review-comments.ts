import * as z from "zod";
import type { BridgeEvent } from "../../bridges/contract.ts";
import type { TrackerAuthor } from "../../bridges/tracker/port.ts";
import { allPages } from "../pages.ts";
import type { RepositoryCalls } from "../repository.ts";
import { changedIn, newestOf } from "../tracker/comment-list.ts";
import { standingOfComments } from "../tracker/comment-standing.ts";
import { authorIn, type CommentCursor, newComments, presentEnd, userSchema } from "../tracker/comments.ts";
import { splitMarker } from "../tracker/marker.ts";
import { PULL_TARGET } from "./pull-address.ts";
import type { PullEvent } from "./pull-news.ts";

/** What counts of a comment on a line of a pull request as GitHub tells it. */
const reviewCommentSchema = z.object({
  id: z.number(),
  node_id: z.string(),
  body: z.string(),
  user: userSchema.nullable(),
  path: z.string(),
  line: z.number().nullish(),
  original_line: z.number().nullish(),
  diff_hunk: z.string(),
  // Where it was written; the other one moves along with the pull request.
  original_commit_id: z.string(),
  pull_request_url: z.string(),
  pull_request_review_id: z.number().nullish(),
  in_reply_to_id: z.number().nullish(),
  created_at: z.string(),
  updated_at: z.string(),
});
export const reviewCommentsSchema = z.array(reviewCommentSchema);
export type LineComment = z.infer<typeof reviewCommentSchema>;

const LIST = { path: "/pulls/comments", schema: reviewCommentsSchema };

export interface HeardReviewComments {
  readonly comments: readonly LineComment[];
  readonly cursor: CommentCursor;
}

/** What was written on lines of pull requests since the last look. The first look hears nothing. */
export async function hearReviewComments(
  repository: RepositoryCalls,
  cursor: CommentCursor | undefined,
): Promise<HeardReviewComments> {
  if (!cursor) return { comments: [], cursor: presentEnd(await newestOf(repository, LIST)) };
  const { comments, isWhole } = await changedIn(repository, LIST, cursor);
  const { fresh, cursor: end } = newComments(comments, cursor, isWhole);
  return { comments: fresh, cursor: end };
}

/**
 * What was written on lines in these reviews. It has the time at which it was written, and is shown when its review is handed in:
 * the list of what is new may be past that time.
 */
export async function commentsOf(
  repository: RepositoryCalls,
  number: number,
  reviews: readonly number[],
): Promise<readonly LineComment[]> {
  if (reviews.length === 0) return [];
  const comments = await allPages(repository, `/pulls/${number}/comments`, { schema: reviewCommentsSchema });
  return comments.filter(({ pull_request_review_id: review }) => review && reviews.includes(review));
}

const pullNumberOf = ({ pull_request_url: url }: LineComment): number => Number(url.slice(url.lastIndexOf("/") + 1));

/** The id that a comment of ours was posted with. */
export function ownReviewComment({ user, body }: LineComment, self: TrackerAuthor): string | undefined {
  return String(user?.id) === self.id ? splitMarker(body).id : undefined;
}

/** More of the lines around it are in the worktree. */
const MAX_HUNK = 4000;

/** Pure: its event, but for what its author may do. */
function reviewCommentEvent(comment: LineComment, thread: string, edited: boolean): Omit<BridgeEvent, "plan"> {
  const { id, path, body, diff_hunk: hunk, original_commit_id: commit, pull_request_review_id: review } = comment;
  const author = authorIn(comment.user);
  const line = comment.line ?? comment.original_line ?? undefined;
  // A thread is known by its first comment, and answered there.
  const first = comment.in_reply_to_id ?? id;
  return {
    ...{ id: `github-review-comment-${id}`, type: "review_comment", severity: "info", body },
    title: `Comment by ${author.login} on ${path}${line === undefined ? "" : `:${line}`}`,
    replyTo: { target: PULL_TARGET, token: `${thread}/${first}` },
    context: {
      ...{ path, commit, at: comment.created_at, edited, ref: String(id) },
      ...(line === undefined ? {} : { line }),
      diffHunk: hunk.slice(-MAX_HUNK),
      ...(review ? { review: String(review) } : {}),
    },
  };
}

export interface HearingLines {
  readonly repository: RepositoryCalls;
  readonly self: TrackerAuthor;
  /** The plans whose pull requests these are, by number. */
  readonly plans: ReadonlyMap<number, string>;
}

/**
 * What others wrote on lines of the pull requests of plans, each once. Their times do not tell whether they were edited: one that was
 * begun in a review changes when that is handed in.
 */
export async function eventsOnLines(
  { repository, self, plans }: HearingLines,
  comments: readonly LineComment[],
): Promise<{ readonly number: number; readonly event: PullEvent }[]> {
  const heard = [...new Map(comments.map((comment) => [comment.id, comment])).values()].filter(
    (comment) => plans.has(pullNumberOf(comment)) && ownReviewComment(comment, self) === undefined,
  );
  const standing = await standingOfComments(repository, heard);
  return heard.map((comment) => {
    const number = pullNumberOf(comment);
    const edited = standing.get(comment.id) !== "as-written";
    const event = reviewCommentEvent(comment, `${repository.id}#${number}`, edited);
    return { number, event: { ...event, by: authorIn(comment.user) } };
  });
}
