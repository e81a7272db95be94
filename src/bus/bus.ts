import * as z from "zod";
import { type BusOptions, type Core, openCore } from "./bus-core.ts";
import type { BusState, DeadLetter } from "./bus-state.ts";
import { deferredActions, deferredSummary, nextRetryAt, offered, pendingTriage } from "./offering.ts";
import type { Cursor } from "./ports.ts";
import { attempt, type HandlerStatus, handlerStatus, revive, type Settled, settle } from "./settling.ts";
import { writeStateFile } from "./state-file.ts";
import { type Action, type BusEvent, busEventSchema, type Settlement } from "./types.ts";

export type { BusOptions } from "./bus-core.ts";
export type { BusLimits } from "./complete-settlement.ts";
export type { HandlerStatus, Settled } from "./settling.ts";

export interface AppendedEvents {
  readonly appended: BusEvent[];
  /** Ids that were there already. */
  readonly duplicates: string[];
  /** What is no event, and why; the others are appended all the same. */
  readonly refused: { readonly index: number; readonly message: string }[];
}

/** The working object over one scope's journals. Everything it says it reads from them; memory only saves time. */
export interface Bus {
  appendEvents(events: readonly BusEvent[]): AppendedEvents;
  /** Events to offer to handlers: put-off ones that are due, then those beyond the cursor. */
  newEvents(limit: number): { event: BusEvent; cursor: Cursor }[];
  /** Events that wait for the triage agent, oldest first. */
  pendingTriage(): BusEvent[];
  /** Counts a call before it is made. `allowed` false: do not make it, the record is settled or a dead letter. */
  attempt(recordId: string, handler: string): { attempts: number; allowed: boolean };
  /**
   * Records what a handler did. `marks.moveCursor: true` says that every handler has been offered the record; the
   * cursor then goes as far as it may without passing one that is not done. Actions need it only with `passed`.
   */
  settle(settlement: Settlement): Settled;
  /** Whether a handler has still to be called with a record. */
  handlerStatus(recordId: string, handler: string): HandlerStatus;
  /** Actions to deliver: put-off ones that are due, then those beyond the cursor; in the order of the log. */
  dueActions(limit: number): { action: Action; attempts: number; cursor: Cursor }[];
  /** Actions that wait, due or not: what is behind them at the same address waits too. */
  deferredActions(): { action: Action; attempts: number; until: number }[];
  /** When the next wait is over. */
  nextRetryAt(): number | undefined;
  deferredSummary(): { count: number; oldestMs: number };
  deadLetters(): DeadLetter[];
  /** Lets the dead letters of a record be tried again; tells how many there were. */
  revive(recordId: string): number;
  state(): BusState;
  /** Writes the snapshot, if something was settled since. */
  save(): void;
  close(): void;
}

/** Opens a scope: snapshot, then the settlements after it, then what a crash left undone. Creates no files. */
export function openBus(options: BusOptions): Bus {
  const core = openCore(options);
  return {
    appendEvents: (events) => appendEvents(core, events),
    newEvents: (limit) =>
      offered(core, "event", core.event, limit).map(({ value: event, cursor }) => ({ event, cursor })),
    pendingTriage: () => pendingTriage(core),
    attempt: (recordId, handler) => attempt(core, recordId, handler),
    settle: (settlement) => settle(core, settlement),
    handlerStatus: (recordId, handler) => handlerStatus(core, recordId, handler),
    dueActions: (limit) =>
      offered(core, "action", core.action, limit).map(({ value: action, cursor, attempts }) => ({
        action,
        attempts,
        cursor,
      })),
    deferredActions: () => deferredActions(core),
    nextRetryAt: () => nextRetryAt(core),
    deferredSummary: () => deferredSummary(core),
    deadLetters: () => core.ledger.snapshot().dead.letters,
    revive: (recordId) => revive(core, recordId),
    state: () => core.ledger.snapshot(),
    save: () => save(core),
    close: () => save(core),
  };
}

/** One bad event of a bridge does not keep out the good ones. */
function appendEvents(core: Core, events: readonly BusEvent[]): AppendedEvents {
  const refused: { index: number; message: string }[] = [];
  const duplicates: string[] = [];
  const valid: BusEvent[] = [];
  events.forEach((event, index) => {
    const result = busEventSchema.safeParse(event);
    if (!result.success) refused.push({ index, message: z.prettifyError(result.error) });
    // The journal remembers recent ids only; what is still open here must not come in a second time either.
    else if (isKnown(core, result.data.id)) duplicates.push(result.data.id);
    else valid.push(result.data);
  });
  const records = valid.map((event) => ({ kind: "event", id: event.id, data: event }));
  const result = core.log.append({ scope: core.scope, log: "events" }, records);
  duplicates.push(...result.duplicates);
  return { appended: withoutDuplicates(valid, result.duplicates), duplicates, refused };
}

function isKnown(core: Core, id: string): boolean {
  const entry = core.ledger.entry(id);
  return entry !== undefined && entry.about === "event" && entry.finals.size + entry.waits.size + entry.dead.size > 0;
}

/** Of two events with one id in the same batch the first was appended. */
function withoutDuplicates(events: readonly BusEvent[], duplicates: readonly string[]): BusEvent[] {
  const surplus = new Map<string, number>();
  for (const id of duplicates) surplus.set(id, (surplus.get(id) ?? 0) + 1);
  const kept: BusEvent[] = [];
  for (const event of events.toReversed()) {
    const count = surplus.get(event.id) ?? 0;
    if (count === 0) kept.push(event);
    else surplus.set(event.id, count - 1);
  }
  return kept.reverse();
}

function save(core: Core): void {
  if (core.readOnly) return;
  core.projection.flush();
  if (!core.dirty || core.stateFile === undefined) return;
  writeStateFile(core.stateFile, core.ledger.snapshot());
  core.dirty = false;
}
