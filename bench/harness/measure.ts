/** Wall time of one side of a comparison, in milliseconds. */
export interface Timing {
  readonly median: number;
  /** Tenth and ninetieth percentile. */
  readonly low: number;
  readonly high: number;
  readonly p99: number;
}

export interface Pairs {
  readonly ours: Timing;
  readonly floor: Timing;
  /** Median of each pair's ratio. */
  readonly ratio: number;
  /** The floor against itself, neighbours in time: what a ratio of 1 looks like on this machine now. */
  readonly noise: { readonly low: number; readonly high: number };
}

/** Does the work and tells how many milliseconds of it count; what only prepares it is not timed. */
export type Sample = () => number | Promise<number>;

/** Milliseconds that the work takes. */
export async function timed(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Like `timed`, for work that must not give up the thread in between. */
export function timedSync(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

/**
 * Floor, ours, floor, ours, …, floor: a machine that gets slower or faster meanwhile does so for both. The first pair
 * warms up and does not count.
 */
export async function measurePairs(sides: { floor: Sample; ours: Sample; pairs: number }): Promise<Pairs> {
  const floors: number[] = [];
  const ours: number[] = [];
  if (sides.pairs > 2) {
    await sides.floor();
    await sides.ours();
  }
  for (let pair = 0; pair < sides.pairs; pair += 1) {
    floors.push(await sides.floor());
    ours.push(await sides.ours());
  }
  floors.push(await sides.floor());
  return pairsOf(floors, ours);
}

/** What was measured by turns, the floor first and last. */
export function pairsOf(floors: readonly number[], ours: readonly number[]): Pairs {
  const itself = floors.slice(1).map((one, at) => one / (floors[at] ?? one));
  return {
    ours: timing(ours),
    floor: timing(floors),
    ratio: percentile(
      ours.map((one, at) => one / (floors[at] ?? one)),
      0.5,
    ),
    noise: { low: percentile(itself, 0.1), high: percentile(itself, 0.9) },
  };
}

function timing(samples: readonly number[]): Timing {
  const [low = 0, median = 0, high = 0, p99 = 0] = [0.1, 0.5, 0.9, 0.99].map((share) => percentile(samples, share));
  return { median, low, high, p99 };
}

/** The value below which this share of the samples lies, between two samples in proportion. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? below;
  return below + (above - below) * (at - Math.floor(at));
}
