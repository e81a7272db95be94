import type { Bus } from "../../bus/bus.ts";

/** What is remembered of the polls of one bridge for one bus, as long as the process lives. */
export interface PollMemory {
  /** Refusals that were told: a bridge that returns the same again must not fill the log. */
  readonly told: Map<string, true>;
  /** Who wrote the events that the bridge reported: one that reports all it has at each poll must cost no search. */
  readonly sources: Map<string, string>;
}

const memories = new WeakMap<Bus, Map<string, PollMemory>>();
/** Twice what one poll may bring. */
const MAX_REMEMBERED = 20_000;

/** The memory of a bridge's polls for a bus. */
export function pollMemory(bus: Bus, bridge: string): PollMemory {
  const byBridge = memories.get(bus) ?? new Map<string, PollMemory>();
  const memory = byBridge.get(bridge) ?? { told: new Map(), sources: new Map() };
  memories.set(bus, byBridge.set(bridge, memory));
  return memory;
}

/** Adds to a memory; what was added longest ago is forgotten first. */
export function remember<T>(memory: Map<string, T>, key: string, value: T): void {
  memory.delete(key);
  memory.set(key, value);
  if (memory.size <= MAX_REMEMBERED) return;
  const [oldest] = memory.keys();
  if (oldest !== undefined) memory.delete(oldest);
}
