import { hasWritePermission } from "../../bus/author.ts";
import type { ReplyAddress } from "../../bus/message-types.ts";
import { partsOf } from "../../gate/post-parts.ts";
import { messageOf } from "../../kernel/errors.ts";
import { OPEN_STATUSES } from "../../plan/plan-types.ts";
import type { Bridge, BridgeContext, BridgeEvent, DeliveryResult, OutgoingAction, PollResult } from "../contract.ts";
import { renderForThread } from "../local/render.ts";
import type { HeardPost, NewPost, Tracker, TrackerAuthor } from "./port.ts";

export interface TrackerBridgeOptions {
  readonly tracker: Tracker;
  /** The address name of its threads; a token is the name of a thread. */
  readonly target: string;
  /** In refusals. */
  readonly name: string;
  /** Threads whose plans are about to be made: what is said there waits for them. */
  expected?(): readonly string[];
}

/** How far the tracker was read, and comments whose plan or whose author's permission is not there yet; kept as JSON. */
interface TrackerState {
  readonly next: string;
  readonly held: readonly HeardPost[];
}

/** A bridge to the threads of a tracker: brings what people write to plans, and posts what prloom says. */
export function trackerBridge<Config>(options: TrackerBridgeOptions): Bridge<Config, string> {
  const { tracker, target } = options;
  return {
    targets: [target],
    tracker,
    events: (ctx, state) => hear(options, ctx, state),
    actions: (_ctx, action) => postAction(options, action),
    async delivered(_ctx, { id, target: { token } }) {
      const found = token === undefined ? undefined : (await tracker.own(token, [id])).get(id);
      return found ? { ref: found.ref } : false;
    },
  };
}

/** Posts an action in its thread, or edits what was posted with its key. */
export async function postAction(
  { tracker, name }: Pick<TrackerBridgeOptions, "tracker" | "name">,
  { id, target: { token }, payload, ref }: OutgoingAction,
): Promise<DeliveryResult> {
  const refused = (error: string): DeliveryResult => ({ success: false, error, retryable: false });
  if (token === undefined) return refused("the address has no thread (token)");
  if (payload.type === "merge" || payload.type === "close_pr") return refused(`${name} cannot carry "${payload.type}"`);
  const rendered = renderForThread(payload, name);
  if ("refused" in rendered) return refused(rendered.refused);
  const post: NewPost = { id, body: cutToLength(tracker.written?.(rendered.text) ?? rendered.text, tracker.maxLength) };
  const edited = ref === undefined ? "gone" : await tracker.edit(token, ref, post);
  if (edited !== "gone") return edited;
  // What is edited later stays one post.
  const isOne = payload.type === "comment" && payload.key !== undefined;
  return isOne ? tracker.post(token, post) : sayInParts(tracker, token, { id, body: rendered.text });
}

/** The last part has the id itself: once it is there, so are the others. */
async function sayInParts(tracker: Tracker, token: string, { id, body }: NewPost): Promise<DeliveryResult> {
  const parts = partsOf(body, undefined, tracker);
  const posts = parts.map((part, index) => ({
    id: index === parts.length - 1 ? id : `${id}~${index + 1}`,
    body: part,
  }));
  const [last] = posts.splice(-1);
  const there =
    posts.length > 0
      ? await tracker.own(
          token,
          posts.map((post) => post.id),
        )
      : new Map();
  for (const post of posts.filter((one) => !there.has(one.id))) {
    const posted = await tracker.post(token, post);
    if (!posted.success) return posted;
  }
  return tracker.post(token, last ?? { id, body });
}

const CUT = "\n\n… (too long for this place: the rest is left out)";

