import { PrloomError } from "../../kernel/errors.ts";
import type { Parts } from "../parts.ts";
import { type Cursor, START } from "../ports.ts";
import type { BusEvent } from "../types.ts";
import { parseEvent } from "./record-finder.ts";

export interface EventQuery {
  /** Only events after this one. Absent: from the first. */
  readonly sinceId?: string | undefined;
  readonly types?: readonly string[] | undefined;
  /** 100, and never more than 1000. */
  readonly limit?: number | undefined;
}

export interface EventPage {
  readonly events: BusEvent[];
  /** The last event that was looked at, whether it was wanted or not; absent when there was none. */
  readonly lastId?: string;
}

const DEFAULT_LIMIT = 100;
const MOST = 1000;
const READ_AHEAD = 100;
/** Places of ids that were given out, so that continuing from one needs no search. */
const REMEMBERED = 1000;

/** Reads the events of a scope for a reader that keeps its own place: no cursor moves, and nothing is settled. */
export function createEventReader(parts: Pick<Parts, "log" | "scope">): (query?: EventQuery) => EventPage {
  const places = new Map<string, Cursor>();
  const address = { scope: parts.scope, log: "events" } as const;
  const placeOf = (id: string): Cursor => {
    const place = places.get(id) ?? parts.log.find(address, id)?.cursor;
    if (place !== undefined) return place;
    throw new PrloomError(
      "event-not-found",
      `There is no event ${JSON.stringify(id.slice(0, 300))} on this bus.`,
      "Give `sinceId` a `lastId` that an earlier `readEvents` of the same bus returned, or leave it out to read from the first event.",
    );
  };
  const remember = (id: string, place: Cursor): void => {
    places.delete(id);
    places.set(id, place);
    const [oldest] = places.keys();
    if (places.size > REMEMBERED && oldest !== undefined) places.delete(oldest);
  };
  return ({ sinceId, types, limit = DEFAULT_LIMIT } = {}) => {
    const wanted = types && new Set(types);
    const most = Math.min(MOST, Math.max(1, Math.trunc(limit) || 1));
    const events: BusEvent[] = [];
    let last: { readonly id: string; readonly place: Cursor } | undefined;
    let after = sinceId === undefined ? START : placeOf(sinceId);
    while (events.length < most) {
      const { items, next } = parts.log.read(address, after, Math.max(most - events.length, READ_AHEAD));
      if (items.length === 0) break;
      after = next;
      for (const { record, cursor } of items) {
        if (events.length >= most) break;
        const found = parseEvent(record);
        if (!found) continue;
        last = { id: found.id, place: cursor };
        if (!wanted || wanted.has(found.value.type)) events.push(found.value);
      }
    }
    if (last === undefined) return { events };
    remember(last.id, last.place);
    return { events, lastId: last.id };
  };
}

/** An event that came in lately, or that a handler waits for. */
export function findEvent(parts: Parts, id: string): BusEvent | undefined {
  const offer = parts.event.offers.find(id);
  if (offer) return offer.value;
  const entry = parts.ledger.entry(id);
  if (entry?.at !== undefined && entry.about === "event") return parts.event.finder.find(entry);
  const known = parts.recent.get(id);
  if (known) return known;
  const record = parts.log.find({ scope: parts.scope, log: "events" }, id, { recent: true })?.record;
  const found = record && parseEvent(record)?.value;
  if (found) parts.recent.put(found);
  return found;
}
