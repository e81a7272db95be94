/**
 * Makes a call that met another's change win the next time. Calls of a plugin run side by side and look at the end
 * whether another changed what they worked on. One that lost runs again with the lock of its plugin, and then:
 *
 * - While a call has the lock, no other call commits a change of a key that the holder worked on in an earlier run. It
 *   loses instead, and waits in line for the lock. What has nothing to do with those keys goes on.
 * - So the second run can lose only over keys that the first did not touch. For the third the lock covers all keys, and
 *   it wins.
 * - A call has one lock at most, its plugin's, and waits for nothing but its own hook while it has it: no two can wait
 *   for each other. Its deadline ends it, and releases the lock. The time of an agent that the hook runs does not count
 *   for that deadline: only those that change the same keys wait in line meanwhile.
 */
export class KeyLocks {
  readonly #plugins = new Map<string, Holding>();

  /** Waits for the lock of a plugin, in the order of asking; from then on the keys are the holder's. */
  async acquire(plugin: string, keys: Iterable<string>): Promise<KeyLock> {
    const lock = new KeyLock(keys, () => this.#passOn(plugin));
    const holding = this.#plugins.get(plugin);
    if (!holding) {
      this.#plugins.set(plugin, { lock, waiting: [] });
      return lock;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    holding.waiting.push({ lock, begin: resolve });
    await promise;
    // The call that released it goes on first: a slow call must settle in a tick of its own.
    await new Promise((resolve) => setImmediate(resolve));
    return lock;
  }

  /** Whether the holder of the lock works on one of these keys. */
  blocks(plugin: string, keys: Iterable<string>): boolean {
    return this.#plugins.get(plugin)?.lock.covers(keys) === true;
  }

  /** The next call has it at once: none commits in between. */
  #passOn(plugin: string): void {
    const holding = this.#plugins.get(plugin);
    const next = holding?.waiting.shift();
    if (!holding || !next) this.#plugins.delete(plugin);
    else {
      holding.lock = next.lock;
      next.begin();
    }
  }
}

interface Holding {
  lock: KeyLock;
  readonly waiting: { readonly lock: KeyLock; begin(): void }[];
}

/** The right of one call to win. */
export class KeyLock {
  readonly #keys: ReadonlySet<string>;
  readonly #onRelease: () => void;
  #all = false;

  constructor(keys: Iterable<string>, onRelease: () => void) {
    this.#keys = new Set(keys);
    this.#onRelease = onRelease;
  }

  covers(keys: Iterable<string>): boolean {
    for (const key of keys) if (this.#all || this.#keys.has(key)) return true;
    return false;
  }

  /** It lost with the lock: it touches other keys each time. */
  coverAll(): void {
    this.#all = true;
  }

  release(): void {
    this.#onRelease();
  }
}
