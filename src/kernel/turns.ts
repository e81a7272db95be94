import { setImmediate } from "node:timers/promises";

/** How long one loop works before others get their turn. */
const SLICE_MS = 20;

/** One slice for all loops of the process: a slice for each would be as many times as long as there are loops. */
let sliceStartedAt = 0;
let isNextDue = false;

async function startSlice(): Promise<void> {
  if (isNextDue) return;
  isNextDue = true;
  await setImmediate();
  sliceStartedAt = performance.now();
  isNextDue = false;
}

/**
 * For loops over what agents made, as much as that may be. Awaited in each round it lets sockets, timers and the other plans have
 * their turn whenever a slice of time is over, and costs next to nothing before.
 */
export async function takeTurns(): Promise<void> {
  // Each waits by itself and asks again: the one before it may have taken all of the slice.
  while (performance.now() - sliceStartedAt >= SLICE_MS) {
    void startSlice();
    await setImmediate();
  }
}
