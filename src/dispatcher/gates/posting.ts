import { callBridge } from "../../bridges/call-bridge.ts";
import type { LoadedBridge } from "../../bridges/load.ts";
import { LOCAL_TARGET } from "../../bridges/local/thread.ts";
import { deliveryHandler } from "../../bridges/outbox/deliver.ts";
import type { Standing, Tracker, TrackerPost } from "../../bridges/tracker/port.ts";
import { parseHandler } from "../../bus/names.ts";
import type { BusEvent, ReplyAddress } from "../../bus/types.ts";
import { type GateRecord, isShown, isUnanswered, postsOf, unanswered } from "../../gate/gate-record.ts";
import { mayAnswer } from "../../gate/judge-comment.ts";
import type { PostingLimits } from "../../gate/post-parts.ts";
import { isoTime } from "../../kernel/clock.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Buses } from "../buses/buses.ts";
import type { Extended } from "../buses/extensions.ts";
import type { Records } from "../records.ts";
import type { Configured } from "../settings/pinned.ts";
import type { Gated } from "./gate-store.ts";
import { putGates } from "./plan-gate.ts";

/** Where a plan is shown: where it came from if a bridge knows that place and it is there, else at its change request, else in its local thread. */
export function threadOf(
  loom: Extended,
  record: PlanRecord,
): { readonly address: ReplyAddress; readonly limits: PostingLimits } {
  const { address, tracker } = placeOf(loom, record) ?? {};
  if (address && tracker) return { address, limits: tracker };
  return { address: { target: LOCAL_TARGET, token: record.id }, limits: { maxLength: Number.MAX_SAFE_INTEGER } };
}

interface PostingPlace {
  readonly loaded: LoadedBridge;
  readonly tracker: Tracker;
  readonly address: ReplyAddress;
}

type Placed = Pick<PlanRecord, "source" | "issueGone" | "changeRequest">;

function placeOf(loom: Extended, { source, issueGone, changeRequest }: Placed): PostingPlace | undefined {
  const standing = issueGone === undefined ? source : undefined;
  return (
    firstPlace(loom, (tracker) => standing && tracker.addressOf(standing)) ??
    firstPlace(loom, (tracker) => changeRequest && tracker.changeAddress?.(changeRequest))
  );
}

function firstPlace(
  { extensions }: Extended,
  addressIn: (tracker: Tracker) => ReplyAddress | undefined,
): PostingPlace | undefined {
  for (const loaded of extensions.registry.all) {
    const { tracker } = loaded.bridge;
    const address = tracker && addressIn(tracker);
    if (address && tracker) return { loaded, tracker, address };
  }
  return undefined;
}

/** Where the source of a plan is told about it; undefined where no bridge knows that place. */
export function sourceThread(loom: Extended, { source, issueGone }: PlanRecord): ReplyAddress | undefined {
  return placeOf(loom, { source, issueGone })?.address;
}

/** Where a change is to be shown that has no change request yet: its forge is a server, and what it publishes is talked about there. */
function placeToCome(loom: Extended & Configured, record: PlanRecord, head: string): PostingPlace | undefined {
  const { forge } = loom.config;
  // Nothing is published of a branch without commits.
  const isToCome = forge !== "local" && !record.changeRequest && head !== record.baseSha;
  return isToCome ? firstPlace(loom, (tracker) => tracker.changeAddress?.({ forge, ref: "" })) : undefined;
}

/** Whether the gate of a change waits for its change request, to be shown there. */
export function isToAwaitChange(loom: Extended & Configured, record: PlanRecord, head: string): boolean {
  return !placeOf(loom, record) && placeToCome(loom, record, head) !== undefined;
}

/** Whether its change request is still to come. */
export function awaitsChange({ config }: Configured, record: PlanRecord, gate: GateRecord): boolean {
  const { awaits, state, told } = gate;
  const isToBeShown = awaits === "change-request" && state === "open" && told === undefined;
  return isToBeShown && !record.changeRequest && config.forge !== "local";
}

