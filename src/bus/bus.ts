import * as z from "zod";
import type { JsonValue } from "../kernel/json.ts";
import type { BusState, DeadLetter } from "./bus-state.ts";
import { checkEvent } from "./check-event.ts";
import { EncodedData } from "./envelope.ts";
import { type About, isKnownAction } from "./ledger/entry.ts";
import {
  type Attempted,
  attempt,
  drop,
  revive,
  type Settled,
  type SettleOptions,
  settle,
  uncount,
} from "./ledger/settle.ts";
import {
  createDeferredActions,
  type DeferredAction,
  freshActions,
  newEvents,
  pendingTriage,
} from "./ledger/to-handle.ts";
import {
  type ActionFate,
  actionFate,
  calledAt,
  type DeferredWait,
  deferredList,
  deferredSummary,
  type HandlerStatus,
  type HandlerWait,
  handlerStatus,
  nextRetryAt,
  waitingHandlers,
  waitOf,
} from "./ledger/waits.ts";
import type { BusLimits } from "./limits.ts";
import { type BusOptions, openParts, type Parts } from "./parts.ts";
import type { Cursor, NewRecord } from "./ports.ts";
import { createEventReader, type EventPage, type EventQuery, findEvent } from "./reading/read-events.ts";
import { parseAction } from "./reading/record-finder.ts";
import type { Action, BusEvent, Settlement } from "./types.ts";

export type { JsonValue } from "../kernel/json.ts";
export type { Attempted, Settled, SettleOptions } from "./ledger/settle.ts";
export type { DeferredAction } from "./ledger/to-handle.ts";
export type { ActionFate, DeferredWait, HandlerStatus, HandlerWait } from "./ledger/waits.ts";
export type { BusLimits } from "./limits.ts";
export type { BusOptions } from "./parts.ts";
export type { EventPage, EventQuery } from "./reading/read-events.ts";

export interface AppendedEvents {
  /** Ids that came in. */
  readonly appended: string[];
  /** Ids that were there already. */
  readonly duplicates: string[];
  /** What is not an event, and why; the others are appended all the same. */
  readonly refused: { readonly index: number; readonly message: string }[];
}

/** The working object over one scope's journals. Everything it says it reads from them; memory only saves time. */
export interface Bus {
  appendEvents(events: readonly BusEvent[]): AppendedEvents;
  /** Events to offer to handlers: put-off ones that are due, then those beyond the cursor. */
  newEvents(limit: number): { event: BusEvent; cursor: Cursor }[];
  /** Events that wait for the triage agent, oldest first. */
  pendingTriage(): BusEvent[];
  /** Counts a call before it is made. Never synced: a machine that lost its power made no call that it remembers. */
  attempt(recordId: string, handler: string): Attempted;
  /** Takes the last counted call back: it was broken off, and a record that is in no journal cannot be put off. */
  uncount(recordId: string, handler: string): void;
  /** The limits that it was opened with. */
  limits(): BusLimits;
  /**
   * Records what a handler did. `marks.moveCursor: true` says that every handler has been offered the record; the
   * cursor then goes as far as it may without passing one that is not done. Actions need it only with `passed`. An
   * event that comes back from its wait is offered until it is said, too.
   */
  settle(settlement: Settlement, options?: SettleOptions): Settled;
  /** Makes what was settled without sync safe from a power loss. Nothing to do costs nothing. */
  sync(): void;
  /** What handlers decided about a record, by handler, until a settlement of it has `marks.closed`. */
  results(recordId: string): ReadonlyMap<string, JsonValue>;
  /** Whether a handler has still to be called with a record. */
  handlerStatus(recordId: string, handler: string): HandlerStatus;
  waitOf(recordId: string, handler: string): HandlerWait | undefined;
  /** When a handler was last called with a record, while it is not known what became of that. */
  calledAt(recordId: string, handler: string): number | undefined;
  /** Handlers that wait for a record, due or not. */
  waitingHandlers(recordId: string): string[];
  /** Reads events for a reader that keeps its own place. Throws PrloomError `event-not-found` for an unknown `sinceId`. */
  readEvents(query?: EventQuery): EventPage;
  /** An event that came in lately, or that a handler waits for. */
  findEvent(id: string): BusEvent | undefined;
  /** When an event came in, in milliseconds; undefined for one that did not come lately. */
  cameInAt(id: string): number | undefined;
  /** Whether an action with this id came in lately, or is not done with. */
  hasAction(id: string): boolean;
  /** An action that came in lately. */
  findAction(id: string): Action | undefined;
  /** What became of an action that came in lately. */
  actionFate(id: string): ActionFate;
  /** Actions beyond the cursor that no handler put off, in the order of the log. */
  freshActions(limit: number, isWanted: (id: string) => boolean): { action: Action; cursor: Cursor }[];
  /** Actions that wait, due or not, in the order of the log: what is behind them at the same address waits too. */
  deferredActions(): DeferredAction[];
  /** When the next wait is over: a time in the past when one is over already. */
  nextRetryAt(about?: About): number | undefined;
  deferredSummary(about?: About): { count: number; oldestMs: number };
  /** Up to `limit` of the waits, soonest first: each handler that waits for an event, and each action once. */
  deferredList(limit: number): DeferredWait[];
  deadLetters(): DeadLetter[];
  /** Lets the dead letters of a record be tried again; returns how many there were. */
  revive(recordId: string): number;
  /** Gives the dead letters of a record up for good, or that of one handler; returns how many there were. */
  drop(recordId: string, handler?: string): number;
  /** How often something was revived since it was opened: code that keeps waiting records in memory looks again when it grew. */
  revivals(): number;
  state(): BusState;
  /** Writes the snapshot, if something was settled since. */
  save(): void;
  close(): void;
}

