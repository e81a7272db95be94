import type { Bus } from "../bus/bus.ts";
import type { Settlement } from "../bus/types.ts";

/** Under this name an action waits that nobody was called for yet: it keeps its place, and a restart finds it. */
export const OUTBOX = "outbox";
/** Under this name prloom itself decides about an action. */
export const DISPATCHER = "dispatcher";

const ABOUT = { about: "action" };

export interface Parking {
  readonly reason: string;
  readonly until: number | undefined;
}

/** Puts an action off, so that the cursor can go on. Said once: it holds until the action is concluded. */
export function parkAction(bus: Bus, id: string, { reason, until }: Parking): void {
  const when = until === undefined ? {} : { until };
  bus.settle({ record: id, handler: OUTBOX, outcome: "deferred", reason, ...when, marks: ABOUT }, { sync: false });
}

/** Whether the bus would find the action after a restart even if every hook had answered. */
export function isHeld(bus: Bus, id: string): boolean {
  return bus.waitingHandlers(id).some((handler) => !handler.startsWith("before"));
}

export interface Conclusion {
  readonly handler: string;
  readonly reason?: string;
}

/**
 * The action is done with. What hooks decided about it is forgotten with the last line only: a kill before that must
 * find the same way again, and then that its end was reached.
 */
export function concludeAction(bus: Bus, id: string, { handler, reason }: Conclusion): void {
  const others = bus.waitingHandlers(id).filter((other) => other !== handler);
  const closed = others.length === 0 ? { closed: true } : {};
  const why = reason === undefined ? {} : { reason };
  const marks = { ...ABOUT, moveCursor: true, ...closed };
  bus.settle({ record: id, handler, outcome: "handled", ...why, marks }, { sync: false });
  release(bus, id, { others, closed: true });
}

/** The action is a dead letter. What hooks decided about it is kept: revived, it goes where they sent it. */
export function buryAction(bus: Bus, id: string, { handler, reason }: Required<Conclusion>): void {
  const marks = { ...ABOUT, moveCursor: true, dead: true };
  bus.settle({ record: id, handler, outcome: "threw", reason, marks }, { sync: false });
  releaseAction(bus, id, handler);
}

/** Somebody else said the last word: nothing waits for the action any more but what is named. */
export function releaseAction(bus: Bus, id: string, except?: string): void {
  const others = bus.waitingHandlers(id).filter((other) => other !== except);
  release(bus, id, { others, closed: false });
}

function release(bus: Bus, id: string, { others, closed }: { others: readonly string[]; closed: boolean }): void {
  others.forEach((handler, index) => {
    const last = closed && index === others.length - 1 ? { closed: true } : {};
    const settlement: Settlement = { record: id, handler, outcome: "passed", marks: { ...ABOUT, ...last } };
    bus.settle(settlement, { sync: false });
  });
}
