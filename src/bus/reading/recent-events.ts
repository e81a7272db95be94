import type { BusEvent } from "../types.ts";

/** Events that came in or were offered lately, so that looking one up needs no journal. */
export interface RecentEvents {
  get(id: string): BusEvent | undefined;
  /** Remembers an event as the newest; it must not be changed any more. */
  put(event: BusEvent): void;
}

const MAX_EVENTS = 2000;
/** Of all of them together, as JSON: many plans have a bus, and an event may be long. */
const MAX_CHARACTERS = 1024 * 1024;

/** Remembers the newest events, as many as fit. */
export function createRecentEvents(): RecentEvents {
  const known = new Map<string, { readonly event: BusEvent; readonly length: number }>();
  let total = 0;
  const forget = (id: string): void => {
    total -= known.get(id)?.length ?? 0;
    known.delete(id);
  };
  return {
    get: (id) => known.get(id)?.event,
    put: (event) => {
      forget(event.id);
      const { length } = JSON.stringify(event);
      known.set(event.id, { event, length });
      total += length;
      for (const id of known.keys()) {
        if (known.size <= MAX_EVENTS && total <= MAX_CHARACTERS) break;
        forget(id);
      }
    },
  };
}
