import * as z from "zod";
import { type RetryLimits, retryDelay } from "../bus/limits.ts";

/** Whether the outside of a bridge is thought to be reachable. */
export interface Circuit {
  /** How often in a row it could not be reached. */
  readonly failures: number;
  readonly openUntil: number;
}

/** Open: not called at all. Half-open: one call shows whether the outside is reachable again. */
export type CircuitState = "closed" | "open" | "half-open";

export const CLOSED_CIRCUIT: Circuit = { failures: 0, openUntil: 0 };

/** A bridge that asks for more is asked again tomorrow all the same. */
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;

/** What a circuit means at a time. */
export function circuitState(circuit: Circuit, now: number): CircuitState {
  if (circuit.failures === 0) return "closed";
  return now < circuit.openUntil ? "open" : "half-open";
}

export interface Unreached {
  readonly now: number;
  /** What the other side asked for. */
  readonly retryAfterMs?: number | undefined;
  readonly limits?: RetryLimits | undefined;
}

/**
 * The circuit after a call that did not get there: open for 1 s, doubling to 5 min, or longer where the other side asks for it.
 * Never shorter: systems that are down like to say 0.
 */
export function failCircuit(circuit: Circuit, { now, retryAfterMs = 0, limits }: Unreached): Circuit {
  // Calls that were under way when it opened fail for the same reason: they are not further failures.
  const failures = circuitState(circuit, now) === "open" ? circuit.failures : circuit.failures + 1;
  const wait = Math.max(retryDelay(failures, limits), Math.min(retryAfterMs, MAX_RETRY_AFTER_MS));
  return { failures, openUntil: Math.max(circuitState(circuit, now) === "open" ? circuit.openUntil : 0, now + wait) };
}

const retryAfterSchema = z.object({ retryAfterMs: z.number().min(0) });

/** How long the outside asked to be left alone. */
export function retryAfterOf(value: unknown): { retryAfterMs?: number } {
  try {
    return retryAfterSchema.safeParse(value instanceof Error ? { ...value } : value).data ?? {};
  } catch {
    // A getter or a proxy of the bridge can throw.
    return {};
  }
}

/** What a call told about the outside. `nothing`: it threw, which may be the bridge's own fault. */
export type Reach = "there" | "nothing" | { readonly retryAfterMs: number | undefined };

/** One outbox among those that share the bridges. */
export interface CircuitMember {
  /** Asks for a call, one of `most` at once; true: it may be made, and `leave` must follow. */
  enter(bridge: string, now: number, most?: number): boolean;
  /** Tells whether the outside is reachable again, after it was not. */
  leave(bridge: string, now: number, reach: Reach): boolean;
  quit(): void;
}

/** The circuits of all bridges, shared by the buses: what one of them cannot reach, none can. */
export interface Circuits {
  of(bridge: string): Circuit;
  /** `onChange`: a call of this bridge has ended, so there may be room, or it may be reachable again. */
  join(onChange: (bridge: string) => void, retryLimits?: () => RetryLimits): CircuitMember;
}

/** Calls of one bridge at once, over all buses. */
const MAX_CALLS = 4;

/** Circuits of which all are closed. */
export function createCircuits(): Circuits {
  const circuits = new Map<string, Circuit>();
  const running = new Map<string, number>();
  const listeners = new Set<(bridge: string) => void>();
  const of = (bridge: string): Circuit => circuits.get(bridge) ?? CLOSED_CIRCUIT;
  const enter = (bridge: string, now: number, most: number): boolean => {
    const state = circuitState(of(bridge), now);
    const calls = running.get(bridge) ?? 0;
    if (state === "open" || calls >= (state === "closed" ? most : 1)) return false;
    running.set(bridge, calls + 1);
    return true;
  };
  const ended = (bridge: string): void => {
    running.set(bridge, (running.get(bridge) ?? 1) - 1);
    for (const listener of [...listeners]) listener(bridge);
  };
  const join: Circuits["join"] = (onChange, retryLimits) => {
    listeners.add(onChange);
    return {
      enter: (bridge, now, most = MAX_CALLS) => {
        const entered = enter(bridge, now, most);
        // The outbox that got a call is told last the next time.
        if (entered && listeners.delete(onChange)) listeners.add(onChange);
        return entered;
      },
      leave: (bridge, now, reach) => {
        const isBack = reach === "there" && circuits.delete(bridge);
        if (typeof reach === "object") {
          circuits.set(bridge, failCircuit(of(bridge), { now, ...reach, limits: retryLimits?.() }));
        }
        ended(bridge);
        return isBack;
      },
      quit: () => void listeners.delete(onChange),
    };
  };
  return { of, join };
}
