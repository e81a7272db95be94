import { createDue } from "../../bus/ledger/due.ts";
import type { Action } from "../../bus/types.ts";
import type { Parking } from "./settle.ts";

export interface RouteLineOptions {
  park(parking: Parking): void;
  /** Actions that were written for the same address keep their order before they are routed. */
  keyOf(action: Action): string;
}

/** Actions that cannot be routed before the first of them, which was written for the same address, is. */
interface ActionsOfOrigin {
  readonly key: string;
  readonly actions: Action[];
  /** 0: the first may be routed. */
  until: number;
}

/**
 * The line before beforeRoute: one after another, in the order of the log. An action that cannot be routed yet keeps
 * only those waiting that were written for the same address.
 */
export class RouteLine {
  readonly #options: RouteLineOptions;
  readonly #incoming: Action[] = [];
  readonly #origins = new Map<string, ActionsOfOrigin>();
  readonly #due = createDue<ActionsOfOrigin>();
  /** Origins whose wait is over; they take turns with what comes in. */
  readonly #released: ActionsOfOrigin[] = [];
  #isTurnOfReleased = false;
  #routing: Action | undefined;

  constructor(options: RouteLineOptions) {
    this.#options = options;
  }

  add(action: Action): void {
    this.#incoming.push(action);
  }

  /** Whether something is being routed, or could be. */
  get busy(): boolean {
    return this.routing || this.#incoming.length + this.#released.length > 0;
  }

  /** Whether something is being routed. */
  get routing(): boolean {
    return this.#routing !== undefined;
  }

  nextAt(): number | undefined {
    return this.#due.next();
  }

  /** The next one to route; `passed` or `wait` must follow. */
  next(now: number): Action | undefined {
    if (this.#routing) return undefined;
    for (const origin of this.#due.look(now, Number.POSITIVE_INFINITY)) this.#release(origin);
    this.#isTurnOfReleased = !this.#isTurnOfReleased;
    const released = this.#isTurnOfReleased ? this.#released[0]?.actions[0] : undefined;
    this.#routing = released ?? this.#nextIncoming() ?? this.#released[0]?.actions[0];
    return this.#routing;
  }

  /** It was routed, for good or bad: those behind it may go on. */
  passed(action: Action): void {
    this.#routing = undefined;
    const origin = this.#originOf(action);
    if (!origin) return;
    this.#released.shift();
    origin.actions.shift();
    if (origin.actions.length > 0) this.#released.push(origin);
    else this.#origins.delete(origin.key);
  }

  /** It cannot be routed before a time. */
  wait(action: Action, until: number): void {
    this.#routing = undefined;
    let origin = this.#originOf(action);
    if (origin) this.#released.shift();
    else {
      origin = { key: this.#options.keyOf(action), actions: [action], until };
      this.#origins.set(origin.key, origin);
    }
    origin.until = until;
    this.#due.put(origin, until, undefined);
  }

  /** Its wait is over now, if it is one that others wait for. */
  hurry(id: string): boolean {
    if (this.#routing?.id === id) return false;
    const origin = [...this.#origins.values()].find(({ actions }) => actions[0]?.id === id);
    if (origin) this.#release(origin);
    return origin !== undefined;
  }

  #release(origin: ActionsOfOrigin): void {
    if (origin.until === 0) return;
    this.#due.delete(origin);
    origin.until = 0;
    this.#released.push(origin);
  }

  /** The origin that it is the first of. */
  #originOf(action: Action): ActionsOfOrigin | undefined {
    const origin = this.#origins.get(this.#options.keyOf(action));
    return origin?.actions[0] === action ? origin : undefined;
  }

  #nextIncoming(): Action | undefined {
    for (let action = this.#incoming.shift(); action; action = this.#incoming.shift()) {
      const origin = this.#origins.get(this.#options.keyOf(action));
      if (!origin) return action;
      origin.actions.push(action);
      const reason = `waits behind ${origin.actions[0]?.id}, which beforeRoute keeps waiting`;
      this.#options.park({ id: action.id, reason, until: origin.until === 0 ? undefined : origin.until });
    }
    return undefined;
  }
}