/** The login under which a plan is shown, if a person who may answer could have it, too; undefined also where it cannot be asked for now. */
export async function postedAs(
  loom: Extended & Configured,
  record: PlanRecord,
  head = record.baseSha ?? "",
): Promise<string | undefined> {
  const place = placeOf(loom, record) ?? placeToCome(loom, record, head);
  if (!place) return undefined;
  const { loaded, tracker } = place;
  const label = `self:${loaded.name}`;
  const called = await callBridge(loom.bridgeServices, {
    ...{ loaded, planId: record.id, label },
    call: async () => (await tracker.self()).login,
  });
  const login = called.kind === "returned" ? (called.value as string) : undefined;
  const isPerson = login !== undefined && !login.endsWith("[bot]");
  return isPerson && mayAnswer({ login, permission: "write" }, loom.config.gates) ? login : undefined;
}

/** Whether it is a part of a review, and no comment in the thread. */
export function isRemark({ type, context }: BusEvent): boolean {
  return context?.path !== undefined || type === "review";
}

/** Whether a comment stands where a gate was shown, or in the local thread of its plan. Where a plugin showed it is not known, so the place is that plugin's business. */
export function isShownAt({ planId, thread, redirected }: GateRecord, { replyTo, context }: BusEvent): boolean {
  // A thread of its own.
  if (context?.path !== undefined) return false;
  if (redirected) return true;
  const local = { target: LOCAL_TARGET, token: planId };
  return [local, thread ?? local].some(({ target, token }) => replyTo?.target === target && replyTo.token === token);
}

/** What became of the posts of a gate that is not shown yet. `dead`: one of them cannot be posted; `bridge`: by the one that a plugin may have sent it to. */
export type Posting =
  | { readonly kind: "awaits-change" }
  | { readonly kind: "under-way"; readonly target: string }
  | { readonly kind: "posted" }
  | { readonly kind: "dead"; readonly reason: string; readonly bridge?: string | undefined };

/** Undefined when there is nothing to wait for. */
export function postingOf(loom: Buses & Configured, record: PlanRecord, gate: GateRecord): Posting | undefined {
  if (awaitsChange(loom, record, gate)) return { kind: "awaits-change" };
  if (gate.state !== "open" || gate.told !== "open" || isShown(gate)) return undefined;
  const bus = loom.bus(gate.planId);
  const fates = postsOf(gate).map(({ id }) => ({ id, fate: bus.actionFate(id) }));
  const dead = fates.find(({ fate }) => fate === "dead");
  if (dead) {
    const letter = bus.deadLetters().find(({ record, follows }) => record === dead.id && !follows);
    const handler = letter && parseHandler(letter.handler);
    const bridge = handler?.kind === "deliver" ? handler.bridge : undefined;
    return { kind: "dead", reason: letter?.reason ?? "it was given up", bridge };
  }
  if (fates.every(({ fate }) => fate === "done")) return { kind: "posted" };
  return { kind: "under-way", target: gate.thread?.target ?? LOCAL_TARGET };
}

/** Whether a plugin sent posts elsewhere, or said them itself. */
export function isRedirected(loom: Buses & Extended, gate: GateRecord): boolean {
  const bridge = loom.extensions.registry.byTarget(gate.thread?.target ?? LOCAL_TARGET);
  const bus = loom.bus(gate.planId);
  return postsOf(gate).some(({ id }) => !bridge || bus.handlerStatus(id, deliveryHandler(bridge.name)) !== "settled");
}

/** How the posts of a gate look now, where they were posted. `at`: when the last one was, by the clock of that place. */
export type Posts =
  | { readonly kind: "intact"; readonly at: number }
  /** `what` ends a sentence. */
  | { readonly kind: "changed"; readonly what: string }
  | { readonly kind: "unreadable"; readonly why: string }
  /** They do not matter: the comment that answers is not as it was heard. */
  | { readonly kind: "taken-back"; readonly how: Exclude<Standing, "as-written"> };

/** Reads the posts of a gate again, and the comment that answers it; undefined where they cannot be read at all. */
export async function readPosts(loom: Extended, gate: GateRecord, answer?: BusEvent): Promise<Posts | undefined> {
  const { thread, planId, redirected } = gate;
  const loaded = thread && loom.extensions.registry.byTarget(thread.target);
  const tracker = loaded?.bridge.tracker;
  if (!loaded || !tracker || thread.token === undefined || redirected) return undefined;
  const called = await callBridge(loom.bridgeServices, {
    loaded,
    planId,
    label: `read:${loaded.name}`,
    call: async (): Promise<Read> => ({
      standing: answer ? await standingOf(tracker, thread, answer) : "as-written",
      found: await ownPosts(tracker, thread.token ?? "", gate),
    }),
  });
  if (called.kind !== "returned") return { kind: "unreadable", why: called.error };
  const { standing, found } = called.value as Read;
  return standing === "as-written" ? comparePosts(gate, found, tracker.written) : { kind: "taken-back", how: standing };
}