/** Opens a scope: snapshot, then the settlements after it, then what a crash left undone. Creates no files. */
export function openBus(options: BusOptions): Bus {
  const parts = openParts(options);
  let revivals = 0;
  return {
    appendEvents: (events) => appendEvents(parts, events),
    newEvents: (limit) => newEvents(parts, limit),
    pendingTriage: () => pendingTriage(parts),
    attempt: (recordId, handler) => attempt(parts, recordId, handler),
    uncount: (recordId, handler) => uncount(parts, recordId, handler),
    limits: () => parts.limits,
    settle: (settlement, how) => settle(parts, settlement, how),
    sync: () => parts.settled.sync(),
    results: (recordId) => new Map(parts.ledger.entry(recordId)?.results),
    handlerStatus: (recordId, handler) => handlerStatus(parts, recordId, handler),
    waitOf: (recordId, handler) => waitOf(parts, recordId, handler),
    calledAt: (recordId, handler) => calledAt(parts, recordId, handler),
    waitingHandlers: (recordId) => waitingHandlers(parts, recordId),
    readEvents: createEventReader(parts),
    findEvent: (id) => findEvent(parts, id),
    cameInAt: (id) => {
      const found = parts.log.find({ scope: parts.scope, log: "events" }, id, { recent: true });
      return found && Date.parse(found.record.ts);
    },
    hasAction: (id) =>
      isKnownAction(parts.ledger, id) ||
      parts.log.find({ scope: parts.scope, log: "actions" }, id, { recent: true }) !== undefined,
    findAction: (id) => {
      const found = parts.log.find({ scope: parts.scope, log: "actions" }, id, { recent: true });
      return found && parseAction(found.record)?.value;
    },
    actionFate: (id) => actionFate(parts, id),
    freshActions: (limit, isWanted) => freshActions(parts, limit, isWanted),
    deferredActions: createDeferredActions(parts),
    nextRetryAt: (about) => nextRetryAt(parts, about),
    deferredSummary: (about) => deferredSummary(parts, about),
    deferredList: (limit) => deferredList(parts, limit),
    deadLetters: () => parts.ledger.letters(),
    revive: (recordId) => {
      const count = revive(parts, recordId);
      if (count > 0) revivals += 1;
      return count;
    },
    drop: (recordId, handler) => drop(parts, recordId, handler),
    revivals: () => revivals,
    state: () => parts.ledger.snapshot(),
    save: () => parts.settled.save(),
    close: () => parts.settled.save(),
  };
}

interface NewEvent extends NewRecord {
  readonly id: string;
  readonly data: EncodedData;
}

/** One bad event of a bridge does not keep out the good ones. */
function appendEvents(parts: Parts, events: readonly BusEvent[]): AppendedEvents {
  const refused: { index: number; message: string }[] = [];
  const duplicates: string[] = [];
  const valid: NewEvent[] = [];
  events.forEach((event, index) => {
    const result = checkEvent(event);
    if (!result.success) refused.push({ index, message: z.prettifyError(result.error) });
    // The journal remembers recent ids only; what is still open here must not come in a second time either.
    else if (isKnown(parts, result.data.id)) duplicates.push(result.data.id);
    else valid.push({ kind: "event", id: result.data.id, data: new EncodedData(result.data) });
  });
  const result = parts.log.append({ scope: parts.scope, log: "events" }, valid);
  for (const id of result.duplicates) duplicates.push(id);
  const appended = withoutDuplicates(valid, result.duplicates);
  parts.recent.putCopies(appended.map(({ id, data }) => ({ id, text: data.json })));
  return { appended: appended.map(({ id }) => id), duplicates, refused };
}

function isKnown(parts: Parts, id: string): boolean {
  const entry = parts.ledger.entry(id);
  return entry !== undefined && entry.about === "event" && entry.finals.size + entry.waits.size + entry.dead.size > 0;
}

/** Of two events with one id in the same batch the first was appended. */
function withoutDuplicates(events: NewEvent[], duplicates: readonly string[]): NewEvent[] {
  if (duplicates.length === 0) return events;
  const surplus = new Map<string, number>();
  for (const id of duplicates) surplus.set(id, (surplus.get(id) ?? 0) + 1);
  const kept: NewEvent[] = [];
  for (const event of events.toReversed()) {
    const count = surplus.get(event.id) ?? 0;
    if (count === 0) kept.push(event);
    else surplus.set(event.id, count - 1);
  }
  return kept.reverse();
}
