import type { WireAnswer } from "./transport.ts";

/** What GitHub counts apart; `content` are the calls that make comments, reviews, pull requests and the like. */
export type Bucket = "core" | "search" | "graphql" | "content";

interface Known {
  readonly limit: number;
  readonly remaining: number;
  readonly resetAt: number;
}

/** GitHub allows 80 in a minute and 500 in an hour for everything that uses the token. */
const CONTENT = { perMinute: 60, perHour: 400 };
export const MADE_ENOUGH = `prloom makes no more than ${CONTENT.perHour} comments, pull requests and the like in an hour with one token, and ${CONTENT.perMinute} in a minute: it goes on after that`;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** What is left of a token's limits. A share of each is left to the people who use the same token. */
export class RateBudget {
  /** The share that is left alone, from 0 to 1. */
  readonly reserve: number;
  readonly #known = new Map<Bucket, Known>();
  #made: number[] = [];
  #heldUntil = 0;

  /** @param reserve the share that is left alone, from 0 to 1 */
  constructor(reserve: number) {
    this.reserve = reserve;
  }

  /** GitHub asks to be left alone, for whatever it is asked; who goes on is shut out. By our clock. */
  holdFor(waitMs: number, now: number): void {
    this.#heldUntil = now + Math.min(waitMs, HOUR_MS);
  }

  /** How long that is still to be. */
  heldMs(now: number): number {
    // Also with a clock that was set back.
    return this.#heldUntil > now && this.#heldUntil - now <= HOUR_MS ? this.#heldUntil - now : 0;
  }

  /** How long a call has to wait; 0: not at all. */
  waitMs(bucket: Bucket, now: number): number {
    if (bucket === "content") return this.#contentWaitMs(now);
    const known = this.#known.get(bucket);
    if (!known || known.resetAt <= now || known.remaining > known.limit * this.reserve) return 0;
    return known.resetAt - now;
  }

  /** Takes over what an answer tells. */
  learn({ headers }: WireAnswer): void {
    const [limit, remaining, reset] = ["limit", "remaining", "reset"].map((name) =>
      Number(headers[`x-ratelimit-${name}`]),
    );
    const bucket = headers["x-ratelimit-resource"];
    if (!(bucket === "core" || bucket === "search" || bucket === "graphql")) return;
    if (!limit || remaining === undefined || Number.isNaN(remaining) || !reset) return;
    this.#known.set(bucket, { limit, remaining, resetAt: reset * 1000 });
  }

  /** What is known, for people. */
  known(): ReadonlyMap<Bucket, Known> {
    return this.#known;
  }

  makesContent(now: number): void {
    this.#made = [...this.#made.filter((at) => now - at < HOUR_MS), now];
  }

  #contentWaitMs(now: number): number {
    const wait = (most: number, spanMs: number): number => {
      const inSpan = this.#made.filter((at) => now - at < spanMs);
      const first = inSpan[inSpan.length - most];
      return first === undefined ? 0 : first + spanMs - now;
    };
    return Math.max(wait(CONTENT.perMinute, MINUTE_MS), wait(CONTENT.perHour, HOUR_MS));
  }
}
