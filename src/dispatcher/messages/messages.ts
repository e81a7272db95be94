import type { BusEvent } from "../../bus/types.ts";
import { isoTime } from "../../kernel/clock.ts";
import { messageOf, PrloomError } from "../../kernel/errors.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Buses } from "../buses/buses.ts";
import type { Reporting, Timing, Waking } from "../capabilities.ts";
import type { Gated } from "../gates/gate-store.ts";
import { waitingGate } from "../gates/plan-gate.ts";
import { hasBus, homeOf, type Located } from "../paths.ts";
import type { Records } from "../records.ts";
import type { AtWork } from "../runs/occupancy.ts";
import { awaitedRun, readRunRecord, stageOf } from "../runs/run-record.ts";
import type { Configured } from "../settings/pinned.ts";
import { type WaitingView, whyItWaits } from "./judge-message.ts";
import { type KeptMessage, readMessageFile, writeMessageFile } from "./message-file.ts";
import { reviewer } from "./review-message.ts";

/**
 * Messages to a plan's agent (`prloom send`). The event on the plan's bus is what was said, by whom and when; plugins see
 * it first. Then it is kept in the plan's home until it is in a conversation for good: `given` names the run that it was
 * handed to, and the files of that run tell later, whatever was killed in between, whether it has to be given again.
 */
export const AGENT_MESSAGE = "agent_message";

/** What happened to a message, for the person who sent it. */
export type MessageFate =
  | { readonly kind: "reached"; readonly run: number; readonly agent: string }
  /** Written to the program, which has not said yet that it took it. */
  | { readonly kind: "handed"; readonly run: number; readonly agent: string }
  | { readonly kind: "waits"; readonly why: string; readonly hint?: string }
  | { readonly kind: "handled"; readonly by: string };

type FateListener = (fate: MessageFate) => void;

/** Who waits to hear of a message, in the process that owns the repository. */
const listeners = new WeakMap<object, Map<string, FateListener>>();

function tell(loom: object, id: string, fate: MessageFate): void {
  listeners.get(loom)?.get(id)?.(fate);
}

/** Calls `onFate` with what becomes of a message, as it becomes known, until what is returned is called. */
export function listenTo(loom: object, id: string, onFate: FateListener): () => void {
  const known = listeners.get(loom) ?? new Map<string, FateListener>();
  listeners.set(loom, known.set(id, onFate));
  return () => known.delete(id);
}

function change(loom: Located, planId: string, edit: (message: KeptMessage) => KeptMessage): void {
  const before = readMessageFile(loom.paths, planId);
  const after = before.map(edit);
  if (after.some((message, index) => message !== before[index])) writeMessageFile(loom.paths, planId, after);
}

/** Keeps the message of an event; one that is there already stays as it is, since a kill makes the same event come twice. */
export function keepMessage(loom: Located & Timing, planId: string, event: BusEvent, author: string): void {
  const messages = readMessageFile(loom.paths, planId);
  if (messages.some(({ id }) => id === event.id)) return;
  const at = isoTime(loom.clock.now());
  writeMessageFile(loom.paths, planId, [...messages, { id: event.id, author, at, text: event.body }]);
}

/** An event with a message is settled: by a plugin, or kept, and then it is handed to the agent at once if that listens. */
export function messageSettled(
  loom: Located & Records & Gated & AtWork & Reporting & Waking,
  record: PlanRecord,
  event: { id: string; by: string | undefined },
): void {
  if (event.by === undefined) offerMessages(loom, record.id);
  else tell(loom, event.id, { kind: "handled", by: event.by });
}

/** The message of an event cannot be kept now; it comes again. */
export function messageNotKept(loom: Reporting, record: PlanRecord, event: { id: string; error: unknown }): void {
  const why = `it cannot be kept (${messageOf(event.error).replace(/\.$/, "")})`;
  const hint = event.error instanceof PrloomError ? { hint: event.error.hint } : {};
  loom.report({ planId: record.id, level: "bad", text: `a message to its agent waits: ${why}` });
  tell(loom, event.id, { kind: "waits", why, ...hint });
}

/** Hands what waits to the agent that is at work, if it takes messages now. To be called when one has been started, too. */
export function offerMessages(loom: Located & Records & Gated & AtWork & Reporting & Waking, planId: string): void {
  safely(loom, planId, () => {
    const record = loom.store.byId(planId);
    if (!record) return;
    for (const message of readMessageFile(loom.paths, planId)) if (!message.given) offer(loom, record, message);
  });
}

function offer(loom: Located & Gated & AtWork & Waking, record: PlanRecord, { id, text }: KeptMessage): void {
  const live = loom.occupancy.agentIn(record.id);
  const run = awaitedRun(record);
  if (!live || run === undefined || !listens(record) || live.send?.({ id, text }) !== true) {
    tell(loom, id, { kind: "waits", ...whyItWaits(viewOf(loom, record)) });
    return;
  }
  // After it was written: a kill in between also ends the run, and what that had not said to have received is given again.
  change(loom, record.id, (message) =>
    message.id === id ? { ...message, given: { run, how: "live", heard: false } } : message,
  );
  tell(loom, id, { kind: "handed", run, agent: agentOf(loom, record.id, run) });
}

/** Designer and worker are who people talk to; triage and the reviewer have their own conversations. */
function listens(record: PlanRecord): boolean {
  return ["designer", "worker"].includes(stageOf(record));
}

function agentOf(loom: Located, planId: string, run: number): string {
  return readRunRecord(homeOf(loom.paths, planId).run(run))?.agent ?? "its agent";
}

