import type { EventAuthor } from "../../bus/message-types.ts";
import type { BusEvent } from "../../bus/types.ts";
import { readAnswer } from "../../gate/answer.ts";
import { type GateRecord, isShown, isUnanswered, postsOf } from "../../gate/gate-record.ts";
import { type Judged, judgeComment, mayAnswer, type PostedGate } from "../../gate/judge-comment.ts";
import type { SignatureCheck } from "../../gate/signed-answer.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Buses } from "../buses/buses.ts";
import type { Extended } from "../buses/extensions.ts";
import { AGENT_MESSAGE } from "../messages/messages.ts";
import type { Located } from "../paths.ts";
import { type Records, setPaused } from "../records.ts";
import type { Configured } from "../settings/pinned.ts";
import { planConfig } from "../settings/plan-config.ts";
import { answerGate } from "./answer-gate.ts";
import type { Gated } from "./gate-store.ts";
import { gatesOf, putGates } from "./plan-gate.ts";
import { isRemark, isShownAt, type Posts, readPosts, showAgain } from "./posting.ts";

/** A comment that decided something, or one that goes on as feedback, with what its author is told; or one that cannot be judged now. */
export type HeardAnswer =
  | { kind: "answered"; reason: string; reply?: string }
  | { kind: "pending"; reply?: string }
  | { kind: "later"; error: unknown; until?: number };

type NotDecided = Extract<Judged, { decides: "none" }>;

export interface HeardComment {
  readonly event: BusEvent;
  /** What became of its signature, if it has one. */
  readonly signature?: SignatureCheck | undefined;
  /** The gate that it may answer, as `postsFor` found it. */
  readonly read?: ReadGate | undefined;
}

interface ReadGate {
  readonly gateId: string;
  /** Absent where they cannot be read at all. */
  readonly posts: Posts | undefined;
}

/**
 * Reads what was posted for the gate that a comment may answer, so that no answer counts for what its author was not
 * shown. Undefined where nothing depends on it: words of strangers cause no look.
 */
export async function postsFor(
  loom: Configured & Gated & Extended,
  record: PlanRecord,
  { event, signature }: HeardComment,
): Promise<ReadGate | undefined> {
  const author = event.context?.author;
  const { says } = readAnswer(event.body);
  const isHeard = signature?.kind === "valid" || (author !== undefined && mayAnswer(author, loom.config.gates));
  if (!isHeard || !ANSWERS_OPEN.has(says)) return undefined;
  const gate = openGate(loom, record);
  if (!gate || !isShownAt(gate, event) || isRemark(event)) return undefined;
  return { gateId: gate.gateId, posts: await readPosts(loom, gate, event) };
}

const ANSWERS_OPEN: ReadonlySet<string> = new Set(["approve", "reject", "revise"]);

/** Undefined also for one that cannot be read: then the comment is put off by the next look at it. */
function openGate(loom: Gated, record: PlanRecord): GateRecord | undefined {
  try {
    return gatesOf(loom, record).findLast((gate) => gate.state === "open" && isShown(gate));
  } catch {
    return undefined;
  }
}

/** Takes a comment as an answer to the plan's gate; undefined for one that is none. Strangers are told nothing: what a person signed can be copied. */
export function hearAnswer(
  loom: Located & Configured & Records & Gated & Buses,
  record: PlanRecord,
  comment: HeardComment,
): HeardAnswer | undefined {
  const author = comment.event.context?.author;
  if (!author || comment.event.type === AGENT_MESSAGE) return undefined;
  const heard = hear(loom, record, comment, author);
  return heard?.kind === "answered" && !mayAnswer(author, loom.config.gates)
    ? { kind: heard.kind, reason: heard.reason }
    : heard;
}

