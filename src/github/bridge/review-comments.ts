import * as z from "zod";
import type { BridgeEvent } from "../../bridges/contract.ts";
import type { TrackerAuthor } from "../../bridges/tracker/port.ts";
import type { RepositoryCalls } from "../repository.ts";
import { authorIn, type CommentCursor, isEdited, newComments, presentEnd, userSchema } from "../tracker/comments.ts";
import { changedIn, newestOf } from "../tracker/listed.ts";
import { splitMarker } from "../tracker/marker.ts";
import { PULL_TARGET } from "./pull-address.ts";

/** What counts of a comment on a line of a pull request as GitHub tells it. */
const reviewCommentSchema = z.object({
  id: z.number(),
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
export type ReviewComment = z.infer<typeof reviewCommentSchema>;

const LIST = { path: "/pulls/comments", schema: reviewCommentsSchema };

export interface HeardReviewComments {
  readonly comments: readonly ReviewComment[];
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

export const pullNumberOf = ({ pull_request_url: url }: ReviewComment): number =>
  Number(url.slice(url.lastIndexOf("/") + 1));

/** The id that a comment of ours was posted with. */
export function ownReviewComment({ user, body }: ReviewComment, self: TrackerAuthor): string | undefined {
  return String(user?.id) === self.id ? splitMarker(body).id : undefined;
}

/** More of the lines around it are in the worktree. */
const MAX_HUNK = 4000;

/** Pure: its event, but for what its author may do. */
export function reviewCommentEvent(comment: ReviewComment, thread: string): Omit<BridgeEvent, "plan"> {
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
      ...{ path, commit, at: comment.created_at, edited: isEdited(comment), ref: String(id) },
      ...(line === undefined ? {} : { line }),
      diffHunk: hunk.slice(-MAX_HUNK),
      ...(review ? { review: String(review) } : {}),
    },
  };
}