/** What a message to this plan would wait for now, if it had to. */
export function viewOf(loom: Located & Gated & AtWork & Waking, record: PlanRecord): WaitingView {
  const run = awaitedRun(record);
  const isLive = loom.occupancy.agentIn(record.id) !== undefined && run !== undefined;
  return {
    id: record.id,
    status: record.status,
    blocked: record.blocked !== undefined,
    paused: record.paused,
    hidden: record.hidden,
    opened: record.opened !== undefined,
    gated: waitingGate(loom, record) !== undefined,
    live: isLive
      ? { agent: agentOf(loom, record.id, run), stage: stageOf(record), listens: listens(record) }
      : undefined,
    dispatcher: loom.isDispatching,
  };
}

/** The program says that a message which was sent to it while it works is a part of its conversation now. */
export function messageReceived(loom: Located & Reporting, planId: string, messageId: string, run: number): void {
  safely(loom, planId, () => {
    let isNews = false;
    change(loom, planId, (message) => {
      if (message.id !== messageId || message.delivered || message.given?.heard) return message;
      isNews = true;
      return { ...message, given: { run, how: "live", heard: true } };
    });
    if (!isNews) return;
    const agent = agentOf(loom, planId, run);
    tell(loom, messageId, { kind: "reached", run, agent });
    loom.report({ planId, level: "good", text: `a message reached ${agent} in run ${run}` });
  });
}

/** For what follows an agent or a bus: a file of ours that cannot be read or written must not end either. */
function safely(loom: Reporting, planId: string, act: () => void): void {
  try {
    act();
  } catch (error) {
    loom.report({ planId, level: "bad", text: `messages to its agent: ${messageOf(error)}` });
  }
}

interface TakenMessages {
  /** For the prompt; "" when there are none. */
  readonly text: string;
  readonly ids: string[];
}

/**
 * The messages that the prompt of a run is to carry. First it is settled whether earlier runs got those that they were
 * given; `sessionId` is the conversation that this run goes on with, if it does.
 */
export function takeMessages(
  loom: Located & Configured & Records & AtWork,
  record: PlanRecord,
  run: number,
  sessionId?: string,
): TakenMessages {
  if (!listens(record)) return { text: "", ids: [] };
  change(loom, record.id, reviewer(loom, record.id, { next: { run, sessionId } }));
  const waiting = readMessageFile(loom.paths, record.id).filter(({ given }) => given === undefined);
  const ids = new Set(waiting.map(({ id }) => id));
  change(loom, record.id, (message) =>
    ids.has(message.id) ? { ...message, given: { run, how: "next-turn", heard: false } } : message,
  );
  return { text: renderMessages(waiting), ids: [...ids] };
}

/** A run is over: what it did not get waits again, and what it got is delivered. One that was cut off is judged later. */
export function settleMessages(loom: Located & Configured & Records & AtWork & Reporting, planId: string): void {
  const review = reviewer(loom, planId, {});
  safely(loom, planId, () =>
    change(loom, planId, (message) => {
      const next = review(message);
      if (next.given === undefined && message.given !== undefined) {
        const text = `a message was not taken in run ${message.given.run}; it waits for the next turn`;
        loom.report({ planId, level: "warn", text });
      }
      return next;
    }),
  );
}

/** Pure: messages as a prompt shows them, quoted, so that no author's words look like ours. */
export function renderMessages(messages: readonly Pick<KeptMessage, "author" | "at" | "text">[]): string {
  if (messages.length === 0) return "";
  const quoted = messages.map(({ author, at, text }) => {
    const lines = text.split(/\r?\n/).map((line) => `> ${line}`.trimEnd());
    return `${author}, at ${at}:\n\n${lines.join("\n")}`;
  });
  const [they, count] = messages.length === 1 ? ["it", "A person has"] : ["them", "People have"];
  const intro = `${count} sent you this since you last worked. Take ${they} into account for what you do now.`;
  return `## Messages to you\n\n${intro}\n\n${quoted.join("\n\n")}\n`;
}

/** Where a message is, for `prloom show`. */
export interface MessageState {
  readonly id: string;
  readonly author: string;
  /** When it was kept; absent as long as no dispatcher has looked at it. */
  readonly at?: string;
  readonly text: string;
  /** `given`: handed to the run, which has not shown yet that it got it. */
  readonly state: "waits" | "given" | "reached";
  readonly run?: number;
}

/** The messages to a plan's agent and where they are, oldest first; only reads. */
export function readMessages(
  loom: Located & Configured & Records & AtWork,
  planId: string,
  dispatchedElsewhere = false,
): MessageState[] {
  const review = reviewer(loom, planId, { dispatchedElsewhere });
  return readMessageFile(loom.paths, planId).map((message) => {
    const { id, author, at, text } = message;
    const { given, delivered } = review(message);
    const words = { id, author, at, text };
    if (!given) return { ...words, state: "waits" };
    return { ...words, state: given.heard || delivered ? "reached" : "given", run: given.run };
  });
}

export type Undelivered = Pick<MessageState, "author" | "text">;

/** The messages that no agent was given: when the plan ends, no agent will read them. */
export function undeliveredMessages(
  loom: Located & Configured & Records & Buses & AtWork & Reporting,
  planId: string,
): Undelivered[] {
  const found: Undelivered[] = [];
  safely(loom, planId, () => {
    for (const { author, text, state } of readMessages(loom, planId))
      if (state === "waits") found.push({ author, text });
    if (!hasBus(loom, planId)) return;
    for (const { event } of loom.bus(planId).newEvents(MAX_FRESH)) {
      const author = event.context?.author?.login ?? event.source;
      if (event.type === AGENT_MESSAGE) found.push({ author, text: event.body });
    }
  });
  return found;
}

/** More than a person sends before a dispatcher looks. */
const MAX_FRESH = 1000;