function hear(
  loom: Located & Configured & Records & Gated & Buses,
  record: PlanRecord,
  { event, signature, read }: HeardComment,
  author: EventAuthor,
): HeardAnswer | undefined {
  const posts = read?.posts;
  const gates = gatesOf(loom, record).filter(({ told }) => told !== undefined);
  const known = gates.find((gate) => gate.event === event.id);
  // Heard before, right before a kill.
  if (known) return consequence(known);
  const isEdited = posts?.kind === "taken-back" && posts.how === "edited";
  const edited = event.context?.edited === true || isEdited;
  // A comment that a plugin put off may be older than the gate.
  const told = writtenAt(event);
  const at = gates.length === 0 ? undefined : (told ?? loom.bus(record.id).cameInAt(event.id) ?? 0);
  // By one clock: that of the place where it was written, else ours.
  const seen = told === undefined ? undefined : read;
  const isVerdict = event.type === "review" && event.context?.state === "approved";
  const comment = { body: event.body, author, edited, at, signature, isRemark: isRemark(event), isVerdict };
  const rules = { approvers: loom.config.gates.approvers, ownLogin: ownLoginOf(event) };
  const judged = judgeComment(
    comment,
    gates.map((gate) => ({ ...posted(gate, seen), isElsewhere: !isShownAt(gate, event) })),
    rules,
  );
  const awaited = judged.decides === "none" ? gates.find(({ gateId }) => gateId === judged.awaits) : undefined;
  // It may be there to be read already: the answer to a post may be lost.
  if (awaited)
    return { kind: "later", error: new Error(`gate ${awaited.gateId} is being posted`), ...untilPosted(loom, awaited) };
  if (judged.decides === "none") {
    // Where nothing is to be approved, praise is feedback like any other.
    if (gates.length === 0 && !isGated(loom, record)) return undefined;
    if (!judged.isNear || isFirstHint(loom, gates, event)) return unheard(judged);
    return judged.isAnswer ? undefined : { kind: "pending" };
  }
  if (judged.decides === "hold" || judged.decides === "unhold")
    return hold(loom, record, { event, login: author.login, paused: judged.decides === "hold" });
  const { decides: decision, gateId = "", words, signer } = judged;
  if (decision !== "withdraw" && read?.gateId !== gateId)
    return { kind: "later", error: new Error(`gate ${gateId} was shown while it was looked at`) };
  if (decision !== "withdraw" && posts?.kind === "unreadable")
    return { kind: "later", error: new Error(`the post of gate ${gateId} cannot be read: ${posts.why}`) };
  if (posts?.kind === "taken-back") return { kind: "answered", reason: "its comment is gone" };
  const gate = gates.find((one) => one.gateId === gateId);
  if (decision !== "withdraw" && gate && posts?.kind === "changed") {
    const isShownAgain = showAgain(loom, gate, posts.what) === "shown-again";
    const next = isShownAgain ? "It is shown again; answer that." : `\`prloom approve ${record.id}\` answers it.`;
    const reply = `Nothing was decided: ${posts.what}. ${next}`;
    return unheard({ why: posts.what, reply, isAnswer: true });
  }
  const who =
    signer === undefined ? { by: author.login, via: "thread" as const } : { by: signer, via: "signed" as const };
  const answer = { decision, gateId, words, ...who, event: event.id };
  const outcome = answerGate(loom, record.id, answer);
  if (outcome.kind === "stale")
    return unheard({ ...outcome, reply: `Nothing was decided: ${outcome.why}.`, isAnswer: true });
  return consequence(outcome.gate);
}

/** So long after a post was looked up, its gate is shown. */
const SHOWN_MS = 3000;

/** When its posts are looked for next, as far as that is known. */
function untilPosted(loom: Buses, gate: GateRecord): { readonly until?: number } {
  const bus = loom.bus(gate.planId);
  const waits = postsOf(gate).flatMap(({ id }) => bus.waitingHandlers(id).map((handler) => bus.waitOf(id, handler)));
  const until = Math.max(...waits.flatMap((wait) => wait?.until ?? []));
  return Number.isFinite(until) ? { until: until + SHOWN_MS } : {};
}

