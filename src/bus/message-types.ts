/**
 * What goes over a bus. Plain types, without the schemas: the declarations of the package are made of this file, and
 * users have no zod. test/bus/types.ts holds them to the schemas.
 */

import type { MergeMethod } from "../git/merge-method.ts";
import type { AuthorPermission } from "./author.ts";

export type { MergeMethod };

/** Where something is to be sent: the name of a target, and the place at it. */
export type ReplyAddress = {
  readonly target: string;
  readonly token?: string | undefined;
};

/** Who wrote what an event tells. */
export interface EventAuthor {
  readonly login: string;
  /** What the author may do with the repository. `write` and above may merge, close and make plans. */
  readonly permission: AuthorPermission;
  readonly bot?: boolean | undefined;
  /** Our own login: what prloom itself posted. */
  readonly self?: boolean | undefined;
}

/** An author as a bridge reports one: with whatever else the outside system says about them. */
export interface ReportedAuthor extends EventAuthor {
  readonly [key: string]: unknown;
}

/** A record that came in. Immutable. */
export interface BusEvent {
  /** The same id again is the same event. */
  readonly id: string;
  /** The bridge or part of prloom that it came from. */
  readonly source: string;
  readonly type: string;
  readonly severity: "info" | "warning" | "error";
  readonly title: string;
  readonly body: string;
  /** Where an answer goes. */
  readonly replyTo?: ReplyAddress | undefined;
  readonly context?: { readonly author?: ReportedAuthor | undefined; readonly [key: string]: unknown } | undefined;
}

export interface CommentPayload {
  readonly type: "comment";
  readonly message: string;
  /** The same key edits the earlier comment instead of adding one. */
  readonly key?: string | undefined;
}

export interface InlineCommentPayload {
  readonly type: "inline_comment";
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

/** A review of a change request, with remarks on lines. */
export interface ReviewSubmission {
  readonly verdict: "approve" | "request_changes" | "comment";
  readonly summary: string;
  readonly comments: readonly { readonly path: string; readonly line: number; readonly message: string }[];
}

/** Makes a plan, or changes the one that this source has. */
export interface RawUpsertPayload {
  readonly type: "upsert_plan";
  readonly source: {
    readonly system?: string | undefined;
    readonly kind?: string | undefined;
    readonly id?: string | undefined;
    readonly [key: string]: unknown;
  };
  readonly title?: string | undefined;
  readonly planMarkdown?: string | undefined;
  /** The text that planMarkdown was made from, for sources to which the plan's text is written back. */
  readonly base?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly status?: "draft" | "queued" | undefined;
  readonly hidden?: boolean | undefined;
  /** False: makes no plan where the source has none that is open. */
  readonly create?: boolean | undefined;
  /** False: a plan that is open stays as it is. */
  readonly change?: boolean | undefined;
}

/** Tells people, by the channels that `notify` in the config has for this priority. */
export interface Notification {
  readonly priority: "urgent" | "action" | "warning" | "info";
  readonly title: string;
  readonly message: string;
}

/** Everything that can be asked of the outside. */
export type Payload =
  | CommentPayload
  | InlineCommentPayload
  | { readonly type: "review"; readonly review: ReviewSubmission }
  | { readonly type: "request_reviewers"; readonly reviewers: readonly string[] }
  /** `sha`: the commit that was reviewed, where a server merges. */
  | { readonly type: "merge"; readonly method: MergeMethod; readonly sha?: string }
  | { readonly type: "close_pr" }
  | { readonly type: "add_labels"; readonly labels: readonly string[] }
  | { readonly type: "remove_labels"; readonly labels: readonly string[] }
  | { readonly type: "assign_users"; readonly users: readonly string[] }
  | { readonly type: "set_milestone"; readonly milestone: string }
  | RawUpsertPayload
  | (Notification & { readonly type: "notification" });

/** A record that is to go out. Immutable. */
export interface Action {
  readonly id: string;
  readonly type: "respond";
  readonly target: ReplyAddress;
  readonly payload: Payload;
  readonly relatedEventId?: string | undefined;
  /** Who wrote the event that it answers: copied by prloom from the event, so the router can judge rights alone. */
  readonly author?: ReportedAuthor | undefined;
  /** `plugin:<name>` or `bridge:<name>`; prloom's own have none. Two emitters may use the same `key`. */
  readonly emitter?: string | undefined;
  /** How many actions in a row triggered each other in beforeRoute; a loop ends here. */
  readonly hops?: number | undefined;
}
