import type { BusState } from "../bus-state.ts";
import { compareCursors } from "../cursor.ts";
import type { LogItem } from "../ports.ts";

/** What has become of a record. */
export type Fate =
  | { readonly kind: "new" | "handled" | "triage" }
  | { readonly kind: "waits"; readonly handler: string; readonly reason: string; readonly until: number }
  | { readonly kind: "dead"; readonly handler: string; readonly reason: string };

/** Pure: what has become of a record in the journal of events or actions, as far as the bus has come. */
export function fateOf(state: BusState, about: "event" | "action", { cursor, record }: LogItem): Fate {
  const id = record.id ?? "";
  // Letters that only follow from another one do not say why.
  const dead = state.dead.letters.find((letter) => letter.about === about && letter.record === id && !letter.follows);
  if (dead) return { kind: "dead", handler: dead.handler, reason: dead.reason };
  const deferred = (about === "event" ? state.deferredEventIds : state.deferredActionIds)[id];
  const [soonest] = Object.entries(deferred?.handlers ?? {}).sort(([, a], [, b]) => a.deferredUntil - b.deferredUntil);
  if (soonest) {
    const [handler, { reason, deferredUntil: until }] = soonest;
    return { kind: "waits", handler, reason, until };
  }
  if (about === "event" && state.pendingTriage[id]) return { kind: "triage" };
  const passed = about === "event" ? state.eventsOffset : state.actionsOffset;
  const isSettled = state.settled[id] !== undefined || compareCursors(cursor, passed) <= 0;
  return { kind: isSettled ? "handled" : "new" };
}
