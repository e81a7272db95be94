import * as z from "zod";
import type { HeardPost, TrackerAuthor, TrackerPost } from "../../bridges/tracker/port.ts";
import { BEGINNING, newer, readAgainFrom } from "../pages.ts";
import { splitMarker } from "./marker.ts";

export const userSchema = z.object({ id: z.number(), login: z.string(), type: z.string() });

/** What counts of a comment as GitHub tells it. */
const commentSchema = z.object({
  id: z.number(),
  node_id: z.string(),
  body: z.string().nullish(),
  // An account that was deleted has no user any more; what it wrote stays.
  user: userSchema.nullable(),
  created_at: z.string(),
  updated_at: z.string(),
  issue_url: z.string(),
  performed_via_github_app: z.object({ slug: z.string().nullish() }).nullish(),
});
export type GitHubComment = z.infer<typeof commentSchema>;

export const commentsSchema = z.array(commentSchema);
export const postedSchema = z.object({ id: z.number() });

const GHOST: TrackerAuthor = { login: "ghost", id: "0" };

export function authorIn(user: z.infer<typeof userSchema> | null): TrackerAuthor {
  return user ? { login: user.login, id: String(user.id), bot: user.type === "Bot" } : GHOST;
}

function authorOf({ user, performed_via_github_app: app }: GitHubComment): TrackerAuthor {
  const author = authorIn(user);
  // What an app writes in a person's name is the app's.
  return app ? { ...author, bot: true, app: app.slug ?? "" } : author;
}

/** Times have whole seconds. */
export const isEdited = (comment: ListedComment): boolean => comment.updated_at !== comment.created_at;

/** Only what has our user id and our marker is ours: a marker can be copied, and a person may share our login. */
export function postOf(comment: GitHubComment, self: TrackerAuthor): TrackerPost {
  const author = authorOf(comment);
  const isOurs = author.id === self.id;
  const { body, id } = isOurs ? splitMarker(comment.body ?? "") : { body: comment.body ?? "", id: undefined };
  return {
    ...{
      ref: String(comment.id),
      author,
      body,
      at: comment.created_at,
      edited: isEdited(comment),
    },
    ...(id === undefined ? {} : { own: id }),
  };
}

export function heardOf(comment: GitHubComment, self: TrackerAuthor, repositoryId: number): HeardPost {
  return { ...postOf(comment, self), thread: `${repositoryId}#${numberIn(comment)}` };
}

const numberIn = ({ issue_url: url }: GitHubComment): string => url.slice(url.lastIndexOf("/") + 1);

/** What a list of comments is read by; comments on lines have it, too. */
export interface ListedComment {
  readonly id: number;
  readonly created_at: string;
  readonly updated_at: string;
}

/** How far comments were read; all times are GitHub's. */
export interface CommentCursor {
  /** The newest change that was read. */
  readonly at: string;
  /** What was written before is not heard. It stays behind while not all is read: something old may have been edited last. */
  readonly from: string;
  /** Those around `at`: times have whole seconds, and lists lag behind. */
  readonly seen: readonly number[];
}

/** Where comments end now: what was written before is not heard. */
export function presentEnd(newest: readonly ListedComment[]): CommentCursor {
  const at = newest.reduce((time, one) => newer(time, one.updated_at), BEGINNING);
  return { at, from: at, seen: idsAround(newest, at) };
}

/** Pure: which comments are new, and how far we are then. One that was only edited is not new. */
export function newComments<T extends ListedComment>(
  comments: readonly T[],
  cursor: CommentCursor,
  isWhole: boolean,
): { readonly fresh: readonly T[]; readonly cursor: CommentCursor } {
  const seen = new Set(cursor.seen);
  const fresh = comments.filter(({ id, created_at: at }) => !seen.has(id) && at >= cursor.from);
  const at = comments.reduce((time, one) => newer(time, one.updated_at), cursor.at);
  const from = isWhole ? newer(cursor.from, readAgainFrom(at)) : cursor.from;
  const kept = comments.length > 0 ? idsAround(comments, at) : cursor.seen;
  return { fresh: fresh.toSorted((a, b) => a.id - b.id), cursor: { at, from, seen: kept } };
}

function idsAround(comments: readonly ListedComment[], at: string): number[] {
  return comments.filter((one) => one.updated_at >= readAgainFrom(at)).map(({ id }) => id);
}
