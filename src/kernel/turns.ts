import { setImmediate } from "node:timers/promises";

/** How long one loop works before others get their turn. */
const SLICE_MS = 20;

/** One slice for all loops of the process: a slice for each would be as many times as long as there are loops. */
let sliceStartedAt = 0;
let lastInLine: Promise<void> = Promise.resolve();

async function sliceAfter(before: Promise<void>): Promise<void> {
  await before;
  await setImmediate();
  sliceStartedAt = performance.now();
}

/**
 * For loops over what agents made, as much as that may be. Awaited in each round it lets sockets, timers and the other plans have
 * their turn whenever a slice of time is over, and costs next to nothing before.
 */
export async function takeTurns(): Promise<void> {
  if (performance.now() - sliceStartedAt < SLICE_MS) return;
  // In a line: a loop that was served last waits behind all that wait already, or they would wait until it is through.
  lastInLine = sliceAfter(lastInLine);
  await lastInLine;
}
