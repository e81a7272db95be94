import type { BusEvent } from "../types.ts";

/** Events that came in or were offered lately, so that looking one up needs no journal. */
export interface RecentEvents {
  get(id: string): BusEvent | undefined;
  /** Remembers an event as the newest; it must not be changed any more. */
  put(event: BusEvent): void;
  /** The same for events as JSON, the newest last: each is remembered as a reader of its line will find it. */
  putCopies(events: readonly { readonly id: string; readonly text: string }[]): void;
}

const MAX_EVENTS = 2000;
/** Of all of them together, as JSON: many plans have a bus, and an event may be long. */
const MAX_CHARACTERS = 1024 * 1024;

interface Known {
  readonly length: number;
  /** Absent until it is asked for. */
  event?: BusEvent;
  readonly text?: string;
}

/** Remembers the newest events, as many as fit. */
export function createRecentEvents(): RecentEvents {
  const known = new Map<string, Known>();
  let total = 0;
  const forget = (id: string): void => {
    total -= known.get(id)?.length ?? 0;
    known.delete(id);
  };
  const add = (id: string, one: Known): void => {
    forget(id);
    known.set(id, one);
    total += one.length;
    for (const oldest of known.keys()) {
      if (known.size <= MAX_EVENTS && total <= MAX_CHARACTERS) break;
      forget(oldest);
    }
  };
  return {
    get: (id) => {
      const found = known.get(id);
      if (found && !found.event && found.text !== undefined) found.event = JSON.parse(found.text);
      return found?.event;
    },
    put: (event) => add(event.id, { event, length: JSON.stringify(event).length }),
    putCopies: (events) => {
      for (const { id, text } of events.slice(-MAX_EVENTS)) add(id, { text, length: text.length });
    },
  };
}
