import type { TriageResult } from "../../agents/results/triage-result.ts";
import type { BusEvent } from "../../bus/types.ts";
import { fenced, revealed } from "../../gate/shown.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Buses } from "../buses/buses.ts";
import type { Gated } from "../gates/gate-store.ts";
import { gateOf } from "../gates/plan-gate.ts";
import type { Records } from "../records.ts";
import type { Configured } from "../settings/pinned.ts";
import { answerEvents, isByApprovers } from "./answer.ts";

/** A longer reply comes last. */
const MAX_REPLY = 10_000;

/** Tells the authors of what triage read what came of it. */
export function answerTriaged(
  loom: Configured & Buses & Records & Gated,
  record: PlanRecord,
  triage: { result: TriageResult; events: readonly BusEvent[]; rebased: string },
): void {
  const { result, events, rebased } = triage;
  const reply = result.reply_markdown.trim();
  const added =
    result.todos.length > 0 && `Added to the plan:\n\n${fenced(revealed(sourceOf(result.todos)), "markdown")}`;
  // Where a place takes only so much, a long reply must not hide what was added.
  const parts = [...(reply.length > MAX_REPLY ? [added, reply] : [reply, added]), rebased];
  const message = parts.filter((part) => part).join("\n\n") || "Read; nothing to do.";
  // Those who approved the plan are to see what their approval was extended by.
  const isAmended = result.todos.length > 0 && isByApprovers(loom, events);
  answerEvents(loom, record, events, { message, also: isAmended ? gateOf(loom, record)?.thread : undefined });
}

/** All that a worker is told of them: the words and what stands below. */
function sourceOf(todos: TriageResult["todos"]): string {
  return todos
    .map(({ text, context = "" }) => `- ${[text, context].join("\n").trim().replace(/\n/g, "\n  ")}`)
    .join("\n");
}
