import { retryDelay } from "../../bus/limits.ts";
import { CORE_TARGET, DISPATCHER } from "../../bus/names.ts";
import type { Action, ReplyAddress } from "../../bus/types.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { messageOf } from "../../kernel/errors.ts";
import { Loop } from "../../kernel/loop.ts";
import type { CircuitMember } from "../circuit.ts";
import { AddressQueues } from "./address-queues.ts";
import { Calls, type DeliveryOptions } from "./calls.ts";
import { deliveryHandler, shownAfterMs } from "./deliver.ts";
import { RouteLine } from "./route-line.ts";
import { concludeAction, giveUp, noBridge, type Parking, type RoutedAction, releaseAction, tell } from "./settle.ts";
import { TakenActions } from "./taken-actions.ts";

/** What rights and beforeRoute say about an action. `dead`: a hook gave up, and its dead letter is written. */
export type Routed =
  | { readonly kind: "deliver"; readonly target: ReplyAddress }
  | { readonly kind: "handled"; readonly by: string }
  | { readonly kind: "waiting"; readonly until: number }
  | { readonly kind: "refused"; readonly reason: string }
  /** Not now, and by itself not later either: a dead letter until a person says so. */
  | { readonly kind: "unsaid"; readonly reason: string }
  | { readonly kind: "dead"; readonly by: string; readonly reason: string };

export interface OutboxOptions extends DeliveryOptions {
  /** A promise where a hook is asked. */
  route(action: Action): Promise<Routed> | Routed;
  /** How many calls of a bridge may be made at once, where it is not the usual number. */
  callsAtOnce?(bridge: string): number | undefined;
  /** Something was settled. */
  onSettled?(): void;
  /** A pass is over, and nothing is left that could be done now. */
  onIdle?(): void;
}

