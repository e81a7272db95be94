import type { Wait } from "../bus-state.ts";
import type { WaitKind } from "../marks.ts";
import { DISPATCHER, parseHandler } from "../names.ts";
import type { Parts } from "../parts.ts";
import { type About, callKey, type Entry, REST } from "./entry.ts";

/** One wait, as it is shown to people. */
export interface DeferredWait {
  readonly record: string;
  readonly handler: string;
  readonly about: About;
  readonly reason: string;
  /** In the past when it is due. */
  readonly until: number;
  /** When it was first put off. */
  readonly since: number;
  /** Calls that threw, or ended the process. */
  readonly attempts: number;
  readonly kind?: WaitKind;
}

export type HandlerStatus = "ready" | "waiting" | "settled" | "dead";

/** One handler's wait for its next call with a record. */
export interface HandlerWait {
  readonly until: number;
  readonly attempts: number;
  readonly since: number;
  readonly reason: string;
  readonly kind?: WaitKind;
}

/** What waits, soonest first: each handler that waits for an event, and each action once. */
export function deferredList({ ledger }: Parts, limit: number): DeferredWait[] {
  const found: DeferredWait[] = [];
  for (const entry of ledger.waiting.event.all()) found.push(...waitsOf(entry));
  for (const entry of ledger.waiting.action.all()) {
    // An action goes on when the last of its waits is over.
    const [last] = waitsOf(entry).sort((a, b) => compare(b, a));
    if (last) found.push(last);
  }
  return found.sort(compare).slice(0, Math.max(0, limit));
}

function waitsOf({ id, about, waits }: Readonly<Entry>): DeferredWait[] {
  return [...waits]
    .filter(([handler]) => handler !== REST)
    .map(([handler, { reason, deferredUntil: until, since, attempts, kind }]) => {
      const wait = { record: id, handler, about, reason, until, since, attempts };
      return kind === undefined ? wait : { ...wait, kind };
    });
}

function compare(a: DeferredWait, b: DeferredWait): number {
  const [left, right] = [callKey(a.record, a.handler), callKey(b.record, b.handler)];
  return a.until - b.until || a.since - b.since || (left < right ? -1 : Number(left > right));
}

/** How many records were put off, of both kinds or of one, and for how long the oldest of them. */
export function deferredSummary({ ledger, clock }: Parts, about?: About): { count: number; oldestMs: number } {
  const kinds = about ? [ledger.waiting[about]] : [ledger.waiting.event, ledger.waiting.action];
  let count = 0;
  // Asked once: where nothing waits, the clock must not go on between the two.
  const now = clock.now();
  let oldest = now;
  for (const kind of kinds) {
    count += kind.size;
    for (const { waits } of kind.all()) for (const { since } of waits.values()) oldest = Math.min(oldest, since);
  }
  return { count, oldestMs: now - oldest };
}

/** Whether a handler has still to be called with a record. */
export function handlerStatus(bus: Parts, recordId: string, handler: string): HandlerStatus {
  const entry = bus.ledger.entry(recordId);
  if (entry?.finals.has(handler)) return "settled";
  if (entry?.dead.has(handler)) return "dead";
  const wait = entry?.waits.get(handler);
  return wait && wait.deferredUntil > bus.clock.now() ? "waiting" : "ready";
}

/** What became of an action, as far as it is remembered. `done`: it was delivered, or a plugin took it over. */
export type ActionFate = "open" | "done" | "dead";

export function actionFate({ ledger }: Parts, actionId: string): ActionFate {
  const entry = ledger.entry(actionId);
  if (!entry || entry.waits.size > 0) return "open";
  if (entry.dead.size > 0) return "dead";
  const isDone = [...entry.finals.keys()].some((name) => name === DISPATCHER || parseHandler(name)?.kind === "deliver");
  return isDone ? "done" : "open";
}

/** What a handler waits for, if it waits. */
export function waitOf(bus: Parts, recordId: string, handler: string): HandlerWait | undefined {
  const wait: Wait | undefined = bus.ledger.entry(recordId)?.waits.get(handler);
  if (!wait) return undefined;
  const { deferredUntil: until, attempts, since, reason, kind } = wait;
  return { until, attempts, since, reason, ...(kind === undefined ? {} : { kind }) };
}

/** When a handler was last called with a record, while it is not known what became of that. */
export function calledAt({ ledger }: Parts, recordId: string, handler: string): number | undefined {
  const entry = ledger.entry(recordId);
  return entry?.calls.has(handler) && entry.calledAt !== undefined ? Date.parse(entry.calledAt) : undefined;
}

/** Handlers that wait for a record, due or not. */
export function waitingHandlers(bus: Parts, recordId: string): string[] {
  return [...(bus.ledger.entry(recordId)?.waits.keys() ?? [])].filter((handler) => handler !== REST);
}

/** When the next wait is over, a time in the past when one is over already; undefined when nothing waits. */
export function nextRetryAt({ ledger }: Parts, about?: About): number | undefined {
  if (about) return ledger.waiting[about].next();
  const times = [ledger.waiting.event.next(), ledger.waiting.action.next()].filter((time) => time !== undefined);
  return times.length === 0 ? undefined : Math.min(...times);
}
