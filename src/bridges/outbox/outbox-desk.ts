import type { DeferredAction } from "../../bus/bus.ts";
import { compareCursors } from "../../bus/cursor.ts";
import { type Cursor, START } from "../../bus/ports.ts";
import type { CircuitMember } from "../circuit.ts";
import type { OutboxOptions } from "./outbox.ts";
import { OutboxCarrier } from "./outbox-carrier.ts";
import { OutboxMemory } from "./outbox-memory.ts";
import { OutboxRouter } from "./outbox-router.ts";

/** Actions in memory that the cursor cannot pass yet; when there are more, the oldest are put off. */
const WINDOW = 500;
const BATCH = 100;

interface Deferred extends DeferredAction {
  /** Where it lies in the log. */
  readonly at: Cursor;
}

/** What an outbox does in one turn of its loop. */
export class OutboxDesk {
  readonly #options: OutboxOptions;
  readonly #memory: OutboxMemory;
  readonly #member: CircuitMember;
  readonly #router: OutboxRouter;
  readonly #carrier: OutboxCarrier;
  #mayHaveMore = false;
  #mustLoad = false;
  /** Actions that were put off in an earlier life or revived, in the order of the log; the next one is the last. */
  #deferred: Deferred[] = [];
  /** Undefined: it was never woken, so what waits on the bus was not read. */
  #revivals: number | undefined;

  constructor(options: OutboxOptions, schedule: () => void) {
    this.#options = options;
    this.#memory = new OutboxMemory(options, schedule);
    const retryLimits = () => options.host.retryLimits();
    // Also when the way is broken again: whoever waits for it must know until when.
    const isConcerned = (bridge: string): boolean => this.hasWork || this.#carrier.stage.firstFor(bridge) !== undefined;
    this.#member = options.circuits.join((bridge) => isConcerned(bridge) && schedule(), retryLimits);
    this.#carrier = new OutboxCarrier(this.#memory, this.#member, () => this.readMore());
    this.#router = new OutboxRouter(this.#memory, {
      onCalled: () => this.readMore(),
      onRouted: (item, bridge) => {
        const now = this.#memory.now();
        this.#carrier.stage.add({ item, key: this.#memory.keyOf(item.action, item.target), bridge, now });
      },
    });
  }

  /** Calls or routings have not come back. */
  get underWay(): boolean {
    return this.#carrier.stage.running > 0 || this.#router.stage.routing;
  }

  /** Something could be done now. */
  get hasWork(): boolean {
    if (this.#memory.jobs.length > 0 || this.#mayHaveMore || this.#mustLoad) return true;
    return this.#carrier.hasBegun || this.#router.stage.busy || this.#carrier.stage.canStart(this.#memory.now());
  }

  nextAt(): number | undefined {
    const both = [this.#router.stage.nextAt(), this.#carrier.stage.nextAt(this.#memory.now())];
    const times = both.filter((at) => at !== undefined);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  readMore(): void {
    this.#mayHaveMore = true;
    const revivals = this.#options.bus.revivals();
    if (revivals !== this.#revivals) this.#mustLoad = true;
    this.#revivals = revivals;
  }

  /** Tells whether it waited and is tried now; undefined when nobody knows it. */
  hurry(id: string): boolean | undefined {
    const item = this.#memory.items.get(id);
    if (!item) return undefined;
    return this.#router.stage.hurry(item) || this.#carrier.stage.hurry(item, this.#memory.now());
  }

  stop(): void {
    this.#memory.stopped = true;
    this.#member.quit();
  }

  /** Does the jobs; tells whether there were any. Throws when one cannot be done now. */
  write(): boolean {
    const { jobs } = this.#memory;
    const isAny = jobs.length > 0;
    for (let job = jobs.first; job; job = jobs.first) {
      job();
      jobs.shift();
    }
    return isAny;
  }

  /** Reads what is new and makes jobs of what can be begun. */
  begin(): void {
    const now = this.#memory.now();
    this.#read();
    this.#router.begin(now);
    this.#carrier.begin(now);
    this.#makeRoom(now);
  }

  /** Makes the calls that are on disk as begun. */
  call(): void {
    this.#carrier.call();
    // Not `hasWork`: what only waits for a call that another bus makes is told when that ends.
    const mayRoute = this.#router.stage.busy && !this.#options.host.stopSignal.aborted;
    if (!this.underWay && (this.#memory.jobs.length > 0 || mayRoute)) this.#memory.schedule();
  }

  #read(): void {
    const { bus } = this.#options;
    const { items, unparked } = this.#memory;
    if (this.#mustLoad) this.#load();
    while (this.#mayHaveMore && unparked.size < WINDOW) {
      const batch = bus.freshActions(BATCH, (id) => !items.has(id));
      if (batch.length < BATCH) this.#mayHaveMore = false;
      for (const { action, cursor } of batch) {
        this.#takeDeferred(({ at }) => compareCursors(at, cursor) < 0);
        this.#take(action, undefined);
      }
    }
    if (!this.#mayHaveMore) this.#takeDeferred(() => true);
  }

  #load(): void {
    const { bus } = this.#options;
    const known = bus.deferredActions().filter(({ action }) => !this.#memory.items.has(action.id));
    const places = known.length === 0 ? {} : bus.state().deferredActionIds;
    this.#deferred = known.map((one) => ({ ...one, at: places[one.action.id]?.at ?? START })).reverse();
    this.#mustLoad = false;
  }

  /** One that was put off may be older or younger than one that was under way: both are taken in the order of the log. */
  #takeDeferred(isNext: (deferred: Deferred) => boolean): void {
    for (let next = this.#deferred.at(-1); next && isNext(next); next = this.#deferred.at(-1)) {
      this.#take(next.action, next.since);
      this.#deferred.pop();
    }
  }

  #take(...given: Parameters<OutboxMemory["take"]>): void {
    const item = this.#memory.take(...given);
    if (item) this.#router.stage.add(item);
  }

  /** Many actions for one slow address must not keep those for others from being read. */
  #makeRoom(now: number): void {
    const { stage } = this.#carrier;
    if (!this.#mayHaveMore || this.#router.stage.busy || stage.full || stage.canStart(now)) return;
    for (const item of [...this.#memory.unparked].slice(0, WINDOW / 2)) {
      this.#memory.park(item, "many are before it", undefined);
    }
    this.#memory.schedule();
  }
}
