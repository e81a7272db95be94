import type { Bus } from "../../bus/bus.ts";
import { handlerName, parseHandler } from "../../bus/names.ts";
import type { Settlement } from "../../bus/types.ts";

const ABOUT = { about: "action" } as const;

export interface Parking {
  readonly reason: string;
  readonly until: number | undefined;
}

/**
 * Under this name an action waits that nobody was called for yet: it keeps its place, and a restart finds it. A dead
 * letter that was revived waits again, and the name it waited under before is used up.
 */
function outboxName(bus: Bus, id: string): string {
  let life = 1;
  const name = (): string => handlerName({ kind: "outbox", life });
  while (bus.handlerStatus(id, name()) === "settled") life += 1;
  return name();
}

const isOutbox = (handler: string): boolean => parseHandler(handler)?.kind === "outbox";

/** Puts an action off, so that the cursor can go on. Said once: it holds until the action is concluded. */
export function parkAction(bus: Bus, id: string, { reason, until }: Parking): void {
  const when = until === undefined ? {} : { until };
  const handler = outboxName(bus, id);
  bus.settle({ record: id, handler, outcome: "deferred", reason, ...when, marks: ABOUT }, { sync: false });
}

/** Whether the bus would find the action after a restart even if every hook had answered. */
export function isHeld(bus: Bus, id: string): boolean {
  return bus.waitingHandlers(id).some((handler) => parseHandler(handler)?.kind !== "hook");
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
  pass(bus, id, { handlers: others, closed: true });
}

/** The action is a dead letter. What hooks decided about it is kept: revived, it goes where they sent it. */
export function buryAction(bus: Bus, id: string, { handler, reason }: Required<Conclusion>): void {
  const marks = { ...ABOUT, moveCursor: true, dead: true };
  bus.settle({ record: id, handler, outcome: "threw", reason, marks }, { sync: false });
  releaseAction(bus, id, handler);
}

/**
 * The action died by another's word: nothing waits for it any more but what is named. Whoever else waited gives it up
 * too and is not done with it: revived, it must be asked again. The place in the outbox goes last, so that a kill in
 * between finds the action.
 */
export function releaseAction(bus: Bus, id: string, except?: string): void {
  const others = bus.waitingHandlers(id).filter((other) => other !== except);
  const reason = "given up by others";
  const marks = { ...ABOUT, moveCursor: true, dead: true, follows: true };
  for (const handler of others.filter((other) => !isOutbox(other))) {
    bus.settle({ record: id, handler, outcome: "threw", reason, marks }, { sync: false });
  }
  pass(bus, id, { handlers: others.filter(isOutbox), closed: false });
}

function pass(bus: Bus, id: string, { handlers, closed }: { handlers: readonly string[]; closed: boolean }): void {
  handlers.forEach((handler, index) => {
    const last = closed && index === handlers.length - 1 ? { closed: true } : {};
    const settlement: Settlement = { record: id, handler, outcome: "passed", marks: { ...ABOUT, ...last } };
    bus.settle(settlement, { sync: false });
  });
}
