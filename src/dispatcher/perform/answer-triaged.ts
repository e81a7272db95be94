import type { TriageResult } from "../../agents/results/triage-result.ts";
import type { BusEvent } from "../../bus/types.ts";
import { fenced, revealed } from "../../gate/shown.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Buses } from "../buses/buses.ts";
import type { Gated } from "../gates/gate-store.ts";
import { gateOf } from "../gates/plan-gate.ts";
import type { Records } from "../records.ts";
import type { Configured } from "../settings/pinned.ts";
import { answerEvents, isByApprovers } from "./answer-events.ts";

/** A longer reply comes last. */
const MAX_REPLY = 10_000;

/** Tells the authors of what triage read what came of it. */
export function answerTriaged(loom: Configured & Buses & Records & Gated, record: PlanRecord, triage: Triaged): void {
  const { result, events } = triage;
  const message = (there: readonly BusEvent[]): string => answerAt(triage, there);
  // Those who approved the plan are to see what their approval was extended by.
  const isAmended = result.todos.length > 0 && isByApprovers(loom, events);
  answerEvents(loom, record, events, { message, also: isAmended ? gateOf(loom, record)?.thread : undefined });
}

interface Triaged {
  readonly result: TriageResult;
  readonly events: readonly BusEvent[];
  readonly rebased: string;
}

/** Pure: what is said to the events of one place; to none of them: everything. */
export function answerAt({ result, events, rebased }: Triaged, there: readonly BusEvent[]): string {
  // A remark on a line is answered there, and what is said to all stands in the conversation of the whole.
  const main = events.find(({ context }) => context?.path === undefined) ?? events[0];
  const isWhole = there.length === 0 || there.some(({ replyTo }) => isSamePlace(replyTo, main?.replyTo));
  return wordsFor(isWhole ? result : partFor(result, there), isWhole ? rebased : "", there);
}

const isSamePlace = (one: BusEvent["replyTo"], other: BusEvent["replyTo"]): boolean =>
  one?.target === other?.target && one?.token === other?.token;

/** What concerns these events and no others. */
function partFor(result: TriageResult, there: readonly BusEvent[]): TriageResult {
  const ids = new Set(there.map(({ id }) => id));
  const todos = result.todos.filter(({ events }) => events.some((id) => ids.has(id)));
  return { ...result, reply_markdown: "", todos };
}

function wordsFor(result: TriageResult, rebased: string, there: readonly BusEvent[]): string {
  const own = result.replies.filter(({ event }) => there.some(({ id }) => id === event));
  const reply = [result.reply_markdown, ...own.map(({ markdown }) => markdown)]
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .join("\n\n");
  const added =
    result.todos.length > 0 && `Added to the plan:\n\n${fenced(revealed(sourceOf(result.todos)), "markdown")}`;
  // Where a place takes only so much, a long reply must not hide what was added.
  const parts = [...(reply.length > MAX_REPLY ? [added, reply] : [reply, added]), rebased];
  return parts.filter((part) => part).join("\n\n") || "Read; nothing to do.";
}

/** All that a worker is told of them: the words and what stands below. */
function sourceOf(todos: TriageResult["todos"]): string {
  return todos
    .map(({ text, context = "" }) => `- ${[text, context].join("\n").trim().replace(/\n/g, "\n  ")}`)
    .join("\n");
}