interface Read {
  readonly standing: Standing;
  readonly found: ReadonlyMap<string, TrackerPost>;
}

/** An answer may wait for hours before it is judged. In the local thread nothing is edited. */
async function standingOf(tracker: Tracker, thread: ReplyAddress, answer: BusEvent): Promise<Standing> {
  const { replyTo, context } = answer;
  const isThere = replyTo?.target === thread.target && typeof context?.ref === "string";
  return isThere && tracker.standing ? tracker.standing(replyTo.token ?? "", String(context.ref)) : "as-written";
}

async function ownPosts(tracker: Tracker, thread: string, gate: GateRecord): Promise<ReadonlyMap<string, TrackerPost>> {
  return tracker.own(
    thread,
    postsOf(gate).map(({ id }) => id),
  );
}

/** Whether what is there to be read is what was shown. */
export function comparePosts(
  gate: GateRecord,
  found: ReadonlyMap<string, TrackerPost>,
  written: Tracker["written"] = (body) => body,
): Posts {
  const posts = postsOf(gate);
  const name = (index: number): string =>
    posts.length === 1 ? `the post of gate ${gate.gateId}` : `part ${index + 1} of the post of gate ${gate.gateId}`;
  let at = 0;
  for (const [index, { id, body }] of posts.entries()) {
    const post = found.get(id);
    if (!post) return { kind: "changed", what: `${name(index)} is gone` };
    if (post.edited || !isSameText(post.body, written(body)))
      return { kind: "changed", what: `${name(index)} was edited` };
    const posted = Date.parse(post.at);
    if (Number.isNaN(posted)) return { kind: "unreadable", why: `its time is ${JSON.stringify(post.at)}` };
    at = Math.max(at, posted);
  }
  return { kind: "intact", at };
}

/** Trackers change the ends of lines, and what is empty at the end. */
function isSameText(one: string, other: string): boolean {
  const plain = (text: string): string => text.replace(/\r\n?/g, "\n").trimEnd();
  return plain(one) === plain(other);
}

/** Why the next gate shows the same again, if that is neither for an answer nor for a change. */
export function replacedFor(before: GateRecord | undefined): string | undefined {
  return before && isUnanswered(before) ? before.comment : undefined;
}

/** Posts of a plan in a row that were not found as they were posted: then others would not stay either. */
const MAX_LOST = 3;

/**
 * What can be read there is not what was shown, so no comment can be an answer to it: the plan is shown again, and says why. Where no post
 * stays, nothing is posted any more: the plan is blocked (`given-up`), and waits for the answer of a command.
 */
export function showAgain(loom: Records & Gated, gate: GateRecord, why: string): "shown-again" | "given-up" {
  const at = isoTime(loom.clock.now());
  const { planId, thread } = gate;
  const lost = { ...gate, lost: true as const, comment: why };
  if (lostBefore(loom, gate) < MAX_LOST) {
    putGates(loom, planId, [unanswered(lost, at, why)]);
    return "shown-again";
  }
  const reason = `What is posted for it (${thread?.target ?? LOCAL_TARGET}) does not stay as it was posted: ${why}.`;
  const hint = `\`prloom show ${planId}\` shows the plan, and \`prloom approve ${planId}\` answers it from here; \`prloom unblock ${planId}\` posts it once more.`;
  // Not in place of what a person or a step had against it: that would be gone with the answer.
  const blocks = { blocked: { reason, hint, at, cause: "gate" } } as const;
  if (!gate.lost) putGates(loom, planId, [lost], ({ blocked }) => (blocked ? {} : blocks));
  return "given-up";
}

/** How many of the gates right before this one were lost. */
function lostBefore({ gates }: Gated, { before }: GateRecord): number {
  const gate = before === undefined ? undefined : gates.get(before);
  return gate?.lost ? 1 + lostBefore({ gates }, gate) : 0;
}
