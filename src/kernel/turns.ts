import { setImmediate } from "node:timers/promises";

/** Longer than this nobody waits for his turn. */
const SLICE_MS = 20;

/**
 * For loops over what agents made, as much as that may be. Awaited in each round it lets sockets, timers and the other plans have
 * their turn whenever a slice of time is over, and costs next to nothing before.
 */
export function takingTurns(): () => Promise<void> {
  let startedAt = performance.now();
  return async () => {
    if (performance.now() - startedAt < SLICE_MS) return;
    await setImmediate();
    startedAt = performance.now();
  };
}
