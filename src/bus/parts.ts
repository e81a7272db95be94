import type { Clock } from "../kernel/clock.ts";
import type { About } from "./ledger/entry.ts";
import type { Ledger } from "./ledger/ledger.ts";
import { createOffers, type Offers } from "./ledger/offers.ts";
import { SettledLog, type SettledLogOptions } from "./ledger/settled-log.ts";
import type { BusLimits } from "./limits.ts";
import type { Cursor, Envelope, LogName } from "./ports.ts";
import { createRecentEvents, type RecentEvents } from "./reading/recent-events.ts";
import { createRecordFinder, parseAction, parseEvent, type RecordFinder } from "./reading/record-finder.ts";
import type { Action, BusEvent } from "./types.ts";

export interface BusOptions extends SettledLogOptions {
  readonly clock: Clock;
  readonly limits: BusLimits;
}

/** What the bus knows of one of the two kinds of records. */
export interface Kind<T> {
  readonly offers: Offers<T>;
  readonly finder: RecordFinder<T>;
  /** Keeps records at hand that are about to leave the offers. */
  hold(ids: readonly string[]): void;
}

/** What the operations of a bus work on. */
export interface Parts extends BusOptions {
  readonly settled: SettledLog;
  /** What the settled log says. */
  readonly ledger: Ledger;
  readonly event: Kind<BusEvent>;
  readonly action: Kind<Action>;
  readonly recent: RecentEvents;
}

type ParsedRecord<T> = { id: string; value: T } | undefined;

export function openParts(options: BusOptions): Parts {
  const { log, scope } = options;
  const settled = new SettledLog(options);
  const { ledger } = settled;
  const isDone = (id: string): boolean => ledger.entry(id)?.done === true;
  const kind = <T>(about: About, parse: (record: Envelope) => ParsedRecord<T>): Kind<T> => {
    const name = about === "event" ? "events" : "actions";
    const parseOrKeep = (record: Envelope, cursor: Cursor): ParsedRecord<T> => {
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
  const event = kind("event", (record) => {
    const parsed = parseEvent(record);
    if (parsed) recent.put(parsed.value);
    return parsed;
  });
  return { ...options, settled, ledger, recent, event, action: kind("action", parseAction) };
}

function quarantine(options: BusOptions, foreign: { log: LogName; cursor: Cursor; record: Envelope }): void {
  const line = JSON.stringify(foreign.record).slice(0, 2048);
  const { log, cursor } = foreign;
  const id = `${log}:after:${cursor}`;
  options.log.append({ scope: options.scope, log: "quarantine" }, [
    { kind: "quarantine", id, data: { log, cursor, line } },
  ]);
}
