/** The buckets that GitHub counts apart. */
export type Bucket = "core" | "search" | "graphql";

export interface LimitOptions {
  readonly core: number;
  readonly search: number;
  readonly graphql: number;
  /** Requests that make content, in a minute and in an hour. */
  readonly contentPerMinute: number;
  readonly contentPerHour: number;
}

const USUAL: LimitOptions = { core: 5000, search: 30, graphql: 5000, contentPerMinute: 80, contentPerHour: 500 };
const WINDOW_MS: Readonly<Record<Bucket, number>> = { core: 3_600_000, search: 60_000, graphql: 3_600_000 };

interface Window {
  startedAt: number;
  used: number;
}

export interface Counted {
  readonly bucket: Bucket;
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
  /** Seconds since 1970. */
  readonly reset: number;
}

/** What one user has used up. */
export class Limits {
  readonly #limits: LimitOptions;
  readonly #now: () => number;
  readonly #windows = new Map<Bucket, Window>();
  #content: number[] = [];

  constructor(now: () => number, options: Partial<LimitOptions> = {}) {
    this.#now = now;
    this.#limits = { ...USUAL, ...options };
  }

  counted(bucket: Bucket): Counted {
    const { startedAt, used } = this.#window(bucket);
    const limit = this.#limits[bucket];
    const reset = Math.ceil((startedAt + WINDOW_MS[bucket]) / 1000);
    return { bucket, limit, used: Math.min(used, limit), remaining: Math.max(0, limit - used), reset };
  }

  /** False when there is nothing left; then nothing is counted. */
  spend(bucket: Bucket, points: number): boolean {
    const window = this.#window(bucket);
    if (window.used + points > this.#limits[bucket]) return false;
    window.used += points;
    return true;
  }

  /** Undefined when it may be made; else after how many seconds to ask again. */
  makeContent(): number | undefined {
    const now = this.#now();
    this.#content = this.#content.filter((at) => now - at < 3_600_000);
    const inMinute = this.#content.filter((at) => now - at < 60_000);
    const { contentPerMinute, contentPerHour } = this.#limits;
    if (inMinute.length >= contentPerMinute) return Math.ceil((60_000 - (now - (inMinute[0] ?? now))) / 1000);
    if (this.#content.length >= contentPerHour)
      return Math.ceil((3_600_000 - (now - (this.#content[0] ?? now))) / 1000);
    this.#content.push(now);
    return undefined;
  }

  #window(bucket: Bucket): Window {
    const now = this.#now();
    const known = this.#windows.get(bucket);
    if (known && now - known.startedAt < WINDOW_MS[bucket]) return known;
    const window = { startedAt: now, used: 0 };
    this.#windows.set(bucket, window);
    return window;
  }
}
