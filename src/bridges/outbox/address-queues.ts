import { createDue } from "../../bus/ledger/due.ts";
import { type CircuitMember, type Circuits, circuitState } from "../circuit.ts";
import type { Parking, RoutedAction } from "./settle.ts";

/** Calls at once, of bridges that have no number of their own. */
const MAX_CALLS = 8;

/** The actions for one address, in the order of the log. Only the first is worked on. */
export interface AddressQueue {
  readonly key: string;
  readonly bridge: string;
  readonly items: RoutedAction[];
  /** ready: in the lane of its bridge; running: its first is being delivered; waiting: not before a time. */
  state: "ready" | "running" | "waiting";
  /** Its call counts for the calls at once. */
  isCounted: boolean;
}

export interface AddressQueuesOptions {
  readonly circuits: Circuits;
  readonly member: CircuitMember;
  park(parking: Parking): void;
  isParked(id: string): boolean;
  callsAtOnce(bridge: string): number | undefined;
  /** When an action that was put off before may be tried again. */
  waitsUntil(routed: RoutedAction): number | undefined;
}

export interface Arrival extends RoutedAction {
  readonly key: string;
  readonly bridge: string;
  readonly now: number;
}

/** One queue for each address; the queues of a bridge wait in its lane. Nothing here costs what waits. */
export class AddressQueues {
  readonly #options: AddressQueuesOptions;
  readonly #queues = new Map<string, AddressQueue>();
  /** By the id of an action. */
  readonly #queueOf = new Map<string, AddressQueue>();
  readonly #lanes = new Map<string, AddressQueue[]>();
  readonly #due = createDue<AddressQueue>();
  #running = 0;
  /** Those of them that count for `MAX_CALLS`. */
  #counted = 0;
  /** When `start` was last asked. */
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(options: AddressQueuesOptions) {
    this.#options = options;
  }

  get running(): number {
    return this.#running;
  }

  get full(): boolean {
    return this.#counted >= MAX_CALLS;
  }

  /** Puts an action at the end of its queue. */
  add({ action, target, key, bridge, now }: Arrival): void {
    const queue: AddressQueue = this.#queues.get(key) ?? { key, bridge, items: [], state: "ready", isCounted: true };
    this.#queues.set(key, queue);
    this.#queueOf.set(action.id, queue);
    queue.items.push({ action, target });
    if (queue.items.length === 1) this.#arrive(queue, now);
    else if (queue.state === "waiting") this.#parkBehind(queue, action.id);
    else if (this.#isOpen(queue.bridge, now)) this.#parkBefore(queue, action.id);
  }

  /** The queues whose first may be delivered now; they count as running. */
  start(now: number): AddressQueue[] {
    this.#lookedAt = now;
    for (const queue of this.#due.look(now, Number.POSITIVE_INFINITY)) this.#makeReady(queue, now);
    const started: AddressQueue[] = [];
    for (const [bridge, lane] of this.#lanes) {
      const most = this.#options.callsAtOnce(bridge);
      while (lane.length > 0 && (most !== undefined || !this.full) && this.#options.member.enter(bridge, now, most)) {
        const queue = lane.shift();
        if (!queue) break;
        queue.state = "running";
        queue.isCounted = most === undefined;
        this.#running += 1;
        if (queue.isCounted) this.#counted += 1;
        started.push(queue);
      }
      if (lane.length === 0) this.#lanes.delete(bridge);
    }
    return started;
  }

  /** The call for the first of a queue has ended. */
  ended({ isCounted }: AddressQueue): void {
    this.#running -= 1;
    if (isCounted) this.#counted -= 1;
  }

  /** The first is done with: the next one is the first. */
  advance(queue: AddressQueue, now: number): void {
    const item = queue.items.shift();
    if (item) this.#queueOf.delete(item.action.id);
    if (queue.items.length > 0) this.#arrive(queue, now);
    else this.#queues.delete(queue.key);
  }

  /** The first cannot be tried before a time, and nothing behind it is. */
  wait(queue: AddressQueue, until: number): void {
    queue.state = "waiting";
    this.#due.put(queue, until, undefined);
    for (let index = queue.items.length - 1; index > 0; index -= 1) {
      const { id } = queue.items[index]?.action ?? {};
      // Those before it were parked with it.
      if (id === undefined || this.#options.isParked(id)) return;
      this.#parkBehind(queue, id);
    }
  }

  /** The first waits for its bridge only. */
  waitForBridge(queue: AddressQueue): void {
    queue.state = "ready";
    this.#laneOf(queue.bridge).push(queue);
  }

  /** Parks those of the actions that are for a bridge that cannot be reached. */
  parkFor(bridge: string, ids: Iterable<string>): void {
    for (const id of ids) {
      const queue = this.#queueOf.get(id);
      if (queue?.bridge === bridge) this.#parkBefore(queue, id);
    }
  }

  /** The queue that waits longest for a bridge. */
  firstFor(bridge: string): AddressQueue | undefined {
    return this.#lanes.get(bridge)?.[0];
  }

  /** Takes that queue out of the lane, to `advance` it. */
  takeFirstFor(bridge: string): void {
    this.#lanes.get(bridge)?.shift();
  }

  /** Its wait is over now, if it is the first of its queue. */
  hurry(id: string, now: number): boolean {
    const queue = this.#queueOf.get(id);
    if (queue?.state !== "waiting" || queue.items[0]?.action.id !== id) return false;
    this.#makeReady(queue, now);
    return true;
  }

  /** Whether something could go on, if it were not for the calls of others. */
  canStart(now: number): boolean {
    return [...this.#lanes].some(([bridge, lane]) => lane.length > 0 && !this.#isOpen(bridge, now));
  }

  /**
   * When `start` may find more. A bridge that could not be reached at the last look counts even if its time has come
   * since: nothing has looked since, and nothing else says so.
   */
  nextAt(now: number): number | undefined {
    const times = [...this.#lanes.keys()]
      .filter((bridge) => this.#isOpen(bridge, Math.min(now, this.#lookedAt)))
      .map((bridge) => this.#options.circuits.of(bridge).openUntil);
    const due = this.#due.next();
    if (due !== undefined) times.push(due);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  #isOpen(bridge: string, now: number): boolean {
    return circuitState(this.#options.circuits.of(bridge), now) === "open";
  }

  #laneOf(bridge: string): AddressQueue[] {
    const lane = this.#lanes.get(bridge) ?? [];
    this.#lanes.set(bridge, lane);
    return lane;
  }

  #arrive(queue: AddressQueue, now: number): void {
    const [first] = queue.items;
    if (!first) return;
    const until = this.#options.waitsUntil(first);
    if (until !== undefined && until > now) this.wait(queue, until);
    else this.#makeReady(queue, now);
  }

  #makeReady(queue: AddressQueue, now: number): void {
    this.#due.delete(queue);
    this.waitForBridge(queue);
    const id = queue.items[0]?.action.id;
    if (id !== undefined && this.#isOpen(queue.bridge, now)) this.#parkBefore(queue, id);
  }

  /** Not one that is being delivered. */
  #parkBefore(queue: AddressQueue, id: string): void {
    if (queue.state === "running" && queue.items[0]?.action.id === id) return;
    const { bridge } = queue;
    const until = this.#options.circuits.of(bridge).openUntil;
    this.#options.park({ id, reason: `waits until bridge ${bridge} is reachable again`, until });
  }

  #parkBehind(queue: AddressQueue, id: string): void {
    const reason = `waits behind ${queue.items[0]?.action.id}, which goes to the same address`;
    this.#options.park({ id, reason, until: undefined });
  }
}
