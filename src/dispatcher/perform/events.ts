import { deliverLocal, LOCAL_TARGET } from "../../bridges/local/thread.ts";
import type { Bus } from "../../bus/bus.ts";
import { actionId } from "../../bus/settlement.ts";
import type { BusEvent } from "../../bus/types.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { messageOf } from "../../kernel/errors.ts";
import { addTodoContext } from "../../plan/edit.ts";
import { todoTitle } from "../../plan/markdown.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Loom } from "../loom.ts";
import { planText, textPath } from "../observe.ts";

const BATCH = 100;
/** There is one handler per record here, so every settlement lets the cursor go on. */
const marks = { moveCursor: true };

/** New events: each is settled as waiting for triage, as taken into a TODO's context, or as ignored. */
export function takeEvents(loom: Loom, record: PlanRecord): void {
  const bus = loom.bus(record.id);
  for (const { event } of bus.newEvents(BATCH)) {
    if (!bus.attempt(event.id, "dispatcher").allowed) {
      passOver(bus, event.id);
      continue;
    }
    const settled = takeOrTriage(loom, record, event);
    crashPoint("events:taken");
    bus.settle({
      record: event.id,
      handler: "dispatcher",
      outcome: settled.kind === "pending" ? "passed" : "handled",
      ...(settled.kind === "ignored" ? { reason: settled.reason } : {}),
      ...(settled.kind === "context" && event.replyTo ? { actions: [contextReply(record, event, settled.todo)] } : {}),
      marks: { moveCursor: true, ...(settled.kind === "pending" ? { pendingTriage: true } : {}) },
    });
  }
}

/** A record that is settled or a dead letter is offered again after a restart; the cursor must get past it. */
function passOver(bus: Bus, id: string): void {
  bus.settle({ record: id, handler: "pass-over", outcome: "passed", marks });
}

/** Words that cannot be put into the plan's text (an open code fence, say) are triaged like any others. */
function takeOrTriage(loom: Loom, record: PlanRecord, event: BusEvent): Taken {
  try {
    return takeEvent(loom, record, event);
  } catch (error) {
    loom.report({ planId: record.id, level: "warn", text: `the comment goes to triage: ${messageOf(error)}` });
    return { kind: "pending" };
  }
}

type Taken = { kind: "pending" } | { kind: "ignored"; reason: string } | { kind: "context"; todo: string };

function takeEvent(loom: Loom, record: PlanRecord, event: BusEvent): Taken {
  const author = event.context?.author;
  if (author?.self) return { kind: "ignored", reason: "our own" };
  if (author && !["write", "maintain", "admin"].includes(author.permission)) {
    return { kind: "ignored", reason: `${author.login} may not write to the repository` };
  }
  const todoId = event.context?.todo;
  const text = planText(loom, record);
  const todo = text?.doc.todos.find((candidate) => candidate.id === todoId);
  // B24: said to one TODO that is still to be done, it belongs to that TODO. Else it is feedback like any other.
  const isBeingDone = loom.live.has(record.id) && record.current?.todoId === todoId;
  if (!text || !todo || todo.state === "done" || isBeingDone) return { kind: "pending" };
  const lines = [
    `Comment by ${author?.login ?? event.source}:`,
    ...event.body.split(/\r?\n/).map((line) => `> ${line}`),
  ];
  const next = addTodoContext(text.text, todo.id, lines, event.id);
  if (next !== text.text) loom.texts.write(textPath(loom, record), next);
  return { kind: "context", todo: todoTitle(todo) };
}

function contextReply(record: PlanRecord, event: BusEvent, todo: string) {
  return {
    id: actionId({ scope: { plan: record.id }, recordId: event.id, handler: "dispatcher", ordinal: 0 }),
    type: "respond" as const,
    target: event.replyTo ?? { target: LOCAL_TARGET, token: record.id },
    payload: { type: "comment" as const, message: `Added to the context of "${todo}".` },
    relatedEventId: event.id,
  };
}

/** Sends what is due. An action that nobody can deliver is a dead letter with that reason, not silence. */
export function deliver(loom: Loom, record: PlanRecord): void {
  const bus = loom.bus(record.id);
  for (const { action } of bus.dueActions(BATCH)) {
    const handler = `deliver:${action.target.target}`;
    if (!bus.attempt(action.id, handler).allowed) {
      passOver(bus, action.id);
      continue;
    }
    crashPoint("deliver:counted");
    try {
      const refused =
        action.target.target === LOCAL_TARGET ? deliverLocal(loom.log, action) : "no bridge has this target";
      crashPoint("deliver:sent");
      if (refused === undefined) bus.settle({ record: action.id, handler, outcome: "handled", marks });
      else
        bus.settle({ record: action.id, handler, outcome: "threw", reason: refused, marks: { ...marks, dead: true } });
    } catch (error) {
      bus.settle({ record: action.id, handler, outcome: "threw", reason: messageOf(error), marks });
    }
  }
}
