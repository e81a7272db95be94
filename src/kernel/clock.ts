/** Time is passed in, so that decisions can be replayed and tests need not sleep. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** `setTimeout` cannot wait longer; the caller looks again then. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The delay of a timer that is to fire at a time. */
export function timerMs(at: number, now: number): number {
  return Math.min(Math.max(0, at - now), MAX_TIMER_MS);
}

/** Dates end here, and `toISOString` throws beyond it; a plugin may put something off for longer. */
export const MAX_DATE_MS = 8.64e15;

export function isoTime(ms: number): string {
  return new Date(Math.min(ms, MAX_DATE_MS)).toISOString();
}
