import * as z from "zod";
import type { AuthorPermission } from "../../bus/author.ts";
import type { Cursor, Log, LogAddress } from "../../bus/ports.ts";
import { START } from "../../bus/ports.ts";
import { type Action, type BusEvent, busEventSchema } from "../../bus/types.ts";
import type { TrackerPost } from "../tracker/port.ts";
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
  /** The line whose place it takes. */
  edits: z.string().optional(),
  refused: z.literal(true).optional(),
});
/** Every line of the thread says which action it comes from; `refused`: it tells that the action was not done. */
const traceSchema = z.object({ actionId: z.string(), refused: z.literal(true).optional() });

const PAGE = 1000;

/** A person's comment as an event; a person who can run prloom here can write to the repository, if the config does not say otherwise. */
export function localComment(options: {
  id: string;
  planId: string;
  author: string;
  permission?: AuthorPermission;
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
      author: { login: options.author, permission: options.permission ?? "write" },
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
  const rendered = renderForThread(payload, "the local thread");
  if ("refused" in rendered) return rendered.refused;
  const key = rendered.key === undefined ? {} : { key: rendered.key, ...(emitter === undefined ? {} : { emitter }) };
  localPost(log, target.token, { actionId: id, body: rendered.text, ...key });
  return undefined;
}

type LocalLine = Omit<z.infer<typeof replySchema>, "author" | "refused">;

/** One line of ours, once per action. */
export function localPost(log: Log, planId: string, line: LocalLine): void {
  log.append(threadOf(planId), [{ kind: "comment", id: line.actionId, data: { author: "prloom", ...line } }]);
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
  return [...saidIn(log, planId, START).posts, ...postsIn(log, planId)]
    .map(({ author, body, at }) => ({ author: author.login, body, at }))
    .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

/** What people said since. */
export function saidIn(log: Log, planId: string, after: Cursor): { posts: TrackerPost[]; next: Cursor } {
  const { items, next } = log.read({ scope: { planId }, log: "events" }, after, Number.MAX_SAFE_INTEGER);
  const posts = items.flatMap(({ record }) => {
    const event = busEventSchema.safeParse(record.data);
    if (!event.success || event.data.source !== "local") return [];
    const { id, body, context } = event.data;
    return [{ ref: id, author: { login: context?.author?.login ?? "you" }, body, at: record.ts, edited: false }];
  });
  return { posts, next };
}

/** What was delivered. A line with the key and the emitter of an earlier one takes its place. */
export function postsIn(log: Log, planId: string): TrackerPost[] {
  const posts = new Map<string, TrackerPost>();
  for (const { record, cursor } of log.read(threadOf(planId), START, Number.MAX_SAFE_INTEGER).items) {
    const reply = replySchema.safeParse(record.data);
    if (!reply.success) continue;
    const { author, body, key, emitter = "", edits, actionId, refused } = reply.data;
    const place = key === undefined ? `line ${edits ?? record.id ?? cursor}` : `key ${JSON.stringify([emitter, key])}`;
    const before = posts.get(place);
    const first = { ref: edits ?? actionId, at: record.ts, edited: false };
    const own = refused ? {} : { own: actionId };
    posts.set(place, { ...(before ? { ...before, edited: true } : first), author: { login: author }, body, ...own });
  }
  return [...posts.values()];
}
