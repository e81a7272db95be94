import type { Bus, DeferredAction } from "../../bus/bus.ts";
import { compareCursors } from "../../bus/cursor.ts";
import { type Cursor, START } from "../../bus/ports.ts";
import type { Action } from "../../bus/types.ts";
import type { Clock } from "../../kernel/clock.ts";
import { isHeld, type Parking, parkAction } from "./settle.ts";

/** Actions in memory that the cursor cannot pass yet; when there are more, the oldest are parked. */
const WINDOW = 500;
const BATCH = 100;

interface DeferredInLog extends DeferredAction {
  /** Where it lies in the log. */
  readonly at: Cursor;
}

/**
 * The actions of one bus that are in memory, each taken once and in the order of the log. One that is parked waits on
 * the bus too, so that the cursor may pass it.
 */
export class TakenActions {
  readonly #bus: Bus;
  readonly #clock: Clock;
  /** By id: when it was first parked; undefined when it is not. */
  readonly #since = new Map<string, number | undefined>();
  /** The ids of those that are not parked, oldest first. */
  readonly #unparked = new Set<string>();
  #mayHaveMore = false;
  #mustLoad = false;
  /** Actions that were parked in an earlier life or revived, in the order of the log; the next one is the last. */
  #deferred: DeferredInLog[] = [];
  /** Undefined: it was never woken, so what waits on the bus was not read. */
  #revivals: number | undefined;

  constructor(bus: Bus, clock: Clock) {
    this.#bus = bus;
    this.#clock = clock;
  }

  /** There may be more on the bus. */
  look(): void {
    this.#mayHaveMore = true;
    const revivals = this.#bus.revivals();
    if (revivals !== this.#revivals) this.#mustLoad = true;
    this.#revivals = revivals;
  }

  /** Some may not have been taken: none has looked, or there was no room. */
  get mayHaveMore(): boolean {
    return this.#mayHaveMore || this.#mustLoad;
  }

  has(id: string): boolean {
    return this.#since.has(id);
  }

  get unparked(): ReadonlySet<string> {
    return this.#unparked;
  }

  isParked(id: string): boolean {
    return this.#since.get(id) !== undefined;
  }

  parkedSince(id: string): number | undefined {
    return this.#since.get(id);
  }

  /** Has it wait on the bus, once: later reasons to wait are not written. */
  park(parking: Parking): void {
    const { id } = parking;
    if (!this.has(id) || this.isParked(id)) return;
    parkAction(this.#bus, parking);
    this.isWaiting(id);
  }

  /** The answers of hooks end their waits: without a wait of our own, a kill after them would lose the action. */
  hold(id: string, until: number | undefined): void {
    if (!isHeld(this.#bus, id)) parkAction(this.#bus, { id, reason: "waits for beforeRoute", until });
    this.isWaiting(id);
  }

  /** It waits on the bus now. */
  isWaiting(id: string): void {
    this.#since.set(id, this.#since.get(id) ?? this.#clock.now());
    this.#unparked.delete(id);
  }

  /** It is done with. */
  forget(id: string): void {
    this.#since.delete(id);
    this.#unparked.delete(id);
  }

  /** Those to park so that there is room for more. */
  oldest(): string[] {
    return [...this.#unparked].slice(0, WINDOW / 2);
  }

  /** Takes what is new, as much as there is room for. One by one: what was taken before a failure is not lost. */
  *take(): Generator<Action> {
    if (this.#mustLoad) this.#load();
    while (this.#mayHaveMore && this.#unparked.size < WINDOW) {
      const batch = this.#bus.freshActions(BATCH, (id) => !this.has(id));
      if (batch.length < BATCH) this.#mayHaveMore = false;
      for (const { action, cursor } of batch) {
        yield* this.#takeDeferred(({ at }) => compareCursors(at, cursor) < 0);
        yield* this.#takeOne(action, undefined);
      }
    }
    if (!this.#mayHaveMore) yield* this.#takeDeferred(() => true);
  }

  #load(): void {
    const known = this.#bus.deferredActions().filter(({ action }) => !this.has(action.id));
    const places = known.length === 0 ? {} : this.#bus.state().deferredActionIds;
    this.#deferred = known.map((one) => ({ ...one, at: places[one.action.id]?.at ?? START })).reverse();
    this.#mustLoad = false;
  }

  /** One that was parked may be older or younger than one that was under way: both are taken in the order of the log. */
  *#takeDeferred(isNext: (deferred: DeferredInLog) => boolean): Generator<Action> {
    for (let next = this.#deferred.at(-1); next && isNext(next); next = this.#deferred.at(-1)) {
      this.#deferred.pop();
      yield* this.#takeOne(next.action, next.since);
    }
  }

  *#takeOne(action: Action, since: number | undefined): Generator<Action> {
    if (this.has(action.id)) return;
    this.#since.set(action.id, since);
    if (since === undefined) this.#unparked.add(action.id);
    yield action;
  }
}
