import * as z from "zod";
import type { Log } from "../../bus/ports.ts";
import { START } from "../../bus/ports.ts";
import { type Action, type BusEvent, busEventSchema } from "../../bus/types.ts";

/** The address of the conversation that a person has with a plan from the command line. */
export const LOCAL_TARGET = "local";

export interface ThreadEntry {
  readonly author: string;
  readonly body: string;
  readonly at: string;
}

const replySchema = z.object({ author: z.string(), body: z.string(), actionId: z.string() });

/** A person's comment as an event; whoever can run prloom here can write to the repository. */
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

/** Puts an answer into the thread, once per action; returns why it cannot. */
export function deliverLocal(log: Log, action: Action): string | undefined {
  const { payload, target } = action;
  if (target.token === undefined) return "the address has no plan (token)";
  if (payload.type !== "comment") return `the local thread cannot carry "${payload.type}"`;
  const data = { author: "prloom", body: payload.message, actionId: action.id };
  log.append({ scope: { plan: target.token }, log: "thread" }, [{ kind: "comment", id: action.id, data }]);
  return undefined;
}

/** The conversation in order of time: what people said locally, and what was delivered to them. */
export function readThread(log: Log, planId: string): ThreadEntry[] {
  const scope = { plan: planId };
  const limit = Number.MAX_SAFE_INTEGER;
  const said = log.read({ scope, log: "events" }, START, limit).items.flatMap(({ record }) => {
    const event = busEventSchema.safeParse(record.data);
    if (!event.success || event.data.source !== "local") return [];
    return [{ author: event.data.context?.author?.login ?? "you", body: event.data.body, at: record.ts }];
  });
  const answered = log.read({ scope, log: "thread" }, START, limit).items.flatMap(({ record }) => {
    const reply = replySchema.safeParse(record.data);
    return reply.success ? [{ author: reply.data.author, body: reply.data.body, at: record.ts }] : [];
  });
  return [...said, ...answered].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}
