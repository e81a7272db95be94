export interface RetryLimits {
  readonly minMs: number;
  readonly maxMs: number;
}

const DEFAULT_RETRY: RetryLimits = { minMs: 1000, maxMs: 5 * 60_000 };

/** How long to wait after the n-th failure: `minMs`, doubling, never more than `maxMs`. */
export function retryDelay(attempts: number, limits: RetryLimits = DEFAULT_RETRY): number {
  return Math.min(limits.maxMs, limits.minMs * 2 ** Math.min(Math.max(attempts - 1, 0), 40));
}

export interface BusLimits {
  /** Calls that may throw, or end the process, before a record is a dead letter. */
  readonly maxAttempts: number;
  readonly retryMinMs: number;
  readonly retryMaxMs: number;
}
