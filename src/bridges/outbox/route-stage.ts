import { createDue } from "../../bus/ledger/due.ts";
import { Fifo } from "./fifo.ts";
import type { Item, Origin, Park } from "./outbox-item.ts";

export interface RouteStageOptions {
  readonly park: Park;
  /** Which actions keep their order among each other before they are routed. */
  originOf(item: Item): string;
}

/**
 * The way to beforeRoute: one after another, in the order of the log. An action that cannot be routed yet keeps only
 * those waiting that were written for the same address.
 */
export class RouteStage {
  readonly #options: RouteStageOptions;
  readonly #incoming = new Fifo<Item>();
  readonly #origins = new Map<string, Origin>();
  readonly #due = createDue<Origin>();
  /** Origins whose wait is over; they take turns with what comes in. */
  readonly #released = new Fifo<Origin>();
  #isTurnOfReleased = false;
  #routing: Item | undefined;

  constructor(options: RouteStageOptions) {
    this.#options = options;
  }

  add(item: Item): void {
    this.#incoming.push(item);
  }

  /** Whether something is being routed, or could be. */
  get busy(): boolean {
    return this.#routing !== undefined || this.#incoming.length + this.#released.length > 0;
  }

  /** Whether something is being routed. */
  get routing(): boolean {
    return this.#routing !== undefined;
  }

  nextAt(): number | undefined {
    return this.#due.next();
  }

  /** The next one to route; `passed` or `wait` must follow. */
  take(now: number): Item | undefined {
    if (this.#routing) return undefined;
    for (const origin of this.#due.look(now, Number.POSITIVE_INFINITY)) this.#release(origin);
    this.#isTurnOfReleased = !this.#isTurnOfReleased;
    const released = this.#isTurnOfReleased ? this.#released.first?.items.first : undefined;
    this.#routing = released ?? this.#nextIncoming() ?? this.#released.first?.items.first;
    return this.#routing;
  }

  /** It was routed, for good or bad: those behind it may go on. */
  passed(item: Item): void {
    this.#routing = undefined;
    const { origin } = item;
    if (!origin) return;
    item.origin = undefined;
    this.#released.shift();
    origin.items.shift();
    if (origin.items.length > 0) this.#released.push(origin);
    else this.#origins.delete(origin.key);
  }

  /** It cannot be routed before a time. */
  wait(item: Item, until: number): void {
    this.#routing = undefined;
    if (item.origin) this.#released.shift();
    else this.#makeOrigin(item, until);
    const origin = item.origin;
    if (!origin) return;
    origin.until = until;
    this.#due.put(origin, until, undefined);
  }

  /** Its wait is over now, if it is one that others wait for. */
  hurry(item: Item): boolean {
    const { origin } = item;
    if (!origin || origin.items.first !== item || this.#routing === item) return false;
    this.#release(origin);
    return true;
  }

  #release(origin: Origin): void {
    if (origin.until === 0) return;
    this.#due.delete(origin);
    origin.until = 0;
    this.#released.push(origin);
  }

  #makeOrigin(item: Item, until: number): void {
    const origin: Origin = { key: this.#options.originOf(item), items: new Fifo(), until };
    origin.items.push(item);
    item.origin = origin;
    this.#origins.set(origin.key, origin);
  }

  #nextIncoming(): Item | undefined {
    for (let item = this.#incoming.shift(); item; item = this.#incoming.shift()) {
      const origin = this.#origins.get(this.#options.originOf(item));
      if (!origin) return item;
      item.origin = origin;
      origin.items.push(item);
      const reason = `waits behind ${origin.items.first?.action.id}, which beforeRoute keeps waiting`;
      this.#options.park(item, reason, origin.until === 0 ? undefined : origin.until);
    }
    return undefined;
  }
}
