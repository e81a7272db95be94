import * as z from "zod";
import type { BridgeContext, DeliveryResult, OutgoingAction } from "../../bridges/contract.ts";
import type { DeedResult } from "../../bridges/local/bridge.ts";
import { cutToLength, postAction } from "../../bridges/tracker/bridge.ts";
import type { Tracker } from "../../bridges/tracker/port.ts";
import type { MergeMethod } from "../../git/merge-method.ts";
import type { Outcome } from "../client/outcome.ts";
import type { Connection } from "../connection.ts";
import { safeBody } from "../outgoing.ts";
import { allPages } from "../pages.ts";
import type { RepositoryCalls } from "../repository.ts";
import { splitMarker, withMarker } from "../tracker/marker.ts";
import { issuePath, trackerFailure } from "../tracker/tracker.ts";
import { type PullPlace, placeOf } from "./pull-address.ts";
import { ownReviewComment, reviewCommentsSchema } from "./review-comments.ts";

export interface PullActionsOptions {
  readonly connection: Pick<Connection, "repository" | "self">;
  readonly tracker: Tracker;
  /** Repeating a merge that is done is `ok`. */
  merge?(planId: string, asked: AskedMerge): Promise<DeedResult>;
  close?(planId: string): Promise<DeedResult>;
}

/** `sha`: what was reviewed, where the action says so; else the event that asked for it tells. */
export interface AskedMerge {
  readonly method: MergeMethod;
  readonly sha?: string | undefined;
  readonly eventId?: string | undefined;
}

/** What one action needs. */
interface Sending extends PullActionsOptions {
  readonly repository: RepositoryCalls;
  readonly place: PullPlace;
  readonly action: OutgoingAction;
}

const refused = (error: string): DeliveryResult => ({ success: false, error, retryable: false });

/** Does what an action asks for at a pull request. */
export async function actOnPull(
  options: PullActionsOptions,
  ctx: Pick<BridgeContext, "listPlans">,
  action: OutgoingAction,
): Promise<DeliveryResult> {
  const place = placeOf(action.target.token);
  if (!place) return refused("the address names no pull request (token)");
  const repository = await options.connection.repository();
  issuePath(repository, place.thread);
  const sending = { ...options, repository, place, action };
  const { payload } = action;
  switch (payload.type) {
    case "merge":
    case "close_pr":
      return deed(sending, await planOf(ctx, place));
    case "comment":
      return place.comment === undefined
        ? postAction({ tracker: options.tracker, name: "GitHub" }, inThread(sending))
        : reply(sending);
    case "inline_comment":
      return remark(sending, payload);
    case "review":
      return review(sending, payload.review);
    default:
      return setOn(sending);
  }
}

const inThread = ({ action, place }: Sending): OutgoingAction => ({
  ...action,
  target: { ...action.target, token: place.thread },
});

async function planOf(ctx: Pick<BridgeContext, "listPlans">, { thread }: PullPlace): Promise<string | undefined> {
  const plans = await ctx.listPlans({ status: ["active", "triaging", "review", "done"] });
  return plans.findLast(({ changeRequest }) => changeRequest?.ref === thread)?.planId;
}

/** The forge merges and closes: it knows what was reviewed. */
async function deed({ merge, close, action }: Sending, plan: string | undefined): Promise<DeliveryResult> {
  if (plan === undefined) return refused("no plan has this pull request");
  const { payload, relatedEventId: eventId } = action;
  const done =
    payload.type === "merge"
      ? await merge?.(plan, { method: payload.method, sha: payload.sha, eventId })
      : await close?.(plan);
  if (!done) return refused(`GitHub cannot carry "${payload.type}"`);
  return done.ok ? { success: true } : { success: false, error: done.reason, retryable: done.retryable };
}

/** Room for a marker, and for what makes words harmless. */
const MAX_BODY = 60_000;

function bodyOf(message: string, id: string): string {
  return withMarker(cutToLength(safeBody(message), MAX_BODY), id);
}

/** In the thread on a line. */
async function reply(sending: Sending): Promise<DeliveryResult> {
  const { repository, place, action } = sending;
  if (action.payload.type !== "comment") return refused("only comments are replies");
  const body = { body: bodyOf(action.payload.message, action.id) };
  if (action.ref !== undefined) {
    const edited = await repository.send("PATCH", `/pulls/comments/${Number(action.ref)}`, { body });
    if (edited.kind !== "not-found") return resultOf(edited);
  }
  const path = `/pulls/${place.number}/comments/${place.comment}/replies`;
  const outcome = await repository.send("POST", path, { body });
  // The thread is gone: what is to be said is said all the same.
  return outcome.kind === "not-found" ? inConversation(sending) : resultOf(outcome);
}

/** What cannot be said at its place is said in the conversation of the pull request. */
const inConversation = (sending: Sending): Promise<DeliveryResult> =>
  postAction({ tracker: sending.tracker, name: "GitHub" }, inThread(sending));

const resultOrComment = (outcome: Outcome, sending: Sending): DeliveryResult | Promise<DeliveryResult> =>
  outcome.kind === "refused" && outcome.status === INVALID ? inConversation(sending) : resultOf(outcome);

