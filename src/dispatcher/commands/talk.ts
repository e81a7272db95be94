import { LOCAL_TARGET, localComment } from "../../bridges/local/thread.ts";
import { permissionOf } from "../../bridges/local/tracker.ts";
import { hasWritePermission } from "../../bus/author.ts";
import type { BusEvent } from "../../bus/types.ts";
import { planProblems } from "../../governance/policy/todo-hints.ts";
import { pluginOf } from "../../hooks/calls/call.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { sha256 } from "../../kernel/ids.ts";
import { parsePlan } from "../../plan/markdown/markdown.ts";
import type { Buses } from "../buses/buses.ts";
import type { Naming, Reporting, Stopping, Waking } from "../capabilities.ts";
import type { Gated } from "../gates/gate-store.ts";
import { endForNewTerms, hasOtherTerms } from "../governing/new-terms.ts";
import { whyItWaits } from "../messages/judge-message.ts";
import { AGENT_MESSAGE, listenTo, type MessageFate, viewOf } from "../messages/messages.ts";
import { type Located, textPath } from "../paths.ts";
import { planText, type Records, requireRecord } from "../records.ts";
import type { AtWork } from "../runs/occupancy.ts";
import type { Configured } from "../settings/pinned.ts";

/** A person's words, to the whole plan or to one TODO (counted from 1, as people do). */
export function commentOn(
  loom: Located & Naming & Configured & Records & Buses,
  id: string,
  comment: { body: string; author: string; todo?: number },
): { eventId: string; isBlocked: boolean } {
  const record = requireRecord(loom, id);
  if (record.status === "done") {
    throw new PrloomError(
      "plan-state",
      `${id} is done, so the comment would not be read.`,
      "`prloom new` makes a new plan.",
    );
  }
  if (comment.body.trim() === "")
    throw new PrloomError("usage", "The comment is empty.", `Type: prloom comment ${id} "what you want to say"`);
  const todoId = comment.todo === undefined ? undefined : todoAt(loom, id, comment.todo);
  const eventId = `local-${loom.ids.ulid(loom.clock.now())}`;
  const { body, author } = comment;
  const permission = permissionOf(loom.config.authors, author);
  const todo = todoId === undefined ? {} : { todo: todoId };
  loom.bus(id).appendEvents([localComment({ id: eventId, planId: id, author, permission, body, ...todo })]);
  return { eventId, isBlocked: record.blocked !== undefined };
}

function todoAt(loom: Located & Records, id: string, number: number): string {
  const todos = planText(loom, requireRecord(loom, id))?.doc.todos ?? [];
  const todo = todos[number - 1];
  if (todo?.state === "done") {
    const hint = `Say it to the whole plan: prloom comment ${id} "what you want to say"`;
    throw new PrloomError("usage", `TODO ${number} of ${id} is done and is not worked on again.`, hint);
  }
  if (todo) return todo.id;
  if (todos.length === 0) {
    const hint = `Say it to the whole plan, and the designer reads it: prloom comment ${id} "what you want to say"`;
    throw new PrloomError("usage", `${id} has no TODOs yet.`, hint);
  }
  throw new PrloomError(
    "usage",
    `${id} has no TODO ${number}; it has ${todos.length}.`,
    `\`prloom show ${id}\` numbers them.`,
  );
}

/** A longer one is a file; an agent reads those by itself. */
const MAX_MESSAGE = 32 * 1024;

/** How long a person who sends a message waits to hear whether it arrived; most programs look between two of their steps. */
const FATE_WAIT_MS = 3000;

export interface SentMessage {
  readonly eventId: string;
  readonly fate: MessageFate;
}