/** What has to be seen whole comes in posts that fit. */
export function cutToLength(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, Math.max(0, max - CUT.length)).toWellFormed()}${CUT}`;
}

async function hear(
  options: TrackerBridgeOptions,
  ctx: Pick<BridgeContext, "listPlans" | "log">,
  kept: string | undefined,
): Promise<PollResult<string>> {
  const { tracker } = options;
  const plans = await plansByThread(options, ctx);
  const state = kept === undefined ? undefined : (JSON.parse(kept) as TrackerState);
  const expected = new Set(options.expected?.());
  const { posts, next } = await tracker.since([...new Set([...plans.keys(), ...expected])], state?.next);
  const all = [...(state?.held ?? []), ...posts];
  if (all.length === 0) return { events: [], state: stateOf({ next, held: [] }) };
  const self = await tracker.self();
  const events: BridgeEvent[] = [];
  const held: HeardPost[] = [];
  for (const post of all) {
    const heard = plans.get(post.thread);
    if (post.own !== undefined) continue;
    if (heard === undefined) {
      if (!expected.has(post.thread) || !(await mayCount(tracker, post))) continue;
      if (hasRoom(held, post)) held.push(post);
      else ctx.log.warn(`a comment by ${post.author.login} is not heard: too much was said before its plan is there`);
      continue;
    }
    try {
      events.push(await eventOf(options, { ...heard, post, self }));
    } catch (error) {
      // Of this author nothing counts before it is known what they may do; others are not kept waiting by it.
      if (!hasRoom(held, post)) throw error;
      held.push(post);
      ctx.log.warn(`a comment by ${post.author.login} is held back: ${messageOf(error)}`);
    }
  }
  return { events, state: stateOf({ next, held }) };
}

const stateOf = (state: TrackerState): string => JSON.stringify(state);

/** With more than these the tracker is out of order: then nothing is taken, and all of it is asked for again. */
const MAX_HELD = 50;
/** What a bridge keeps has a limit, and each quotation mark takes eight characters of that. */
const MAX_HELD_CHARACTERS = 100_000;

function hasRoom(held: readonly HeardPost[], { body }: HeardPost): boolean {
  const characters = held.reduce((sum, post) => sum + post.body.length, body.length);
  return held.length < MAX_HELD && characters <= MAX_HELD_CHARACTERS;
}

/** What strangers say before there is a plan comes to nothing, and anyone may say much. Who cannot be asked about may be none. */
async function mayCount(tracker: Tracker, { author }: HeardPost): Promise<boolean> {
  try {
    return hasWritePermission({ permission: await tracker.permissionOf(author) });
  } catch {
    return true;
  }
}

/** Whose words a thread is for, and where they are answered. */
interface ThreadOfPlan {
  readonly plan: string;
  readonly replyTo: ReplyAddress;
}

async function plansByThread(
  { tracker, target }: TrackerBridgeOptions,
  ctx: Pick<BridgeContext, "listPlans">,
): Promise<Map<string, ThreadOfPlan>> {
  const plans = new Map<string, ThreadOfPlan>();
  for (const { source, planId, changeRequest } of await ctx.listPlans({ status: OPEN_STATUSES })) {
    const address: ReplyAddress | undefined = source && tracker.addressOf(source);
    const change = changeRequest && tracker.changeAddress?.(changeRequest);
    for (const replyTo of [address?.target === target ? address : undefined, change])
      if (replyTo?.token !== undefined) plans.set(replyTo.token, { plan: planId, replyTo });
  }
  return plans;
}

interface HeardInThread extends ThreadOfPlan {
  readonly post: HeardPost;
  readonly self: TrackerAuthor;
}

async function eventOf(
  { tracker, target }: TrackerBridgeOptions,
  { post, plan, replyTo, self }: HeardInThread,
): Promise<BridgeEvent> {
  const { author, ref, body, at, edited } = post;
  return {
    id: `${target}-comment-${ref}`,
    type: "comment",
    severity: "info",
    title: `Comment by ${author.login}`,
    body,
    replyTo,
    context: {
      author: { ...author, permission: await tracker.permissionOf(author) },
      ...{ edited, at, ref },
      ...(isSame(author, self) ? { ownLogin: author.login } : {}),
    },
    plan,
  };
}

/** Logins change hands; where there are ids, these count. */
export function isSame(author: TrackerAuthor, self: TrackerAuthor): boolean {
  if (author.id !== undefined && self.id !== undefined) return author.id === self.id;
  return author.login.toLowerCase() === self.login.toLowerCase();
}