interface Remark {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

async function remark(sending: Sending, { path, line, message }: Remark): Promise<DeliveryResult> {
  const { repository, place, action } = sending;
  const commit = await headOf(sending);
  if (typeof commit !== "string") return resultOf(commit);
  const body = { path, line, side: "RIGHT", commit_id: commit, body: bodyOf(message, action.id) };
  const outcome = await repository.send("POST", `/pulls/${place.number}/comments`, { body });
  // A line that the pull request does not change takes no comment.
  return resultOrComment(outcome, sending);
}

const INVALID = 422;
const headSchema = z.object({ head: z.object({ sha: z.string() }) });

async function headOf({ repository, place }: Sending): Promise<string | Outcome> {
  const outcome = await repository.get(`/pulls/${place.number}`);
  return outcome.kind === "ok" ? headSchema.parse(outcome.data).head.sha : outcome;
}

const EVENTS = { approve: "APPROVE", request_changes: "REQUEST_CHANGES", comment: "COMMENT" } as const;

type Submission = Extract<OutgoingAction["payload"], { type: "review" }>["review"];

async function review(sending: Sending, { verdict, summary, comments }: Submission): Promise<DeliveryResult> {
  const { repository, place, action } = sending;
  const commit = await headOf(sending);
  if (typeof commit !== "string") return resultOf(commit);
  const body = {
    ...{ event: EVENTS[verdict], commit_id: commit, body: bodyOf(summary, action.id) },
    // Without a marker they would be heard as a person's words.
    comments: comments.map(({ path, line, message }, index) => ({
      ...{ path, line, side: "RIGHT" },
      body: bodyOf(message, `${action.id}.${index}`),
    })),
  };
  const outcome = await repository.send("POST", `/pulls/${place.number}/reviews`, { body });
  // An author's own pull request takes no verdict, and a line outside of it no remark: then it is a comment.
  return resultOrComment(outcome, sending);
}

/** What is the same however often it is asked for. */
async function setOn({ repository, place, action: { payload } }: Sending): Promise<DeliveryResult> {
  const issue = `/issues/${place.number}`;
  switch (payload.type) {
    case "request_reviewers":
      return resultOf(
        await repository.send("POST", `/pulls/${place.number}/requested_reviewers`, {
          body: { reviewers: payload.reviewers },
        }),
      );
    case "add_labels":
      return resultOf(await repository.send("POST", `${issue}/labels`, { body: { labels: payload.labels } }));
    case "remove_labels":
      for (const label of payload.labels) {
        const outcome = await repository.send("DELETE", `${issue}/labels/${encodeURIComponent(label)}`);
        if (outcome.kind !== "ok" && outcome.kind !== "not-found") return resultOf(outcome);
      }
      return { success: true };
    case "assign_users":
      return resultOf(await repository.send("POST", `${issue}/assignees`, { body: { assignees: payload.users } }));
    case "set_milestone":
      return setMilestone(repository, issue, payload.milestone);
    default:
      return refused(`GitHub cannot carry "${payload.type}"`);
  }
}

const milestonesSchema = z.array(z.object({ number: z.number(), title: z.string() }));

async function setMilestone(repository: RepositoryCalls, issue: string, title: string): Promise<DeliveryResult> {
  const query = { state: "all" };
  const found = await allPages(repository, "/milestones", { query, schema: milestonesSchema });
  const milestone = found.find((one) => one.title === title);
  if (!milestone) return refused(`there is no milestone ${JSON.stringify(title.slice(0, 100))}`);
  return resultOf(await repository.send("PATCH", issue, { body: { milestone: milestone.number } }));
}

function resultOf(outcome: Outcome): DeliveryResult {
  if (outcome.kind === "ok") {
    const { id } = (outcome.data ?? {}) as { id?: unknown };
    return { success: true, ...(typeof id === "number" ? { ref: String(id) } : {}) };
  }
  return trackerFailure(outcome);
}

const reviewsSchema = z.array(
  z.object({ id: z.number(), body: z.string().nullish(), user: z.object({ id: z.number() }).nullable() }),
);

/** Whether an action left its mark at a pull request: by the marker and our user id. */
export async function foundOnPull(
  { connection, tracker }: PullActionsOptions,
  { id, target, payload }: OutgoingAction,
): Promise<boolean | { readonly ref: string }> {
  const place = placeOf(target.token);
  const isWords = payload.type === "comment" || payload.type === "inline_comment" || payload.type === "review";
  if (!place || !isWords) return false;
  const said = (await tracker.own(place.thread, [id])).get(id);
  if (said) return { ref: said.ref };
  if (payload.type === "comment" && place.comment === undefined) return false;
  const [repository, self] = [await connection.repository(), await connection.self()];
  const path = `/pulls/${place.number}`;
  if (payload.type === "review") {
    const reviews = await allPages(repository, `${path}/reviews`, { schema: reviewsSchema });
    const own = reviews.find((one) => String(one.user?.id) === self.id && splitMarker(one.body ?? "").id === id);
    return own ? { ref: String(own.id) } : false;
  }
  const comments = await allPages(repository, `${path}/comments`, { schema: reviewCommentsSchema });
  const own = comments.find((one) => ownReviewComment(one, self) === id);
  return own ? { ref: String(own.id) } : false;
}
