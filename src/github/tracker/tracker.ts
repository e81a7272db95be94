import type { Posted, Tracker, TrackerAuthor, TrackerFailure, TrackerPost } from "../../bridges/tracker/port.ts";
import type { AuthorPermission } from "../../bus/author.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Outcome } from "../client/outcome.ts";
import { allPages } from "../pages.ts";
import type { RepositoryCalls } from "../repository.ts";
import {
  type CommentCursor,
  commentsSchema,
  type GitHubComment,
  heardOf,
  newComments,
  postedSchema,
  postOf,
  since,
} from "./comments.ts";
import { MARKER_LENGTH, withMarker } from "./marker.ts";
import { Permissions } from "./permissions.ts";

export const ISSUE_TARGET = "github-issue";
export const SYSTEM = "github";
const MAX_COMMENT = 65_536;

export interface GitHubTrackerOptions {
  readonly repository: RepositoryCalls;
  readonly clock: Clock;
  /** Who the token belongs to. */
  self(): Promise<TrackerAuthor>;
}

/** The threads below issues and pull requests of one repository, named `<id of the repository>#<number>`. */
export function githubTracker({ repository, clock, self }: GitHubTrackerOptions): Tracker {
  const permissions = new Permissions(repository, clock);
  return {
    maxLength: MAX_COMMENT - MARKER_LENGTH,
    addressOf: ({ system, id }) => (system === SYSTEM ? { target: ISSUE_TARGET, token: id } : undefined),
    self,
    permissionOf: (author): Promise<AuthorPermission> => permissions.of(author),
    async post(thread, { id, body }) {
      const outcome = await repository.send("POST", `/issues/${numberOf(repository, thread)}/comments`, {
        body: { body: withMarker(body, id) },
      });
      return postedFrom(outcome);
    },
    async edit(thread, ref, { id, body }) {
      numberOf(repository, thread);
      const outcome = await repository.send("PATCH", `/issues/comments/${Number(ref)}`, {
        body: { body: withMarker(body, id) },
      });
      return outcome.kind === "not-found" ? "gone" : postedFrom(outcome);
    },
    async own(thread, ids) {
      const us = await self();
      const comments = await allPages(repository, `/issues/${numberOf(repository, thread)}/comments`, {
        schema: commentsSchema,
      });
      const posts = comments
        .map((comment) => postOf(comment, us))
        .filter(({ own }) => own !== undefined && ids.includes(own));
      return new Map<string, TrackerPost>(posts.map((post) => [post.own ?? "", post]));
    },
    async since(threads, next) {
      const cursor = next === undefined ? undefined : (JSON.parse(next) as CommentCursor);
      if (!cursor) return { posts: [], next: JSON.stringify(await presentEnd(repository)) };
      const us = await self();
      const query = { since: since(cursor), sort: "updated", direction: "asc" };
      const read = newComments(
        await allPages(repository, "/issues/comments", { query, schema: commentsSchema }),
        cursor,
      );
      const posts = read.fresh
        .map((comment) => heardOf(comment, us, repository.id))
        .filter(({ thread }) => threads.includes(thread));
      return { posts, next: JSON.stringify(read.cursor) };
    },
  };
}

/** Where comments end now: what was written before is not heard. */
async function presentEnd(repository: RepositoryCalls): Promise<CommentCursor> {
  const query = { sort: "updated", direction: "desc", per_page: 100 };
  const newest: readonly GitHubComment[] = await allPages(repository, "/issues/comments", {
    query,
    schema: commentsSchema,
    maxPages: 1,
  });
  const start: CommentCursor = { at: "1970-01-01T00:02:00Z", seen: [] };
  return newComments(newest, start).cursor;
}

/** The issue of a thread; a thread of another repository is not ours to write in. */
function numberOf({ id, fullName }: RepositoryCalls, thread: string): number {
  const [repository, number] = thread.split("#");
  if (repository === String(id) && Number(number) > 0) return Number(number);
  throw new Error(`${thread} is not a thread of ${fullName} (${id})`);
}

/** A throw says that it is not known what happened: then the post is looked for before it is made again. */
function postedFrom(outcome: Outcome): Posted {
  if (outcome.kind === "ok") return { success: true, ref: String(postedSchema.parse(outcome.data).id) };
  const failure = failureOf(outcome);
  if (outcome.kind === "failed" && outcome.mayHaveHappened) throw new Error(failure.error);
  return failure;
}

function failureOf(outcome: Exclude<Outcome, { kind: "ok" }>): TrackerFailure {
  const error =
    "reason" in outcome ? outcome.reason : outcome.kind === "moved" ? `moved to ${outcome.to}` : "unchanged";
  const retryable = outcome.kind === "limited" || outcome.kind === "failed" || outcome.kind === "unauthorised";
  const wait = outcome.kind === "limited" ? { retryAfterMs: outcome.retryAfterMs } : {};
  return { success: false, error: `GitHub: ${error}`, retryable, ...wait };
}
