import { createDue } from "../../bus/ledger/due.ts";
import { type CircuitMember, type Circuits, circuitState } from "../circuit.ts";
import { Fifo } from "./fifo.ts";
import type { Item, Park, Queue } from "./outbox-item.ts";

/** Calls at once. */
const MAX_CALLS = 8;

export interface DeliveryStageOptions {
  readonly circuits: Circuits;
  readonly member: CircuitMember;
  readonly park: Park;
  /** When an action that was put off before may be tried again. */
  waitsUntil(item: Item, bridge: string): number | undefined;
}

export interface Arrival {
  readonly item: Item;
  readonly key: string;
  readonly bridge: string;
  readonly now: number;
}

/** One queue for each address; the queues of a bridge wait in its lane. Nothing here costs what waits. */
export class DeliveryStage {
  readonly #options: DeliveryStageOptions;
  readonly #queues = new Map<string, Queue>();
  readonly #lanes = new Map<string, Fifo<Queue>>();
  readonly #due = createDue<Queue>();
  #running = 0;
  /** When `start` was last asked. */
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(options: DeliveryStageOptions) {
    this.#options = options;
  }

  get running(): number {
    return this.#running;
  }

  get full(): boolean {
    return this.#running >= MAX_CALLS;
  }

  /** Puts an action at the end of its queue. */
  add({ item, key, bridge, now }: Arrival): void {
    const queue: Queue = this.#queues.get(key) ?? { key, bridge, items: new Fifo(), state: "ready" };
    this.#queues.set(key, queue);
    item.queue = queue;
    queue.items.push(item);
    if (queue.items.first === item) this.#arrive(queue, now);
    else if (queue.state === "waiting") this.#parkBehind(item);
    else if (this.#isOpen(queue.bridge, now)) this.parkBefore(item);
  }

  /** The queues whose first may be delivered now; they count as running. */
  start(now: number): Queue[] {
    this.#lookedAt = now;
    for (const queue of this.#due.look(now, Number.POSITIVE_INFINITY)) this.#makeReady(queue, now);
    const started: Queue[] = [];
    for (const [bridge, lane] of this.#lanes) {
      while (lane.length > 0 && !this.full && this.#options.member.enter(bridge, now)) {
        const queue = lane.shift();
        if (!queue) break;
        queue.state = "running";
        this.#running += 1;
        started.push(queue);
      }
      if (lane.length === 0) this.#lanes.delete(bridge);
    }
    return started;
  }

  /** The call for the first of a queue has ended. */
  ended(): void {
    this.#running -= 1;
  }

  /** The first is done with: the next one is the first. */
  advance(queue: Queue, now: number): void {
    const item = queue.items.shift();
    if (item) item.queue = undefined;
    if (queue.items.length > 0) this.#arrive(queue, now);
    else this.#queues.delete(queue.key);
  }

  /** The first cannot be tried before a time, and nothing behind it is. */
  wait(queue: Queue, until: number): void {
    queue.state = "waiting";
    this.#due.put(queue, until, undefined);
    for (const item of queue.items.backwards()) {
      if (item.parked || item === queue.items.first) break;
      this.#parkBehind(item);
    }
  }

  /** The first waits for its bridge only. */
  waitForBridge(queue: Queue): void {
    queue.state = "ready";
    this.#laneOf(queue.bridge).push(queue);
  }

  /** Puts an action off that is for a bridge whose way is broken; not one that is being delivered. */
  parkBefore(item: Item): void {
    const { queue } = item;
    if (!queue || (queue.state === "running" && queue.items.first === item)) return;
    const { bridge } = queue;
    const { openUntil } = this.#options.circuits.of(bridge);
    this.#options.park(item, `waits until bridge ${bridge} is reachable again`, openUntil);
  }

  /** The queue that waits longest for a bridge. */
  firstFor(bridge: string): Queue | undefined {
    return this.#lanes.get(bridge)?.first;
  }

  /** Takes that queue out of the lane, to `advance` it. */
  takeFirstFor(bridge: string): void {
    this.#lanes.get(bridge)?.shift();
  }

  /** Its wait is over now, if it is the first of its queue. */
  hurry(item: Item, now: number): boolean {
    const { queue } = item;
    if (queue?.state !== "waiting" || queue.items.first !== item) return false;
    this.#makeReady(queue, now);
    return true;
  }

  /** Whether something could go on but for calls that others make. */
  canStart(now: number): boolean {
    return [...this.#lanes].some(([bridge, lane]) => lane.length > 0 && !this.#isOpen(bridge, now));
  }

  /**
   * When `start` may find more. A way that was broken at the last look counts even if its time has come since: nobody
   * has looked since, and nobody else says so.
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

  #laneOf(bridge: string): Fifo<Queue> {
    const lane = this.#lanes.get(bridge) ?? new Fifo<Queue>();
    this.#lanes.set(bridge, lane);
    return lane;
  }

  #arrive(queue: Queue, now: number): void {
    const item = queue.items.first;
    if (!item) return;
    const until = this.#options.waitsUntil(item, queue.bridge);
    if (until !== undefined && until > now) this.wait(queue, until);
    else this.#makeReady(queue, now);
  }

  #makeReady(queue: Queue, now: number): void {
    this.#due.delete(queue);
    queue.state = "ready";
    this.#laneOf(queue.bridge).push(queue);
    const item = queue.items.first;
    if (item && this.#isOpen(queue.bridge, now)) this.parkBefore(item);
  }

  #parkBehind(item: Item): void {
    const first = item.queue?.items.first;
    this.#options.park(item, `waits behind ${first?.action.id}, which goes to the same address`, undefined);
  }
}
