import { retryDelay } from "../bus/bus-state.ts";

/** Whether the way to a bridge's outside is thought to be passable. */
export interface Circuit {
  /** Failures of the way in a row. */
  readonly failures: number;
  readonly openUntil: number;
}

/** Open: not called at all. Half-open: one call shows whether the way is there again. */
export type CircuitState = "closed" | "open" | "half-open";

export const CLOSED_CIRCUIT: Circuit = { failures: 0, openUntil: 0 };

/** A bridge that asks for more is asked again tomorrow all the same. */
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;

/** What a circuit means at a time. */
export function circuitState(circuit: Circuit, now: number): CircuitState {
  if (circuit.failures === 0) return "closed";
  return now < circuit.openUntil ? "open" : "half-open";
}

/** The circuit after a failure of the way: open for 1 s, doubling to 5 min, or for as long as the other side asked. */
export function failCircuit(circuit: Circuit, now: number, retryAfterMs?: number): Circuit {
  // Calls that were under way when it opened fail for the same reason: they are not further failures.
  const failures = circuitState(circuit, now) === "open" ? circuit.failures : circuit.failures + 1;
  const wait = retryAfterMs === undefined ? retryDelay(failures) : Math.min(retryAfterMs, MAX_RETRY_AFTER_MS);
  return { failures, openUntil: Math.max(circuitState(circuit, now) === "open" ? circuit.openUntil : 0, now + wait) };
}

/** What a call told about the way there. `nothing`: it threw, which may be the bridge's own fault. */
export type WayReport = "there" | "nothing" | { readonly retryAfterMs: number | undefined };

/** One outbox among those that share the bridges. */
export interface CircuitMember {
  /** Asks for a call; true: it may be made, and `leave` must follow. */
  enter(bridge: string, now: number): boolean;
  leave(bridge: string, now: number, way: WayReport): void;
  quit(): void;
}

/** The circuits of all bridges, shared by the buses: a way that is broken is so for each of them. */
export interface Circuits {
  of(bridge: string): Circuit;
  /** `onChange`: a call of this bridge has ended, so there may be room, or the way may be free again. */
  join(onChange: (bridge: string) => void): CircuitMember;
}

/** Calls of one bridge at once, over all buses. */
const MAX_CALLS = 4;

/** Circuits of which all are closed. */
export function createCircuits(): Circuits {
  const circuits = new Map<string, Circuit>();
  const running = new Map<string, number>();
  const listeners = new Set<(bridge: string) => void>();
  const of = (bridge: string): Circuit => circuits.get(bridge) ?? CLOSED_CIRCUIT;
  const enter = (bridge: string, now: number): boolean => {
    const state = circuitState(of(bridge), now);
    const calls = running.get(bridge) ?? 0;
    if (state === "open" || calls >= (state === "closed" ? MAX_CALLS : 1)) return false;
    running.set(bridge, calls + 1);
    return true;
  };
  const leave = (bridge: string, now: number, way: WayReport): void => {
    running.set(bridge, (running.get(bridge) ?? 1) - 1);
    if (way === "there") circuits.delete(bridge);
    else if (way !== "nothing") circuits.set(bridge, failCircuit(of(bridge), now, way.retryAfterMs));
    for (const listener of [...listeners]) listener(bridge);
  };
  const join = (onChange: (bridge: string) => void): CircuitMember => {
    listeners.add(onChange);
    return {
      enter: (bridge, now) => {
        const entered = enter(bridge, now);
        // Whoever got a call is asked last the next time.
        if (entered && listeners.delete(onChange)) listeners.add(onChange);
        return entered;
      },
      leave,
      quit: () => void listeners.delete(onChange),
    };
  };
  return { of, join };
}
