import * as z from "zod";
import type { Log, LogAddress } from "../../bus/ports.ts";
import { START } from "../../bus/ports.ts";
import { type Action, type BusEvent, busEventSchema } from "../../bus/types.ts";
import { renderForThread } from "./render.ts";

/** The address of the conversation that a person has with a plan from the command line. */
export const LOCAL_TARGET = "local";

export interface ThreadEntry {
  readonly author: string;
  readonly body: string;
  readonly at: string;
}

const replySchema = z.object({
  author: z.string(),
  body: z.string(),
  actionId: z.string(),
  key: z.string().optional(),
  emitter: z.string().optional(),
});
/** Every line of the thread says which action it comes from; `refused`: it tells that the action was not done. */
const traceSchema = z.object({ actionId: z.string(), refused: z.literal(true).optional() });

const PAGE = 1000;

/** A person's comment as an event; a person who can run prloom here can write to the repository. */
export function localComment(options: {
  id: string;
  planId: string;
  author: string;
  body: string;
  todo?: string;
}): BusEvent {
  return {
    id: options.id,
    source: "local",
    type: "comment",
    severity: "info",
    title: `Comment by ${options.author}`,
    body: options.body,
    replyTo: { target: LOCAL_TARGET, token: options.planId },
    context: {
      author: { login: options.author, permission: "write" },
      ...(options.todo === undefined ? {} : { todo: options.todo }),
    },
  };
}

function threadOf(planId: string): LogAddress {
  return { scope: { planId }, log: "thread" };
}

/** Puts an answer into the thread, once per action; returns why it cannot. */
export function deliverLocal(
  log: Log,
  action: Pick<Action, "id" | "payload" | "target" | "emitter">,
): string | undefined {
  const { id, payload, target, emitter } = action;
  if (target.token === undefined) return "the address has no plan (token)";
  if (payload.type === "merge" || payload.type === "close_pr") return `the local thread cannot carry "${payload.type}"`;
  const rendered = renderForThread(payload);
  if ("refused" in rendered) return rendered.refused;
  const key = rendered.key === undefined ? {} : { key: rendered.key, ...(emitter === undefined ? {} : { emitter }) };
  const data = { author: "prloom", body: rendered.text, actionId: id, ...key };
  log.append(threadOf(target.token), [{ kind: "comment", id, data }]);
  return undefined;
}

/** Notes that a deed was done for an action, without words: the person who asked sees it at the plan itself. */
export function noteDeed(log: Log, planId: string, actionId: string): void {
  log.append(threadOf(planId), [{ kind: "deed", id: actionId, data: { actionId } }]);
}

/** Tells in the thread, once per action, that a deed was refused. */
export function sayRefusal(log: Log, planId: string, refusal: { actionId: string; text: string }): void {
  const data = { author: "prloom", body: refusal.text, actionId: refusal.actionId, refused: true };
  // An id of its own: the action may still be done later (`prloom retry`), and then leaves its own line.
  log.append(threadOf(planId), [{ kind: "comment", id: `${refusal.actionId}:refused`, data }]);
}

/** Whether the action left its line in the thread. */
export function isInThread(log: Log, planId: string, actionId: string): boolean {
  for (let after = START; ; ) {
    const { items, next } = log.read(threadOf(planId), after, PAGE);
    const isTrace = items.some(({ record }) => {
      const trace = traceSchema.safeParse(record.data);
      return trace.success && trace.data.actionId === actionId && !trace.data.refused;
    });
    if (isTrace) return true;
    if (items.length === 0) return false;
    after = next;
  }
}

/** The conversation in order of time: what people said locally, and what was delivered to them. */
export function readThread(log: Log, planId: string): ThreadEntry[] {
  const limit = Number.MAX_SAFE_INTEGER;
  const said = log.read({ scope: { planId }, log: "events" }, START, limit).items.flatMap(({ record }) => {
    const event = busEventSchema.safeParse(record.data);
    if (!event.success || event.data.source !== "local") return [];
    return [{ author: event.data.context?.author?.login ?? "you", body: event.data.body, at: record.ts }];
  });
  return [...said, ...answers(log, planId)].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

/** What was delivered. A line with the key and the emitter of an earlier one takes its place. */
function answers(log: Log, planId: string): ThreadEntry[] {
  const entries = new Map<string, ThreadEntry>();
  for (const { record, cursor } of log.read(threadOf(planId), START, Number.MAX_SAFE_INTEGER).items) {
    const reply = replySchema.safeParse(record.data);
    if (!reply.success) continue;
    const { author, body, key, emitter = "" } = reply.data;
    const place = key === undefined ? `at ${cursor}` : `key ${JSON.stringify([emitter, key])}`;
    entries.set(place, { author, body, at: entries.get(place)?.at ?? record.ts });
  }
  return [...entries.values()];
}
