import type { NewPost, Posted, Tracker, TrackerFailure, TrackerPost } from "../../bridges/tracker/port.ts";
import type { AuthorPermission } from "../../bus/author.ts";
import type { Outcome } from "../client/outcome.ts";
import type { Connection } from "../connection.ts";
import { allPages, changedSince, onePage, readAgainFrom } from "../pages.ts";
import type { RepositoryCalls } from "../repository.ts";
import {
  type CommentCursor,
  commentsSchema,
  type GitHubComment,
  heardOf,
  newComments,
  postedSchema,
  postOf,
  presentEnd,
} from "./comments.ts";
import { MARKER_LENGTH, withMarker } from "./marker.ts";
import type { Permissions } from "./permissions.ts";

export const ISSUE_TARGET = "github-issue";
export const SYSTEM = "github";
const MAX_COMMENT = 65_536;

export interface GitHubTrackerOptions {
  readonly connection: Pick<Connection, "repository" | "self">;
  readonly permissions: Permissions;
}

/** The threads below issues and pull requests of one repository, named `<id of the repository>#<number>`. */
export function githubTracker({ connection, permissions }: GitHubTrackerOptions): Tracker {
  return {
    maxLength: MAX_COMMENT - MARKER_LENGTH,
    addressOf: ({ system, id }) => (system === SYSTEM ? { target: ISSUE_TARGET, token: id } : undefined),
    self: () => connection.self(),
    permissionOf: (author): Promise<AuthorPermission> => permissions.of(author),
    async post(thread, post) {
      const repository = await connection.repository();
      return postedFrom(await repository.send("POST", `${issuePath(repository, thread)}/comments`, bodyOf(post)));
    },
    async edit(thread, ref, post) {
      const repository = await connection.repository();
      // The thread is ours, so the comment is one of ours there.
      issuePath(repository, thread);
      const outcome = await repository.send("PATCH", `/issues/comments/${Number(ref)}`, bodyOf(post));
      return outcome.kind === "not-found" ? "gone" : postedFrom(outcome);
    },
    async own(thread, ids) {
      const repository = await connection.repository();
      const us = await connection.self();
      const path = `${issuePath(repository, thread)}/comments`;
      const posts = (await allPages(repository, path, { schema: commentsSchema })).map((comment) =>
        postOf(comment, us),
      );
      const found = posts.filter(({ own }) => own !== undefined && ids.includes(own));
      return new Map<string, TrackerPost>(found.map((post) => [post.own ?? "", post]));
    },
    async since(threads, next) {
      const repository = await connection.repository();
      const cursor = next === undefined ? undefined : (JSON.parse(next) as CommentCursor);
      if (!cursor) return { posts: [], next: JSON.stringify(presentEnd(await newestComments(repository))) };
      const { comments, isWhole } = await changedComments(repository, cursor);
      const { fresh, cursor: end } = newComments(comments, cursor, isWhole);
      if (fresh.length === 0) return { posts: [], next: JSON.stringify(end) };
      const us = await connection.self();
      const posts = fresh.map((comment) => heardOf(comment, us, repository.id));
      return { posts: posts.filter(({ thread }) => threads.includes(thread)), next: JSON.stringify(end) };
    },
  };
}

const bodyOf = ({ id, body }: NewPost): { readonly body: unknown } => ({ body: { body: withMarker(body, id) } });

async function newestComments(repository: RepositoryCalls): Promise<readonly GitHubComment[]> {
  const query = { sort: "updated", direction: "desc" };
  return (await onePage(repository, "/issues/comments", { query, schema: commentsSchema })).items;
}

/** More are not read at once: the rest comes with the next look. */
const MAX_COMMENTS = 2000;

async function changedComments(
  repository: RepositoryCalls,
  { at, seen }: CommentCursor,
): Promise<{ readonly comments: readonly GitHubComment[]; readonly isWhole: boolean }> {
  const read = new Map<number, GitHubComment>();
  const list = { since: readAgainFrom(at), schema: commentsSchema };
  for await (const comments of changedSince(repository, "/issues/comments", list)) {
    for (const comment of comments) read.set(comment.id, comment);
    // Those that were read before do not count: there may be more of them around a time than are read at once.
    if (read.size > MAX_COMMENTS + seen.length) return { comments: [...read.values()], isWhole: false };
  }
  return { comments: [...read.values()], isWhole: true };
}

/** The issue of a thread; a thread of another repository is not ours to write in. */
function issuePath({ id, fullName }: RepositoryCalls, thread: string): string {
  const [repository, number] = thread.split("#");
  if (repository === String(id) && Number(number) > 0) return `/issues/${Number(number)}`;
  throw new Error(`${thread} is not a thread of ${fullName} (${id})`);
}

/** One that may have happened is looked for before it is made again, as after every failure that is retryable. */
function postedFrom(outcome: Outcome): Posted {
  return outcome.kind === "ok"
    ? { success: true, ref: String(postedSchema.parse(outcome.data).id) }
    : failureOf(outcome);
}

function failureOf(outcome: Exclude<Outcome, { kind: "ok" }>): TrackerFailure {
  const error =
    "reason" in outcome ? outcome.reason : outcome.kind === "moved" ? `moved to ${outcome.to}` : "unchanged";
  const retryable = outcome.kind === "limited" || outcome.kind === "failed" || outcome.kind === "unauthorised";
  const wait = outcome.kind === "limited" ? { retryAfterMs: outcome.retryAfterMs } : {};
  return { success: false, error: `GitHub: ${error}`, retryable, ...wait };
}
