import type { Bus } from "../../bus/bus.ts";

/** What a plugin may do with an event that it is offered: take it, or wait for the call that is under way, or for its turn. */
export type Turn = "now" | "itself" | "busy" | "behind";

/** One plugin's hook on one bus: the call that takes long, and the events that came meanwhile. */
export class Line {
  #record: string | undefined;
  #over: Promise<void> = Promise.resolve();
  /** Oldest first. */
  readonly #behind = new Set<string>();

  get isBusy(): boolean {
    return this.#record !== undefined;
  }

  get over(): Promise<void> {
    return this.#over;
  }

  /** Events that wait for their turn, oldest first. */
  get behind(): readonly string[] {
    return [...this.#behind];
  }

  /** Notes that a call takes long; `over` must call `end` before it resolves. */
  begin(record: string, over: Promise<void>): void {
    this.#record = record;
    this.#over = over;
  }

  end(): void {
    this.#record = undefined;
  }

  /** Whether it is the turn of an event; who is to wait is kept in line. `isWaiting` tells who has not left it meanwhile. */
  turnOf(record: string, isWaiting: (record: string) => boolean): Turn {
    if (this.#record === record) return "itself";
    if (this.isBusy) {
      this.#behind.add(record);
      return "busy";
    }
    const first = this.first(isWaiting);
    if (first === undefined || first === record) {
      this.#behind.delete(record);
      return "now";
    }
    this.#behind.add(record);
    return "behind";
  }

  /** The event whose turn is next. */
  first(isWaiting: (record: string) => boolean): string | undefined {
    for (const record of this.#behind) {
      if (isWaiting(record)) return record;
      this.#behind.delete(record);
    }
    return undefined;
  }
}

/** Calls of event hooks that take long, so that nobody waits for them: one at a time for each bus and plugin. */
export class SlowCalls {
  readonly #lines = new WeakMap<Bus, Map<string, Line>>();

  line(bus: Bus, handler: string): Line {
    const lines = this.#lines.get(bus) ?? new Map<string, Line>();
    this.#lines.set(bus, lines);
    const line = lines.get(handler) ?? new Line();
    lines.set(handler, line);
    return line;
  }

  /** Whether a call of this bus is under way that nobody waits for. */
  has(bus: Bus): boolean {
    return [...(this.#lines.get(bus)?.values() ?? [])].some((line) => line.isBusy);
  }

  /** Resolves when the calls of this moment are over, at their deadline at the latest. */
  async settled(bus: Bus): Promise<void> {
    await Promise.all([...(this.#lines.get(bus)?.values() ?? [])].map((line) => line.over));
  }
}

/** For callers that keep none of their own. */
export const SLOW_CALLS = new SlowCalls();
