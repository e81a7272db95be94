import { LOCAL_TARGET } from "../../bridges/local/thread.ts";
import { actionId, DISPATCHER } from "../../bus/names.ts";
import type { BusEvent } from "../../bus/types.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { messageOf } from "../../kernel/errors.ts";
import { addTodoContext } from "../../plan/edit-plan.ts";
import { todoTitle } from "../../plan/markdown/markdown.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Buses } from "../buses/buses.ts";
import type { Reporting, Timing, Waking } from "../capabilities.ts";
import type { Gated } from "../gates/gate-store.ts";
import { type HeardAnswer, type HeardComment, hearAnswer } from "../gates/hear-answer.ts";
import { writeAmended } from "../gates/plan-gate.ts";
import { AGENT_MESSAGE, keepMessage, messageNotKept, messageSettled } from "../messages/messages.ts";
import { type Located, textPath } from "../paths.ts";
import { planText, type Records } from "../records.ts";
import type { AtWork } from "../runs/occupancy.ts";
import type { Configured } from "../settings/pinned.ts";
import { authorOf, isByApprover } from "./answer-events.ts";
import { type IgnoredWhy, listIgnored, whyIgnored } from "./ignored-comments.ts";
import { isAboutChecks, takeCheck } from "./take-check.ts";

export interface OfferedEvent extends HeardComment {
  /** The plugin that handled it. */
  readonly by?: string;
}

/** What prloom does with an event that its plugins are done with: triage, a TODO's context, its agent, or nothing. */
export function takeEvent(
  loom: Located & Configured & Records & Gated & Buses & AtWork & Reporting & Waking,
  record: PlanRecord,
  { by, ...comment }: OfferedEvent,
): void {
  const { event } = comment;
  const bus = loom.bus(record.id);
  if (!bus.attempt(event.id, "dispatcher").allowed) return;
  const settled = by === undefined ? hear(loom, record, comment) : { kind: "plugin" as const };
  if (settled.kind === "later") {
    putOff(loom, record, event, settled);
    return;
  }
  // Not where words that cannot be taken go to triage: these must not get there, whatever fails.
  if (settled.kind === "ignored") listIgnored(loom, record.id, event, settled.refusal);
  crashPoint("events:taken");
  const actions = answersTo(record, event, settled);
  bus.settle(
    {
      record: event.id,
      handler: DISPATCHER,
      outcome: settled.kind === "pending" ? "passed" : "handled",
      ...reasonFor(settled, by),
      ...(actions.length === 0 ? {} : { actions }),
      marks: { moveCursor: true, closed: true, ...(settled.kind === "pending" ? { pendingTriage: true } : {}) },
    },
    { sync: false },
  );
  // Only now: what plugins said about it is on record, and a kill from here on finds the message kept.
  if (event.type === AGENT_MESSAGE) messageSettled(loom, record, { id: event.id, by });
}

/** An answer first. As long as it cannot be told whether it is one, it is kept from all else. */
function hear(
  loom: Located & Configured & Records & Gated & Buses & AtWork & Reporting,
  record: PlanRecord,
  comment: HeardComment,
): Taken {
  let heard: HeardAnswer | undefined;
  try {
    heard = hearAnswer(loom, record, comment);
  } catch (error) {
    return { kind: "later", error };
  }
  return heard ?? takeOrTriage(loom, record, comment.event);
}

/** Words that cannot be put into the plan's text (an open code fence, say) are triaged like any others. */
function takeOrTriage(
  loom: Located & Configured & Records & Gated & AtWork & Reporting,
  record: PlanRecord,
  event: BusEvent,
): Taken {
  try {
    return judgeEvent(loom, record, event);
  } catch (error) {
    // A log is not to be read as a wish.
    if (event.type === AGENT_MESSAGE || isAboutChecks(event)) return { kind: "later", error };
    loom.report({ planId: record.id, level: "warn", text: `the comment goes to triage: ${messageOf(error)}` });
    return { kind: "pending" };
  }
}

/** Often enough for a person who fixes the file, and longer than `--until-idle` waits. */
const PUT_OFF_MS = 30_000;

