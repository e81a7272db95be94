import type { Bus } from "../../bus/bus.ts";

/**
 * What is to be done with an event that a handler is offered. `call`: call it now. `in-call`: it is being called with this
 * one. `busy`: it is being called with another one. `behind`: others came before, and are not through yet.
 */
export type QueuePlace = "call" | "in-call" | "busy" | "behind";

/** One plugin's hook on one bus: the call that takes long, and the events that came meanwhile. */
export class HandlerQueue {
  #called: string | undefined;
  #over: Promise<void> = Promise.resolve();
  /** Oldest first. */
  readonly #waiting = new Set<string>();

  get isBusy(): boolean {
    return this.#called !== undefined;
  }

  get over(): Promise<void> {
    return this.#over;
  }

  /** Events that came while the handler was busy, oldest first. */
  get waiting(): readonly string[] {
    return [...this.#waiting];
  }

  /** Notes that a call takes long; `over` must call `end` before it resolves. */
  begin(record: string, over: Promise<void>): void {
    this.#called = record;
    this.#over = over;
  }

  end(): void {
    this.#called = undefined;
  }

  /** The place of an event; one that cannot be called is queued. `isWaiting` tells which have not left the queue meanwhile. */
  placeOf(record: string, isWaiting: (record: string) => boolean): QueuePlace {
    if (this.#called === record) return "in-call";
    if (this.isBusy) {
      this.#waiting.add(record);
      return "busy";
    }
    const first = this.first(isWaiting);
    if (first === undefined || first === record) {
      this.#waiting.delete(record);
      return "call";
    }
    this.#waiting.add(record);
    return "behind";
  }

  /** The event that is to be called next. */
  first(isWaiting: (record: string) => boolean): string | undefined {
    for (const record of this.#waiting) {
      if (isWaiting(record)) return record;
      this.#waiting.delete(record);
    }
    return undefined;
  }
}

/** Calls of event hooks that take long, and that the others do not wait for: one at a time for each bus and plugin. */
export class SlowCalls {
  readonly #queues = new WeakMap<Bus, Map<string, HandlerQueue>>();

  queue(bus: Bus, handler: string): HandlerQueue {
    const queues = this.#queues.get(bus) ?? new Map<string, HandlerQueue>();
    this.#queues.set(bus, queues);
    const queue = queues.get(handler) ?? new HandlerQueue();
    queues.set(handler, queue);
    return queue;
  }

  /** Whether a slow call of this bus is not over yet. */
  has(bus: Bus): boolean {
    return [...(this.#queues.get(bus)?.values() ?? [])].some((queue) => queue.isBusy);
  }

  /** Resolves when the slow calls of this moment are over, at their deadline at the latest. */
  async settled(bus: Bus): Promise<void> {
    await Promise.all([...(this.#queues.get(bus)?.values() ?? [])].map((queue) => queue.over));
  }
}

/** For callers that keep none of their own. */
export const SLOW_CALLS = new SlowCalls();
