/** What there is only so much of: agents at work at the same time, and plans that are open. */
export type Place = "agent" | "open";

export interface PlacesOptions {
  isFree(place: Place): boolean;
  /** Has the plan looked at, which then takes the place or does not; `answered` is to be called after that. False: it cannot be. */
  ask(id: string): boolean;
}

/**
 * The plans that wait for a place. First come, first served: one after the other is asked as long as a place is free. Not all at
 * once, because of a hundred that wait one gets it; and not only the first, which may wait for an agent that is still busy.
 */
export class Places {
  readonly #options: PlacesOptions;
  /** In the order in which they began to wait. */
  readonly #waiting = { agent: new Set<string>(), open: new Set<string>() };
  /** Who is asked now, and who is next. */
  readonly #asked = new Map<Place, string>();
  readonly #left = new Map<Place, Iterator<string>>();

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  /** The plan waits for this place; undefined: for none. One that waited for it already stays where it is in the queue. */
  waits(id: string, place: Place | undefined): void {
    for (const other of ["agent", "open"] as const) if (other !== place) this.#waiting[other].delete(id);
    if (place) this.#waiting[place].add(id);
  }

  isWaiting(id: string): boolean {
    return this.#waiting.agent.has(id) || this.#waiting.open.has(id);
  }

  /** Those that wait for it, the one that waits longest first. */
  queue(place: Place): string[] {
    return [...this.#waiting[place]];
  }

  /** A place may have become free. */
  offer(place: Place): void {
    this.#left.set(place, this.#waiting[place].values());
    if (!this.#asked.has(place)) this.#askNext(place);
  }

  /** A plan was looked at. If it had been asked, the place is taken now, or the next one's. */
  answered(id: string): void {
    for (const [place, asked] of [...this.#asked]) if (asked === id) this.#askNext(place);
  }

  #askNext(place: Place): void {
    const left = this.#left.get(place);
    this.#asked.delete(place);
    while (left && this.#options.isFree(place)) {
      const { value: id, done } = left.next();
      if (done) return;
      if (!this.#options.ask(id)) continue;
      this.#asked.set(place, id);
      return;
    }
  }
}
