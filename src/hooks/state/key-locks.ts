/**
 * Makes a call that met another's change win the next time. Calls of a plugin run side by side and look at the end
 * whether another changed what they worked on. One that lost runs again with the turn of its plugin, and then:
 *
 * - While a call has the turn, no other call commits a change of a key that the holder worked on in an earlier run. It
 *   loses instead, and waits in line for the turn. What has nothing to do with those keys goes on.
 * - So the second run can lose only over keys that the first did not touch. The third then has all keys, and wins.
 * - A call has one turn at most, its plugin's, and waits for nothing but its own hook while it has it: no two can wait
 *   for each other. Its deadline ends it, and the turn with it. The time of an agent that the hook runs does not count
 *   for that deadline: so long those wait in line that change the same keys, and no others.
 */
export class Turns {
  readonly #lines = new Map<string, Line>();

  /** Waits for the turn of a plugin, in the order of asking; from then on the keys are the holder's. */
  async take(plugin: string, keys: Iterable<string>): Promise<Turn> {
    const turn = new Turn(keys, () => this.#end(plugin));
    const line = this.#lines.get(plugin);
    if (!line) {
      this.#lines.set(plugin, { holder: turn, waiting: [] });
      return turn;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    line.waiting.push({ turn, begin: resolve });
    await promise;
    // Who ended before goes on first: a call that takes long must settle in a turn of the loop of its own.
    await new Promise((resolve) => setImmediate(resolve));
    return turn;
  }

  /** Whether somebody with the turn works on one of these keys. */
  blocks(plugin: string, keys: Iterable<string>): boolean {
    return this.#lines.get(plugin)?.holder.covers(keys) === true;
  }

  /** The next one has it in the same breath: nobody commits in between. */
  #end(plugin: string): void {
    const line = this.#lines.get(plugin);
    const next = line?.waiting.shift();
    if (!line || !next) this.#lines.delete(plugin);
    else {
      line.holder = next.turn;
      next.begin();
    }
  }
}

interface Line {
  holder: Turn;
  readonly waiting: { readonly turn: Turn; begin(): void }[];
}

/** The right of one call to win. */
export class Turn {
  readonly #keys: ReadonlySet<string>;
  readonly #onEnd: () => void;
  #all = false;

  constructor(keys: Iterable<string>, onEnd: () => void) {
    this.#keys = new Set(keys);
    this.#onEnd = onEnd;
  }

  covers(keys: Iterable<string>): boolean {
    for (const key of keys) if (this.#all || this.#keys.has(key)) return true;
    return false;
  }

  /** It lost with the turn: it touches other keys each time. */
  holdAll(): void {
    this.#all = true;
  }

  end(): void {
    this.#onEnd();
  }
}
