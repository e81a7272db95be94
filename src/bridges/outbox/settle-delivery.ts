import type { Bus } from "../../bus/bus.ts";
import type { Marks } from "../../bus/marks.ts";
import { unstopped, waitInWords } from "../wording.ts";
import type { Delivery } from "./deliver.ts";
import { buryAction, concludeAction, releaseAction } from "./settle-action.ts";

export interface FinishedCall {
  readonly id: string;
  readonly handler: string;
  readonly delivery: Delivery;
  readonly now: number;
  /** When the action was first put off, if it was. */
  readonly since: number | undefined;
  readonly maxAgeMs: number;
  /** When the bridge may be called again; for failures of the way. */
  readonly openUntil: number;
}

/** What follows for the queue of the action. `bridge`: it waits for the way of its bridge. */
export type AfterCall =
  | { readonly kind: "done" }
  | { readonly kind: "dead"; readonly reason: string }
  | { readonly kind: "wait"; readonly until: number; readonly reason: string }
  | { readonly kind: "bridge"; readonly reason: string };

/** Records what became of a call, and tells how it goes on. Saying it again changes nothing. */
export function settleDelivery(bus: Bus, call: FinishedCall): AfterCall {
  const { id, handler, delivery } = call;
  switch (delivery.kind) {
    case "delivered":
      concludeAction(bus, id, { handler, ...(delivery.foundAgain ? { reason: "found again" } : {}) });
      return { kind: "done" };
    case "refused":
      return bury(bus, call, delivery.reason);
    case "threw":
      return settleThrow(bus, call, delivery.reason);
    case "later":
      // What it waits for lives in this process only: after a restart it must be asked again at once.
      defer(bus, call, { reason: delivery.reason, until: call.now, uncertain: false });
      return { kind: "wait", until: delivery.until, reason: delivery.reason };
    case "stopped":
      return defer(bus, call, { reason: delivery.reason, until: undefined, uncertain: true });
    case "unknown":
      if (isTooOld(bus, call)) return bury(bus, call, tooOld(call, delivery.reason));
      return defer(bus, call, { reason: delivery.reason, until: undefined, uncertain: true });
    case "transport":
      if (isTooOld(bus, call)) return bury(bus, call, tooOld(call, delivery.reason));
      // A request whose answer got lost may have arrived.
      defer(bus, call, { reason: delivery.reason, until: call.openUntil, uncertain: true });
      return { kind: "bridge", reason: delivery.reason };
  }
}

function bury(bus: Bus, { id, handler }: FinishedCall, reason: string): AfterCall {
  buryAction(bus, id, { handler, reason });
  return { kind: "dead", reason };
}

function settleThrow(bus: Bus, call: FinishedCall, reason: string): AfterCall {
  const { id, handler } = call;
  const marks: Marks = { about: "action", uncertain: true };
  const settled = bus.settle({ record: id, handler, outcome: "threw", reason, marks }, { sync: false });
  if (settled !== "dead") return waiting(bus, call, reason);
  releaseAction(bus, id, handler);
  return { kind: "dead", reason };
}

interface Deferral {
  readonly reason: string;
  readonly until: number | undefined;
  readonly uncertain: boolean;
}

function defer(bus: Bus, call: FinishedCall, { reason, until, uncertain }: Deferral): AfterCall {
  const when = until === undefined ? {} : { until };
  const marks: Marks = { about: "action", uncertain };
  bus.settle({ record: call.id, handler: call.handler, outcome: "deferred", reason, ...when, marks }, { sync: false });
  return waiting(bus, call, reason);
}

function waiting(bus: Bus, { id, handler, now }: FinishedCall, reason: string): AfterCall {
  return { kind: "wait", until: bus.waitOf(id, handler)?.until ?? now, reason };
}

function isTooOld(bus: Bus, { id, handler, since, now, maxAgeMs }: FinishedCall): boolean {
  return now - (bus.waitOf(id, handler)?.since ?? since ?? now) >= maxAgeMs;
}

/** Why an action that never got through is given up. */
export function tooOld({ maxAgeMs }: Pick<FinishedCall, "maxAgeMs">, reason: string): string {
  return `${unstopped(reason)} (for longer than bus.maxAge, ${waitInWords(maxAgeMs)})`;
}
