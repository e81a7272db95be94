import type { Clock } from "../../kernel/clock.ts";

/** A poll has a deadline, of a minute, and looks at several things. */
const LOOK_MS = 12_000;

/**
 * How long a look at one kind of things may take. It ends then with what it has, and the rest comes with the next one: a poll that takes
 * too long is lost as a whole, and the one after it would take as long.
 */
export class LookTime {
  readonly #clock: Clock;
  readonly #began: number;
  #isAny = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#began = clock.now();
  }

  /** Whether another one may be begun. One at least: a slow GitHub is not read in no time. */
  mayBegin(): boolean {
    const isFirst = !this.#isAny;
    this.#isAny = true;
    // Also with a clock that was set back.
    return isFirst || Math.abs(this.#clock.now() - this.#began) <= LOOK_MS;
  }

  /** Another one first in each minute, so that one that takes long does not keep the others waiting for ever. */
  inTurn<T>(all: readonly T[]): readonly T[] {
    const first = all.length === 0 ? 0 : Math.floor(this.#began / 60_000) % all.length;
    return [...all.slice(first), ...all.slice(0, first)];
  }
}
