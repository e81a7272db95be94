import type { HeardPost, NewPost, Posted, Tracker, TrackerFailure, TrackerPost } from "../../bridges/tracker/port.ts";
import type { AuthorPermission } from "../../bus/author.ts";
import type { Outcome } from "../client/outcome.ts";
import type { Connection } from "../connection.ts";
import { safeBody } from "../outgoing.ts";
import { allPages, CallError } from "../pages.ts";
import type { RepositoryCalls } from "../repository.ts";
import { changedIn, newestOf } from "./comment-list.ts";
import { standingOfComments } from "./comment-standing.ts";
import {
  type CommentCursor,
  commentsSchema,
  type GitHubComment,
  heardOf,
  isEdited,
  newComments,
  postedSchema,
  postOf,
  presentEnd,
} from "./comments.ts";
import { goneIssue, isAbsent } from "./gone-issue.ts";
import { MARKER_LENGTH, withMarker } from "./marker.ts";
import type { Permissions } from "./permissions.ts";

export const ISSUE_TARGET = "github-issue";
export const SYSTEM = "github";
const MAX_COMMENT = 65_536;
/** What makes words harmless may make them longer. */
const ROOM = 2000;
const COMMENTS = { path: "/issues/comments", schema: commentsSchema };

export interface GitHubTrackerOptions {
  readonly connection: Pick<Connection, "repository" | "self">;
  readonly permissions: Permissions;
  /** The issue of a thread was found to be gone; `how` ends "its issue …". */
  onGone?(thread: string, how: string): void;
}

/** The threads below issues and pull requests of one repository, named `<id of the repository>#<number>`. */
export function githubTracker({ connection, permissions, onGone }: GitHubTrackerOptions): Tracker {
  /** Whatever was asked of a thread: it may be gone. */
  const noteGone = async (thread: string, kind: Outcome["kind"]): Promise<string | undefined> => {
    const repository = await connection.repository();
    const how = isAbsent(kind) ? await goneIssue(repository, issuePath(repository, thread)) : undefined;
    if (how !== undefined) onGone?.(thread, how);
    return how;
  };
  const commentsIn = async (repository: RepositoryCalls, thread: string): Promise<readonly GitHubComment[]> => {
    try {
      return await commentsBelow(repository, thread);
    } catch (error) {
      // With the issue everything below it is gone.
      if (error instanceof CallError && (await noteGone(thread, error.kind)) !== undefined) return [];
      throw error;
    }
  };
  return {
    maxLength: MAX_COMMENT - MARKER_LENGTH - ROOM,
    written: safeBody,
    addressOf: ({ system, id }) => (system === SYSTEM ? { target: ISSUE_TARGET, token: id } : undefined),
    self: () => connection.self(),
    permissionOf: (author): Promise<AuthorPermission> => permissions.of(author),
    async post(thread, post) {
      const repository = await connection.repository();
      const path = `${issuePath(repository, thread)}/comments`;
      const outcome = await repository.send("POST", path, bodyOf(post));
      const how = await noteGone(thread, outcome.kind);
      return how === undefined ? postedFrom(outcome) : { success: false, error: `the issue ${how}`, retryable: false };
    },
    async edit(thread, ref, post) {
      const repository = await connection.repository();
      // The thread is ours, so the comment is one of ours there.
      issuePath(repository, thread);
      const outcome = await repository.send("PATCH", `/issues/comments/${Number(ref)}`, bodyOf(post));
      return isAbsent(outcome.kind) ? "gone" : postedFrom(outcome);
    },
    async own(thread, ids) {
      const repository = await connection.repository();
      const us = await connection.self();
      const posts = (await commentsIn(repository, thread)).map((comment) => postOf(comment, us));
      const found = posts.filter(({ own }) => own !== undefined && ids.includes(own));
      return new Map<string, TrackerPost>(found.map((post) => [post.own ?? "", post]));
    },
    async standing(thread, ref) {
      const repository = await connection.repository();
      const comment = (await commentsIn(repository, thread)).find(({ id }) => String(id) === ref);
      if (!comment) return "gone";
      return isEdited(comment)
        ? "edited"
        : ((await standingOfComments(repository, [comment])).get(comment.id) ?? "gone");
    },
    async since(threads, next) {
      const repository = await connection.repository();
      const cursor = next === undefined ? undefined : (JSON.parse(next) as CommentCursor);
      if (!cursor) return { posts: [], next: JSON.stringify(presentEnd(await newestOf(repository, COMMENTS))) };
      const { comments, isWhole } = await changedIn(repository, COMMENTS, cursor);
      const { fresh, cursor: end } = newComments(comments, cursor, isWhole);
      if (fresh.length === 0) return { posts: [], next: JSON.stringify(end) };
      const us = await connection.self();
      const heard = fresh
        .map((comment) => ({ comment, post: heardOf(comment, us, repository.id) }))
        .filter(({ post }) => threads.includes(post.thread));
      const posts = await withEdits(repository, heard);
      return { posts, next: JSON.stringify(end) };
    },
  };
}

const bodyOf = ({ id, body }: NewPost): { readonly body: unknown } => ({
  body: { body: withMarker(safeBody(body), id) },
});

function commentsBelow(repository: RepositoryCalls, thread: string): Promise<readonly GitHubComment[]> {
  const path = `${issuePath(repository, thread)}/comments`;
  return allPages(repository, path, { schema: commentsSchema });
}

interface HeardOnIssue {
  readonly comment: GitHubComment;
  readonly post: HeardPost;
}

/** What was deleted meanwhile does not stand as it was written either. */
async function withEdits(repository: RepositoryCalls, heard: readonly HeardOnIssue[]): Promise<HeardPost[]> {
  const unknown = heard.filter(({ post }) => !post.edited && post.own === undefined);
  const asked = unknown.map(({ comment }) => comment);
  const standing = await standingOfComments(repository, asked);
  return heard.map(({ comment: { id }, post }) =>
    (standing.get(id) ?? "as-written") === "as-written" ? post : { ...post, edited: true },
  );
}

/** The issue of a thread; a thread of another repository is not ours to write in. */
export function issuePath({ id, fullName }: RepositoryCalls, thread: string): string {
  const [repository, number] = thread.split("#");
  if (repository === String(id) && Number(number) > 0) return `/issues/${Number(number)}`;
  throw new Error(`${thread} is not a thread of ${fullName} (${id})`);
}

/** One that may have happened is looked for before it is made again, as after every failure that is retryable. */
function postedFrom(outcome: Outcome): Posted {
  return outcome.kind === "ok"
    ? { success: true, ref: String(postedSchema.parse(outcome.data).id) }
    : trackerFailure(outcome);
}

export function trackerFailure(outcome: Exclude<Outcome, { kind: "ok" }>): TrackerFailure {
  const error =
    "reason" in outcome ? outcome.reason : outcome.kind === "moved" ? `moved to ${outcome.to}` : "unchanged";
  const retryable = outcome.kind === "limited" || outcome.kind === "failed" || outcome.kind === "unauthorised";
  const wait = outcome.kind === "limited" ? { retryAfterMs: outcome.retryAfterMs } : {};
  const mayBeThere = outcome.kind === "failed" && outcome.mayHaveHappened;
  const sure = retryable && !mayBeThere ? { arrived: false as const } : {};
  return { success: false, error: `GitHub: ${error}`, retryable, ...wait, ...sure };
}