/** Neither a message to the agent that cannot be kept nor a possible answer is a comment like any other: it stays on the bus. */
function putOff(loom: Timing & Buses & Reporting, record: PlanRecord, event: BusEvent, later: Later): void {
  const { error } = later;
  const reason = messageOf(error);
  const isFirst = loom.bus(record.id).waitOf(event.id, DISPATCHER) === undefined;
  const now = loom.clock.now();
  const { until: known = 0 } = later;
  const until = known > now ? known : now + PUT_OFF_MS;
  const marks = { moveCursor: true, about: "event" } as const;
  loom.bus(record.id).settle({ record: event.id, handler: DISPATCHER, outcome: "deferred", reason, until, marks });
  if (event.type === AGENT_MESSAGE) messageNotKept(loom, record, { id: event.id, error });
  else if (isFirst) loom.report({ planId: record.id, level: "warn", text: `a comment is put off: ${reason}` });
}

type Later = Extract<HeardAnswer, { kind: "later" }>;

type Taken =
  | { kind: "pending"; reply?: string }
  | { kind: "answered"; reason: string; reply?: string }
  | Later
  | { kind: "message" }
  | { kind: "ignored"; refusal: IgnoredWhy }
  | { kind: "context"; todo: string };

function judgeEvent(
  loom: Located & Configured & Records & Gated & AtWork & Reporting,
  record: PlanRecord,
  event: BusEvent,
): Taken {
  const author = event.context?.author;
  const refusal = whyIgnored(event);
  if (refusal) return { kind: "ignored", refusal };
  // Plugins have seen it, and it asks for nothing.
  if (event.context?.information === true) return { kind: "answered", reason: "it asks for nothing" };
  if (isAboutChecks(event)) return { kind: "answered", reason: takeCheck(loom, record, event) };
  if (author && event.type === AGENT_MESSAGE) {
    keepMessage(loom, record.id, event, author.login);
    return { kind: "message" };
  }
  const todoId = event.context?.todo;
  const text = planText(loom, record);
  const todo = text?.doc.todos.find((candidate) => candidate.id === todoId);
  // Said to one TODO that is still to be done, it belongs to that TODO. Else it is feedback like any other.
  const isBeingDone = loom.occupancy.agentIn(record.id) !== undefined && record.current?.todoId === todoId;
  if (!text || !todo || todo.state === "done" || isBeingDone) return { kind: "pending" };
  const lines = [
    `Comment by ${author?.login ?? event.source}:`,
    ...event.body.split(/\r?\n/).map((line) => `> ${line}`),
  ];
  const next = addTodoContext(text.text, todo.id, lines, event.id);
  if (next !== text.text) {
    if (isByApprover(loom, event)) writeAmended(loom, record, { text: next, by: [authorOf(event)] });
    else loom.texts.write(textPath(loom, record), next);
  }
  return { kind: "context", todo: todoTitle(todo) };
}

type SettledEvent = Exclude<Taken, { kind: "later" }> | { kind: "plugin" };

function reasonFor(settled: SettledEvent, by: string | undefined): { reason?: string } {
  if (settled.kind === "plugin") return { reason: `handled by ${by}` };
  if (settled.kind === "ignored") return { reason: settled.refusal.reason };
  return settled.kind === "answered" ? { reason: settled.reason } : {};
}

/** What the author is told at once. */
function answersTo(record: PlanRecord, event: BusEvent, settled: SettledEvent) {
  if (settled.kind === "context" && event.replyTo)
    return [reply(record, event, `Added to the context of "${settled.todo}".`)];
  return "reply" in settled && settled.reply !== undefined ? [reply(record, event, settled.reply)] : [];
}

function reply(record: PlanRecord, event: BusEvent, message: string) {
  return {
    id: actionId({ scope: { planId: record.id }, recordId: event.id, handler: DISPATCHER, ordinal: 0 }),
    type: "respond" as const,
    target: event.replyTo ?? { target: LOCAL_TARGET, token: record.id },
    payload: { type: "comment" as const, message },
    relatedEventId: event.id,
  };
}