/**
 * Delivers the actions of one bus: in order for each address, and no address waits for another. An action goes through
 * it from front to back: taken from the bus, routed, queued at its address, called out, settled.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #loop: Loop;
  readonly #member: CircuitMember;
  readonly #taken: TakenActions;
  readonly #line: RouteLine;
  readonly #queues: AddressQueues;
  readonly #calls: Calls;
  /**
   * What is to be written, in order. Each first writes and then changes what is in memory, so one that failed can be
   * done again.
   */
  readonly #writes: (() => void)[] = [];
  #stopped = false;

  /** Nothing happens before `wake`. */
  constructor(options: OutboxOptions) {
    const { bus, circuits, services } = options;
    this.#options = options;
    const retryLimits = () => services.retryLimits();
    this.#loop = new Loop({
      clock: services.clock,
      pass: () => this.#pass(),
      backoffMs: (failures) => retryDelay(failures, retryLimits()),
      // Nothing is lost: what could not be written is still to be written, and no call is begun before.
      onFailure: (error) => tell(options, "bad", `deliveries wait, their journal failed: ${messageOf(error)}`),
      underWay: () => this.#isUnderWay(),
      onIdle: () => options.onIdle?.(),
    });
    const wake = (): void => this.#loop.wake();
    // Also when it is unreachable again: what waits for it must know until when.
    const isConcerned = (bridge: string): boolean => this.#hasWork() || this.#queues.firstFor(bridge) !== undefined;
    const member = circuits.join((bridge) => isConcerned(bridge) && wake(), retryLimits);
    const taken = new TakenActions(bus, services.clock);
    const park = (parking: Parking): void => this.#park(parking);
    const isParked = (id: string): boolean => taken.isParked(id);
    this.#member = member;
    this.#taken = taken;
    this.#line = new RouteLine({ park, keyOf: (action) => addressKey(action, action.target) });
    this.#queues = new AddressQueues({
      ...{ circuits, member, park, isParked },
      waitsUntil: (routed) => this.#waitsUntil(routed),
      callsAtOnce: (bridge) => options.callsAtOnce?.(bridge),
    });
    const write = (job: () => void): void => this.#write(job);
    this.#calls = new Calls({ ...options, member, taken, queues: this.#queues, write, wake });
  }

  /** There may be new actions, or dead letters that were revived. */
  wake(): void {
    this.#taken.look();
    this.#loop.wake();
  }

  /** An action that waits may be tried now. Returns whether it did wait; undefined when it is not here. */
  hurry(actionId: string): boolean | undefined {
    if (!this.#taken.has(actionId)) return undefined;
    const isHurried = this.#line.hurry(actionId) || this.#queues.hurry(actionId, this.#now());
    if (isHurried) this.#loop.wake();
    return isHurried;
  }

  /** Nothing is under way, and nothing could be begun now. */
  idle(): boolean {
    return this.#loop.idle();
  }

  /** When the next wait is over. */
  nextAt(): number | undefined {
    return this.#loop.nextAt();
  }

  /** Resolves when it is idle. */
  settled(): Promise<void> {
    return this.#loop.settled();
  }

  /** Nothing more is begun or written. Calls under way are left alone; the next start looks up how they ended. */
  stop(): void {
    this.#stopped = true;
    this.#member.quit();
    this.#loop.stop();
  }

  #pass(): number | undefined {
    const { bus, services, onSettled } = this.#options;
    const hasSettled = this.#doWrites();
    if (!services.stopSignal.aborted) this.#begin(this.#now());
    const hasBegun = this.#doWrites();
    if (hasSettled || hasBegun) bus.sync();
    this.#calls.make();
    if (hasSettled || hasBegun) onSettled?.();
    const times = [this.#line.nextAt(), this.#queues.nextAt(this.#now())].filter((at) => at !== undefined);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Moves everything on that can go on. */
  #begin(now: number): void {
    for (const action of this.#taken.take()) this.#line.add(action);
    this.#routeNext();
    for (const queue of this.#queues.start(now)) this.#write(() => this.#calls.begin(queue));
    this.#makeRoom(now);
  }

  #routeNext(): void {
    const next = this.#line.next(this.#now());
    if (next) this.#write(() => this.#beginRoute(next));
  }

  /** Many actions for one slow address must not keep those for others from being taken. */
  #makeRoom(now: number): void {
    const canGoOn = this.#line.busy || this.#queues.full || this.#queues.canStart(now);
    if (!this.#taken.mayHaveMore || canGoOn) return;
    for (const id of this.#taken.oldest()) this.#park({ id, reason: "many are before it", until: undefined });
    this.#loop.wake();
  }

  #beginRoute(action: Action): void {
    if (this.#taken.isParked(action.id)) this.#taken.hold(action.id, undefined);
    const routed = this.#ask(action);
    if (routed instanceof Promise) {
      void routed.then((answer) => {
        this.#routed(action, answer);
        // Hooks were called: they may have put actions on this bus.
        this.wake();
      });
      return;
    }
    this.#routed(action, routed);
    // All that no hook is asked about in one pass: what follows is then counted, synced and called together.
    this.#write(() => this.#routeNext());
    this.#loop.wake();
  }

  #routed(action: Action, routed: Routed): void {
    crashPoint("deliver:routed");
    this.#write(() => this.#settleRoute(action, routed));
  }

  #ask(action: Action): Promise<Routed> | Routed {
    // Fails closed: not delivered, and asked again.
    const failed = (error: unknown): Routed => {
      tell(this.#options, "bad", `routing ${action.id} failed: ${messageOf(error)}`);
      return { kind: "waiting", until: 0 };
    };
    try {
      const routed = this.#options.route(action);
      return routed instanceof Promise ? routed.catch(failed) : routed;
    } catch (error) {
      return failed(error);
    }
  }

  #settleRoute(action: Action, routed: Routed): void {
    const { bus, bridgeFor, services } = this.#options;
    const { id } = action;
    const now = this.#now();
    if (routed.kind === "waiting") {
      // A routing that waits until a time that is over would otherwise be tried without pause.
      const until = routed.until > now ? routed.until : now + services.retryLimits().minMs;
      this.#taken.hold(id, until);
      this.#line.wait(action, until);
      return;
    }
    const loaded = routed.kind === "deliver" ? bridgeFor(routed.target.target) : undefined;
    if (routed.kind === "deliver" && loaded) {
      const { target } = routed;
      this.#line.passed(action);
      this.#queues.add({ action, target, key: addressKey(action, target), bridge: loaded.name, now });
      return;
    }
    if (routed.kind === "handled") concludeAction(bus, id, { handler: DISPATCHER, reason: `blocked by ${routed.by}` });
    else if (routed.kind === "dead") releaseAction(bus, id);
    // Not a dead letter: nothing that a person could fix would let it through. What refused it has told it.
    else if (routed.kind === "refused") concludeAction(bus, id, { handler: DISPATCHER, reason: routed.reason });
    else if (routed.kind === "unsaid")
      giveUp(this.#options, { action, target: action.target }, { handler: DISPATCHER, reason: routed.reason });
    else giveUp(this.#options, { action, target: routed.target }, noBridge(this.#options, routed.target));
    this.#taken.forget(id);
    this.#line.passed(action);
  }

  #waitsUntil({ action: { id }, target }: RoutedAction): number | undefined {
    const { bus, bridgeFor } = this.#options;
    const loaded = bridgeFor(target.target);
    if (!loaded) return undefined;
    const handler = deliveryHandler(loaded.name);
    // A call that ended with the process that made it is looked for as late as one that failed.
    const calledAt = bus.calledAt(id, handler);
    if (calledAt !== undefined) return calledAt + shownAfterMs(loaded);
    return this.#taken.isParked(id) ? bus.waitOf(id, handler)?.until : undefined;
  }

  #park(parking: Parking): void {
    if (!this.#taken.isParked(parking.id)) this.#write(() => this.#taken.park(parking));
  }

  #write(job: () => void): void {
    if (!this.#stopped) this.#writes.push(job);
  }

  /** Returns whether there was anything to write. Throws when something cannot be written now. */
  #doWrites(): boolean {
    const isAny = this.#writes.length > 0;
    for (let write = this.#writes[0]; write; write = this.#writes[0]) {
      write();
      this.#writes.shift();
    }
    return isAny;
  }

  #isUnderWay(): boolean {
    if (this.#queues.running > 0 || this.#line.routing) return true;
    return !(this.#loop.backsOff() || this.#options.services.stopSignal.aborted) && this.#hasWork();
  }

  /** Something could be done now. */
  #hasWork(): boolean {
    if (this.#writes.length > 0 || this.#calls.hasBegun || this.#taken.mayHaveMore) return true;
    return this.#line.busy || this.#queues.canStart(this.#now());
  }

  #now(): number {
    return this.#options.services.clock.now();
  }
}

/** The name of an address: order is kept among the actions that have the same. */
function addressKey({ payload }: Action, { target, token = "" }: ReplyAddress): string {
  if (target !== CORE_TARGET || payload.type !== "upsert_plan") return JSON.stringify([target, token]);
  const { system, kind, id } = payload.source;
  return JSON.stringify([target, system, kind, id]);
}
