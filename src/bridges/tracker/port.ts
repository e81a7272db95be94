import type { AuthorPermission } from "../../bus/author.ts";
import type { ReplyAddress } from "../../bus/message-types.ts";
import type { Awaitable } from "../../hooks/contexts/hook-types.ts";
import type { ChangeRequest, PlanSource } from "../../plan/plan-types.ts";

/** A person or program that writes to a tracker. */
export interface TrackerAuthor {
  readonly login: string;
  /** What does not change when the login does, where the tracker has such a thing. */
  readonly id?: string | undefined;
  readonly bot?: boolean | undefined;
  /** The program that wrote it in this person's name. */
  readonly app?: string | undefined;
}

/** One comment as the tracker shows it now. */
export interface TrackerPost {
  /** What the tracker calls it. */
  readonly ref: string;
  readonly author: TrackerAuthor;
  /** Without what the tracker's own code adds, so that it finds the post again. */
  readonly body: string;
  /** When it was written, by the tracker's clock. */
  readonly at: string;
  readonly edited: boolean;
  /** The id that it was posted with; only of posts of ours. */
  readonly own?: string | undefined;
}

/** A comment that is new in a thread. */
export interface HeardPost extends TrackerPost {
  readonly thread: string;
}

/**
 * The tracker was not reached (`retryable`; what was sent may have arrived all the same), or refused. A throw is an error of the
 * tracker's own code: after `bus.maxAttempts` of them the post is given up.
 */
export interface TrackerFailure {
  readonly success: false;
  readonly error: string;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  /** It surely did not arrive. */
  readonly arrived?: false;
}

export type Posted = { readonly success: true; readonly ref: string } | TrackerFailure;

/** What became of a comment since it was written. */
export type Standing = "as-written" | "edited" | "gone";

/** What is to be said in a thread; `id` is found again in what the tracker shows. */
export interface NewPost {
  readonly id: string;
  readonly body: string;
}

export interface HeardPosts {
  readonly posts: readonly HeardPost[];
  /** Where to go on; opaque. */
  readonly next: string;
}

/**
 * A place where plans are talked about, as an issue tracker or the local thread. A thread is named by a string: the
 * token of an address. Whatever throws or fails is tried again by the caller.
 */
export interface Tracker {
  /** How many characters a post may have. */
  readonly maxLength: number;
  /** What it makes of the words of a post, where it changes them. */
  written?(body: string): string;
  /** Where the plan of a source is talked about; undefined for sources of others. */
  addressOf(source: PlanSource): ReplyAddress | undefined;
  /** Where a change request is talked about; undefined for those of other forges. */
  changeAddress?(change: Pick<ChangeRequest, "forge" | "ref">): ReplyAddress | undefined;
  /** The author that we post as. */
  self(): Awaitable<TrackerAuthor>;
  /** What an author may do with the repository; throws where that cannot be found out now. */
  permissionOf(author: TrackerAuthor): Awaitable<AuthorPermission>;
  /** Adds a comment. Asked again with the same id only after `own` did not find it. */
  post(thread: string, post: NewPost): Awaitable<Posted>;
  /** Changes a comment of ours; `gone`: it was deleted. */
  edit(thread: string, ref: string, post: NewPost): Awaitable<Posted | "gone">;
  /** What became of posts of ours: by their ids, as they are shown now. What is not there was deleted. */
  own(thread: string, ids: readonly string[]): Awaitable<ReadonlyMap<string, TrackerPost>>;
  /** Whether a comment still stands as it was written. Without it, one that is edited before it is judged counts as it was heard. */
  standing?(thread: string, ref: string): Awaitable<Standing>;
  /** Comments in these threads since an earlier `next`, oldest first. Without one: none, and where they end now. */
  since(threads: readonly string[], next: string | undefined): Awaitable<HeardPosts>;
}
