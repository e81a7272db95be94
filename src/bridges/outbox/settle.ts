import type { Bus } from "../../bus/bus.ts";
import type { Marks } from "../../bus/marks.ts";
import { DISPATCHER, handlerName, parseHandler } from "../../bus/names.ts";
import type { Action, ReplyAddress, Scope, Settlement } from "../../bus/types.ts";
import type { BridgeServices } from "../services.ts";

const ABOUT = { about: "action" } as const;
const MAX_TOKEN_CHARACTERS = 60;

/** An action, and where it goes after beforeRoute. */
export interface RoutedAction {
  readonly action: Action;
  readonly target: ReplyAddress;
}

/** The outcome of the call for one action. */
export type Delivery =
  | { readonly kind: "delivered"; readonly foundAgain: boolean; readonly ref?: string | undefined }
  | { readonly kind: "later"; readonly reason: string; readonly until: number }
  /** The outside cannot be reached; what was sent may have arrived all the same. */
  | {
      readonly kind: "transport";
      readonly reason: string;
      readonly retryAfterMs: number | undefined;
      readonly arrived?: false;
    }
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "threw"; readonly reason: string }
  /** The bridge could not tell whether an earlier call arrived, so it was not sent again. */
  | { readonly kind: "unknown"; readonly reason: string }
  | { readonly kind: "stopped"; readonly reason: string };

/** An action is put off, for this reason and until this time, if one is known. */
export interface Parking {
  readonly id: string;
  readonly reason: string;
  readonly until: number | undefined;
}

/**
 * Under this name an action waits for which no bridge was called yet: it keeps its place, and a restart finds it. A dead
 * letter that was revived waits again, and the name it waited under before is used up.
 */
function outboxName(bus: Bus, id: string): string {
  let life = 1;
  const name = (): string => handlerName({ kind: "outbox", life });
  while (bus.handlerStatus(id, name()) === "settled") life += 1;
  return name();
}

const isOutbox = (handler: string): boolean => parseHandler(handler)?.kind === "outbox";

/** Puts an action off, so that the cursor can go on. Written once: it holds until the action is concluded. */
export function parkAction(bus: Bus, { id, reason, until }: Parking): void {
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

/** What is kept with the last line of an action. */
type Kept = Pick<Settlement, "result" | "state">;

/**
 * The action is done with. What hooks decided about it is forgotten with the last line only: a kill before that must
 * find the same way again, and then that its end was reached.
 */
export function concludeAction(bus: Bus, id: string, { handler, reason, ...kept }: Conclusion & Kept): void {
  const others = bus.waitingHandlers(id).filter((other) => other !== handler);
  const closed = others.length === 0 ? { closed: true } : {};
  const why = reason === undefined ? {} : { reason };
  const marks = { ...ABOUT, moveCursor: true, ...closed };
  bus.settle({ record: id, handler, outcome: "handled", ...why, ...kept, marks }, { sync: false });
  pass(bus, id, { handlers: others, closed: true });
}

/** The action is a dead letter. What hooks decided about it is kept: revived, it goes where they sent it. */
function buryAction(bus: Bus, id: string, { handler, reason }: Required<Conclusion>): void {
  const marks = { ...ABOUT, moveCursor: true, dead: true };
  bus.settle({ record: id, handler, outcome: "threw", reason, marks }, { sync: false });
  releaseAction(bus, id, handler);
}

/**
 * Another handler gave the action up: nothing waits for it any more but what is named. The others that waited give it up
 * too and are not done with it: revived, it must be asked about again. The place in the outbox goes last, so that a kill in
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

export interface FinishedCall {
  readonly id: string;
  readonly handler: string;
  readonly delivery: Delivery;
  readonly now: number;
  /** When the action was first put off, if it was. */
  readonly since: number | undefined;
  readonly maxAgeMs: number;
  /** What is kept of a delivery. */
  readonly kept: Kept;
  /** When the bridge may be called again, where it cannot be reached. */
  readonly openUntil: number;
  /** When the outside shows what it took; until then one that may have arrived is not looked for. */
  readonly shownAt: number;
}

/** What follows for the queue of the action. `bridge`: it waits until its bridge is reachable again, and until a time of its own. */
export type AfterCall =
  | { readonly kind: "done" }
  | { readonly kind: "dead"; readonly reason: string }
  | { readonly kind: "wait"; readonly until: number; readonly reason: string }
  | { readonly kind: "bridge"; readonly reason: string; readonly until: number };

