import { setImmediate } from "node:timers/promises";

/** Longer than this nothing else is kept from its turn. */
const SLICE_MS = 100;

export interface Slices<T> {
  readonly items: Iterable<T>;
  /** `isLater`: others had their turn since the first one, and may have changed what was looked at before. */
  act(item: T, isLater: boolean): void;
  /** Asked after others had their turn; false ends it. */
  mayGoOn(): boolean;
  /** Milliseconds from anywhere on. */
  now?(): number;
}

/**
 * Does something for each, a slice of time at once. Thousands of new plans are thousands of synced writes: without a
 * pause sockets are not answered, and the watchdog takes it for a loop that is blocked.
 */
export async function inSlices<T>(slices: Slices<T>): Promise<void> {
  const { items, act, mayGoOn, now = () => performance.now() } = slices;
  let isLater = false;
  let startedAt = now();
  for (const item of items) {
    if (now() - startedAt >= SLICE_MS) {
      await setImmediate();
      if (!mayGoOn()) return;
      isLater = true;
      startedAt = now();
    }
    act(item, isLater);
  }
}