/** A person's words to the plan's agent. On record before anything else; returns what happened to them as far as it is known. */
export async function sendTo(
  loom: Located & Naming & Configured & Records & Gated & Buses & AtWork & Stopping & Waking,
  id: string,
  message: { text: string; author: string },
): Promise<SentMessage> {
  const record = requireRecord(loom, id);
  const { text, author } = message;
  if (record.status === "done")
    throw new PrloomError("plan-state", `${id} is done; no agent works on it.`, "`prloom new` makes a new plan.");
  if (text.trim() === "")
    throw new PrloomError("usage", "The message is empty.", `Type: prloom send ${id} "what you want to say"`);
  const permission = permissionOf(loom.config.authors, author);
  if (!hasWritePermission({ permission }))
    throw new PrloomError(
      "usage",
      `${author} may not write to this repository (${permission}, as \`authors\` in prloom/config.json says), so nothing is sent.`,
      `\`prloom comment ${id}\` takes words of every author.`,
    );
  if (text.length > MAX_MESSAGE) {
    const most = `${MAX_MESSAGE / 1024} KB`;
    const hint = "Put it into a file of the repository, or into the plan (`prloom edit`), and say where it is.";
    throw new PrloomError("record-too-large", `The message is longer than ${most}.`, hint);
  }
  const eventId = `local-${loom.ids.ulid(loom.clock.now())}`;
  const fate = loom.isDispatching ? hearOf(loom, eventId) : undefined;
  loom.bus(id).appendEvents([messageEvent({ id: eventId, planId: id, author, text })]);
  loom.wakeBus(id);
  const told = await fate;
  return { eventId, fate: told ?? { kind: "waits", ...waitsFor(loom, id, eventId) } };
}

function messageEvent(message: { id: string; planId: string; author: string; text: string }): BusEvent {
  return {
    id: message.id,
    source: "local",
    type: AGENT_MESSAGE,
    severity: "info",
    title: `Message by ${message.author}`,
    body: message.text,
    replyTo: { target: LOCAL_TARGET, token: message.planId },
    context: { author: { login: message.author, permission: "write" } },
  };
}

/** The last that is known of a message when nothing more can be said, or the time is over; undefined: nothing. */
function hearOf(loom: Stopping, eventId: string): Promise<MessageFate | undefined> {
  return new Promise((resolve) => {
    let last: MessageFate | undefined;
    const end = (): void => {
      clearTimeout(timer);
      loom.stopSignal.removeEventListener("abort", end);
      forget();
      resolve(last);
    };
    const timer = setTimeout(end, FATE_WAIT_MS);
    loom.stopSignal.addEventListener("abort", end);
    const forget = listenTo(loom, eventId, (fate) => {
      last = fate;
      if (fate.kind !== "handed") end();
    });
  });
}

function waitsFor(
  loom: Located & Records & Gated & Buses & AtWork & Waking,
  id: string,
  eventId: string,
): { why: string; hint?: string } {
  const plugins = loom
    .bus(id)
    .waitingHandlers(eventId)
    .flatMap((handler) => pluginOf(handler, "onEvent") ?? []);
  if (plugins.length > 0) return { why: `${plugins.join(", ")} put it off` };
  return whyItWaits(viewOf(loom, requireRecord(loom, id)));
}

/** Replaces the text of a plan, if it is still the one that the editor was given. */
export async function editPlan(
  loom: Located & Configured & Records & AtWork & Reporting,
  id: string,
  edit: { text: string; basedOn?: string },
): Promise<{ problems: readonly string[] }> {
  const record = requireRecord(loom, id);
  if (record.status === "done") throw new PrloomError("plan-state", `${id} is done.`, "`prloom new` makes a new plan.");
  const before = planText(loom, record);
  const now = before?.text;
  if (edit.basedOn !== undefined && now !== undefined && sha256(now) !== edit.basedOn) {
    throw new PrloomError(
      "revision-conflict",
      `The text of ${id} changed while you were editing it (an agent's tick, or another edit).`,
      `Your version was kept; run \`prloom edit ${id}\` again and put your change into the new text.`,
    );
  }
  if (edit.text.trim() === "")
    throw new PrloomError(
      "plan-invalid",
      "The new text is empty.",
      `Nothing was changed. \`prloom delete ${id}\` removes a plan.`,
    );
  const doc = parsePlan(edit.text);
  if (doc.tooLarge !== undefined)
    throw new PrloomError(
      "plan-invalid",
      doc.tooLarge,
      "Nothing was changed. Split one that is too large into several plans.",
    );
  if (edit.text !== now) loom.texts.write(textPath(loom, record), edit.text);
  crashPoint("edit:written");
  if (before && hasOtherTerms(record.current?.todoId, before.doc, doc)) await endForNewTerms(loom, id, "its TODO");
  return { problems: planProblems(doc, loom.config.governance.roles) };
}
