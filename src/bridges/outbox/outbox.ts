import type { Bus } from "../../bus/bus.ts";
import { retryDelay } from "../../bus/bus-state.ts";
import type { Action, ReplyAddress } from "../../bus/types.ts";
import { timerMs } from "../../kernel/clock.ts";
import { messageOf } from "../../kernel/errors.ts";
import type { Circuits } from "../circuit.ts";
import type { LoadedBridge } from "../load.ts";
import type { BridgeServices } from "../services.ts";
import { OutboxDesk } from "./outbox-desk.ts";

/** What rights and beforeRoute say about an action. `dead`: a hook gave up, and its dead letter is written. */
export type Routed =
  | { readonly kind: "deliver"; readonly target: ReplyAddress }
  | { readonly kind: "handled"; readonly by: string }
  | { readonly kind: "waiting"; readonly until: number }
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "dead"; readonly by: string; readonly reason: string };

export interface OutboxOptions {
  readonly bus: Bus;
  /** Whose bus it is; no plan: the repository's own. */
  readonly scope: { readonly planId?: string };
  bridgeFor(target: string): LoadedBridge | undefined;
  /** All targets there are, for the error that a wrong one gets. */
  targets?(): readonly string[];
  readonly circuits: Circuits;
  readonly services: BridgeServices;
  route(action: Action): Promise<Routed>;
  /** What, besides the target, order is kept for; else the token, and the source of a plan for prloom-core. */
  addressKey?(action: Action, target: ReplyAddress): string;
  /** Something was settled. */
  onSettled?(): void;
  /** A turn is over, and nothing is left that could be done now. */
  onIdle?(): void;
}

/** Delivers the actions of one bus: in order for each address, and no address waits for another. */
export interface Outbox {
  /** There may be new actions, or dead letters that were revived. */
  wake(): void;
  /** An action that waits may be tried now. */
  hurry(actionId: string): boolean | undefined;
  /** Nothing is under way, and nothing could be begun now. */
  idle(): boolean;
  /** When the next wait is over. */
  nextAt(): number | undefined;
  /** Resolves when it is idle. */
  settled(): Promise<void>;
  /** Nothing more is begun or written. Calls under way are left alone; the next start looks what became of them. */
  stop(): void;
}

/** Opens the outbox of a bus; nothing happens before `wake`. */
export function createOutbox(options: OutboxOptions): Outbox {
  return new WorkingOutbox(options);
}

/**
 * The loop: write what calls came back with, read what is new, route one, begin what may be begun, sync, call. Each
 * turn is one pass of it; whatever changes something asks for another turn.
 */
class WorkingOutbox implements Outbox {
  readonly #options: OutboxOptions;
  readonly #desk: OutboxDesk;
  #turn: NodeJS.Immediate | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  /** After a write that failed, a full disk for example: not before this time. */
  #retryAt: number | undefined;
  #stopped = false;
  #waiters: (() => void)[] = [];

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#desk = new OutboxDesk(options, () => this.#schedule());
  }

  wake(): void {
    this.#desk.readMore();
    this.#schedule();
  }

  hurry(actionId: string): boolean | undefined {
    const isHurried = this.#desk.hurry(actionId);
    if (isHurried) this.#schedule();
    return isHurried;
  }

  idle(): boolean {
    if (this.#stopped) return true;
    if (this.#turn !== undefined || this.#desk.underWay) return false;
    if (this.#retryAt !== undefined || this.#options.services.stopSignal.aborted) return true;
    return !this.#desk.hasWork;
  }

  nextAt(): number | undefined {
    if (this.#stopped) return undefined;
    return this.#retryAt ?? this.#desk.nextAt();
  }

  settled(): Promise<void> {
    if (this.idle()) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiters.push(resolve);
    });
  }

  stop(): void {
    this.#stopped = true;
    clearImmediate(this.#turn);
    clearTimeout(this.#timer);
    this.#desk.stop();
    this.#tellWaiters();
  }

  #schedule(): void {
    if (this.#stopped) return;
    // Not a microtask: calls that come back at once must not keep everything else from its turn.
    this.#turn ??= setImmediate(() => this.#takeTurn());
  }

  #takeTurn(): void {
    this.#turn = undefined;
    const { services } = this.#options;
    if (this.#retryAt === undefined || services.clock.now() >= this.#retryAt) {
      try {
        this.#retryAt = undefined;
        const wrote = this.#desk.write();
        if (!services.stopSignal.aborted) this.#desk.begin();
        const wroteMore = this.#desk.write();
        this.#options.bus.sync();
        this.#desk.call();
        this.#failures = 0;
        if (wrote || wroteMore) this.#options.onSettled?.();
      } catch (error) {
        this.#failed(error);
      }
    }
    this.#setTimer();
    if (!this.idle()) return;
    this.#tellWaiters();
    this.#options.onIdle?.();
  }

  /** Nothing is lost: what could not be written is still to be written, and no call is begun before. */
  #failed(error: unknown): void {
    const { services, scope } = this.#options;
    this.#failures += 1;
    this.#retryAt = services.clock.now() + retryDelay(this.#failures, services.retryLimits());
    services.report({ ...scope, level: "bad", text: `deliveries wait, their journal failed: ${messageOf(error)}` });
  }

  #setTimer(): void {
    clearTimeout(this.#timer);
    const at = this.nextAt();
    if (at === undefined) return;
    const wait = timerMs(at, this.#options.services.clock.now());
    this.#timer = setTimeout(() => this.#schedule(), wait);
  }

  #tellWaiters(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }
}