/** Nothing is let go by what was written before it was held: a tracker may be away for hours. */
function hold(
  loom: Records & Buses,
  record: PlanRecord,
  { event, login, paused }: { event: BusEvent; login: string; paused: boolean },
): HeardAnswer | undefined {
  const { id, status, held } = record;
  const at = writtenAt(event) ?? loom.bus(id).cameInAt(event.id) ?? 0;
  const isOlder = !paused && record.paused && held !== undefined && at < Date.parse(held.at);
  if (status === "done" || isOlder) {
    const why = isOlder ? "it was written before the plan was paused" : "the plan is done";
    const next = isOlder ? ` \`prloom resume ${id}\` lets it go on.` : "";
    return unheard({ why, reply: `Nothing was decided: ${why}.${next}`, isAnswer: true });
  }
  // Heard before, right before a kill: a person may have said otherwise since.
  if (held?.event !== event.id) setPaused(loom, id, { paused, by: { event: event.id, at } });
  return { kind: "answered", reason: paused ? "paused" : "goes on", reply: heldReply(record, login, paused) };
}

/** What says more than an answer goes on as feedback; both get the reply. */
function unheard({ why, reply, isAnswer }: Pick<NotDecided, "why" | "reply" | "isAnswer">): HeardAnswer | undefined {
  if (reply === undefined) return undefined;
  return isAnswer ? { kind: "answered", reason: why, reply } : { kind: "pending", reply };
}

/** Words that ask for another design reach the designer. */
function consequence({ state, gateId }: GateRecord): HeardAnswer {
  return state === "revised" ? { kind: "pending" } : { kind: "answered", reason: `${state}: gate ${gateId}` };
}

function heldReply({ id }: PlanRecord, by: string, paused: boolean): string {
  return paused
    ? `Paused by ${by}: what runs goes on to its end, and nothing new begins. \`/unhold\` or \`prloom resume ${id}\` goes on.`
    : `${by} lets it go on.`;
}

/** Whether the author is told the words that count: once at each gate, or once more for the same comment after a kill. */
function isFirstHint(loom: Records & Gated, gates: readonly GateRecord[], event: BusEvent): boolean {
  const gate = gates.findLast(({ state }) => state === "open");
  const login = event.context?.author?.login.toLowerCase() ?? "";
  if (!gate) return true;
  const told = new Map(Object.entries(gate.hinted ?? {})).get(login);
  if (told !== undefined) return told === event.id;
  putGates(loom, gate.planId, [{ ...gate, hinted: { ...gate.hinted, [login]: event.id } }]);
  return true;
}

/** The login that the tracker posts with, if the author has it. */
function ownLoginOf({ context }: BusEvent): string | undefined {
  return typeof context?.ownLogin === "string" ? context.ownLogin : undefined;
}

/** When it was written, by the clock of the place where it was; what came in late may be old, and so may be what has no time that can be read. */
function writtenAt({ context }: BusEvent): number | undefined {
  const at = typeof context?.at === "string" ? Date.parse(context.at) : undefined;
  return Number.isNaN(at) ? 0 : at;
}

function isGated(loom: Configured, record: PlanRecord): boolean {
  const config = planConfig(loom, record);
  return config.ok && (config.config.gated || config.config.prGated);
}

function posted(gate: GateRecord, read: ReadGate | undefined): PostedGate {
  const { gateId, state, openedAt, postedAt = openedAt } = gate;
  const isOpen = state === "open";
  const posts = read?.gateId === gateId ? read.posts : undefined;
  // Where they could not be read now, our clock says nothing about one that was written by another.
  const there = posts?.kind === "intact" ? posts.at : undefined;
  const at = isOpen && posts ? there : Date.parse(postedAt);
  return { gateId, state, isReplaced: isUnanswered(gate), postedAt: at, isPosting: isOpen && !isShown(gate) };
}
