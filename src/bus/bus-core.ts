import type { Clock } from "../kernel/clock.ts";
import { PrloomError } from "../kernel/errors.ts";
import { type BusState, emptyBusState } from "./bus-state.ts";
import { compareCursors } from "./cursor.ts";
import type { BusLimits } from "./ledger/complete-settlement.ts";
import type { About } from "./ledger/entries.ts";
import { createLedger, type Ledger } from "./ledger/ledger.ts";
import { createOffers, type Offers } from "./ledger/offers.ts";
import type { Cursor, Envelope, Log, LogName } from "./ports.ts";
import { createProjection, type Projection } from "./reading/projection.ts";
import { createRecentEvents, type RecentEvents } from "./reading/recent-events.ts";
import { createRecordFinder, parseAction, parseEvent, type RecordFinder } from "./reading/record-finder.ts";
import { readStateFile } from "./state-file.ts";
import type { Action, BusEvent, Scope, WrittenSettlement } from "./types.ts";

export interface BusOptions {
  readonly log: Log;
  readonly scope: Scope;
  /** Where the snapshot is kept; undefined: nowhere, it is folded anew each time. */
  readonly stateFile: string | undefined;
  readonly clock: Clock;
  readonly limits: BusLimits;
  /** For readers beside a daemon: looks, and neither repairs nor saves. */
  readonly readOnly?: boolean;
  /**
   * Told each settlement that won, in order, after its actions are kept; after a crash the newest ones again. `cursor`
   * is the position after it in the settled log.
   */
  readonly onWon?: (settlement: WrittenSettlement, cursor: Cursor) => void;
}

/** What the bus knows of one of the two kinds of records. */
export interface Kind<T> {
  readonly offers: Offers<T>;
  readonly finder: RecordFinder<T>;
  /** Keeps records at hand that are about to leave the offers. */
  hold(ids: readonly string[]): void;
}

/** The parts that the operations of a bus work on. */
export interface Core extends BusOptions {
  readonly ledger: Ledger;
  readonly projection: Projection;
  readonly event: Kind<BusEvent>;
  readonly action: Kind<Action>;
  readonly recent: RecentEvents;
  /** Something was settled since the snapshot was written. */
  dirty: boolean;
  /** Something was appended without sync, by us or by a process that was killed. */
  unsynced: boolean;
}

/** Loads the snapshot, folds what was settled after it, and repairs what a crash left undone. */
export function openCore(options: BusOptions): Core {
  const { log, scope } = options;
  const ledger = openLedger(options);
  const onWon = options.onWon;
  const projection = createProjection({ log, scope, ledger, writes: options.readOnly !== true, onWon });
  const dirty = projection.catchUp() > 0;
  const isDone = (id: string): boolean => ledger.entry(id)?.done === true;
  const kind = <T>(about: About, parse: (record: Envelope) => { id: string; value: T } | undefined): Kind<T> => {
    const name = about === "event" ? "events" : "actions";
    const parseOrKeep = (record: Envelope, cursor: Cursor): { id: string; value: T } | undefined => {
      const parsed = parse(record);
      if (!parsed && !options.readOnly) quarantine(options, { log: name, cursor, record });
      return parsed;
    };
    const address = { scope, log: name } as const;
    const offers = createOffers({ log, address, from: ledger.cursors[name], parse: parseOrKeep, isDone });
    const finder = createRecordFinder({ log, scope, about, parse });
    const hold = (ids: readonly string[]): void => {
      for (const offer of ids.map(offers.find)) if (offer) finder.keep(offer.id, offer.value);
    };
    return { offers, finder, hold };
  };
  const recent = createRecentEvents();
  return {
    ...options,
    ledger,
    projection,
    recent,
    event: kind("event", (record) => {
      const parsed = parseEvent(record);
      if (parsed) recent.put(parsed.value);
      return parsed;
    }),
    action: kind("action", parseAction),
    dirty,
    unsynced: dirty && !options.readOnly,
  };
}

/** A snapshot that cannot be used is as good as none: the settlements say the same. */
function openLedger(options: BusOptions): Ledger {
  const state = (options.stateFile === undefined ? undefined : readStateFile(options.stateFile)) ?? emptyBusState();
  try {
    return createLedger(withinJournals(options, state));
  } catch (error) {
    if (error instanceof PrloomError && error.code === "state-unreadable") return createLedger(emptyBusState());
    throw error;
  }
}

/** A cursor beyond the end of its journal would hide what is appended next; it is moved back to the end. */
function withinJournals({ log, scope }: BusOptions, state: BusState): BusState {
  const clamp = (name: LogName, cursor: Cursor): Cursor => {
    const { next } = log.read({ scope, log: name }, cursor, 0);
    return compareCursors(next, cursor) < 0 ? next : cursor;
  };
  return {
    ...state,
    eventsOffset: clamp("events", state.eventsOffset),
    actionsOffset: clamp("actions", state.actionsOffset),
    settledOffset: clamp("settled", state.settledOffset),
  };
}

function quarantine(options: BusOptions, foreign: { log: LogName; cursor: Cursor; record: Envelope }): void {
  const line = JSON.stringify(foreign.record).slice(0, 2048);
  const { log, cursor } = foreign;
  const id = `${log}:after:${cursor}`;
  options.log.append({ scope: options.scope, log: "quarantine" }, [
    { kind: "quarantine", id, data: { log, cursor, line } },
  ]);
}