/** Records how a call ended, and returns what follows. Repeating it changes nothing. */
export function settleDelivery(bus: Bus, call: FinishedCall): AfterCall {
  const { id, handler, delivery } = call;
  switch (delivery.kind) {
    case "delivered":
      concludeAction(bus, id, { handler, ...(delivery.foundAgain ? { reason: "found again" } : {}), ...call.kept });
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
      return defer(bus, call, { reason: delivery.reason, until: call.shownAt, uncertain: true });
    case "unknown":
      if (isTooOld(bus, call)) return bury(bus, call, tooOld(call.maxAgeMs, delivery.reason));
      return defer(bus, call, { reason: delivery.reason, until: undefined, uncertain: true });
    case "transport": {
      if (isTooOld(bus, call)) return bury(bus, call, tooOld(call.maxAgeMs, delivery.reason));
      // A request whose answer got lost may have arrived.
      const uncertain = delivery.arrived !== false;
      const until = Math.max(call.openUntil, uncertain ? call.shownAt : 0);
      defer(bus, call, { reason: delivery.reason, until, uncertain });
      return { kind: "bridge", reason: delivery.reason, until };
    }
  }
}

function bury(bus: Bus, { id, handler }: FinishedCall, reason: string): AfterCall {
  buryAction(bus, id, { handler, reason });
  return { kind: "dead", reason };
}

function settleThrow(bus: Bus, call: FinishedCall, reason: string): AfterCall {
  const { id, handler, shownAt: until } = call;
  const marks: Marks = { about: "action", uncertain: true };
  const settled = bus.settle({ record: id, handler, outcome: "threw", reason, until, marks }, { sync: false });
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

/** Whose actions they are, and where it is told what becomes of them. */
export interface Teller {
  readonly services: Pick<BridgeServices, "report">;
  readonly scope: Scope;
}

export function tell({ services, scope }: Teller, level: "info" | "warn" | "bad", text: string): void {
  services.report({ ...scope, level, text });
}

/** What a target that no bridge has means for an action. */
export function noBridge(known: { targets?(): readonly string[] }, { target }: ReplyAddress): Required<Conclusion> {
  const targets = known.targets?.() ?? [];
  const list = targets.length === 0 ? "" : `; configured targets: ${targets.join(", ")}`;
  return { handler: DISPATCHER, reason: `no bridge has the target ${target}${list}` };
}

/** The action is a dead letter, and that is told. */
export function giveUp(
  options: Teller & { readonly bus: Bus },
  routed: RoutedAction,
  { handler, reason }: Required<Conclusion>,
): void {
  buryAction(options.bus, routed.action.id, { handler, reason });
  tell(options, "bad", gaveUp(routed, handler, reason));
}

/** The line about an action that is a dead letter now. */
export function gaveUp(routed: RoutedAction, handler: string, reason: string): string {
  return `${handler} gave up on ${nameOf(routed)}: ${unstopped(reason)} (prloom retry ${routed.action.id})`;
}

export interface PendingRetry {
  readonly handler: string;
  readonly reason: string;
  /** Undefined: until the next start. */
  readonly waitMs: number | undefined;
}

/** The line about an action that is tried again. */
export function retryLine(routed: RoutedAction, { handler, reason, waitMs }: PendingRetry): string {
  const next = waitMs === undefined ? "tried again at the next start" : `next try in ${duration(waitMs)}`;
  return `${handler}: ${nameOf(routed)} waits: ${unstopped(reason)}; ${next}`;
}

/** Why an action that never got through is given up. */
export function tooOld(maxAgeMs: number, reason: string): string {
  return `${unstopped(reason)} (for longer than bus.maxAge, ${duration(maxAgeMs)})`;
}

/** What it is and where it goes. */
function nameOf({ action, target }: RoutedAction): string {
  const { token = "" } = target;
  const shown = token.length > MAX_TOKEN_CHARACTERS ? `${token.slice(0, MAX_TOKEN_CHARACTERS)}…` : token;
  return `${action.payload.type} to ${target.target}${shown === "" ? "" : `/${shown}`}`;
}

/** Errors of others end with a full stop or not; without it, the line can go on after them. */
function unstopped(reason: string): string {
  return reason.replace(/\.\s*$/, "");
}

/** Rounded up: "4 s", "3 min", "72 h". */
function duration(ms: number): string {
  const seconds = Math.ceil(Math.max(0, ms) / 1000);
  if (seconds <= 120) return `${seconds} s`;
  return seconds <= 7200 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3600)} h`;
}
