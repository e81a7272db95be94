import * as z from "zod";
import type { HeardPost, TrackerAuthor, TrackerPost } from "../../bridges/tracker/port.ts";
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
  return app ? { ...author, bot: true } : author;
}

/** Times have whole seconds. */
export const isEdited = (comment: GitHubComment): boolean => comment.updated_at !== comment.created_at;

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

/** How far comments were read. */
export interface CommentCursor {
  /** The newest change that was seen, by GitHub's clock. */
  readonly at: string;
  /** Those around it: times have whole seconds, and lists lag behind. */
  readonly seen: readonly number[];
}

/** GitHub's lists may show a comment so much later than its time says. */
const OVERLAP_MS = 60_000;

export const since = ({ at }: CommentCursor): string =>
  new Date(Date.parse(at) - OVERLAP_MS).toISOString().replace(/\.\d+Z$/, "Z");

/** Pure: which comments are new, and how far we are then. One that was only edited is not new. */
export function newComments(
  comments: readonly GitHubComment[],
  cursor: CommentCursor,
): { readonly fresh: readonly GitHubComment[]; readonly cursor: CommentCursor } {
  const from = Date.parse(since(cursor));
  const fresh = comments.filter(({ id, created_at: at }) => !cursor.seen.includes(id) && Date.parse(at) >= from);
  const at = [cursor.at, ...comments.map((one) => one.updated_at)].reduce((a, b) => (a > b ? a : b));
  const edge = Date.parse(at) - OVERLAP_MS;
  const recent = comments.filter((one) => Date.parse(one.updated_at) >= edge).map(({ id }) => id);
  const kept = comments.length > 0 ? recent : cursor.seen;
  return { fresh: fresh.toSorted((a, b) => a.id - b.id), cursor: { at, seen: [...new Set(kept)] } };
}
