import type { Bus } from "../../bus/bus.ts";
import { actionId, DISPATCHER } from "../../bus/names.ts";
import type { Action, Scope } from "../../bus/types.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { type CircuitMember, type Circuits, circuitState, type Reach } from "../circuit.ts";
import type { LoadedBridge } from "../load.ts";
import { LOCAL_TARGET } from "../local/thread.ts";
import type { BridgeServices } from "../services.ts";
import type { AddressQueue, AddressQueues } from "./address-queues.ts";
import { deliver, deliveryHandler, reachOf, shownAfterMs, withRef } from "./deliver.ts";
import {
  concludeAction,
  type Delivery,
  gaveUp,
  giveUp,
  noBridge,
  type RoutedAction,
  releaseAction,
  retryLine,
  settleDelivery,
  tell,
  tooOld,
} from "./settle.ts";
import type { TakenActions } from "./taken-actions.ts";

/** The bus whose actions are delivered, and what delivers them. */
export interface DeliveryOptions {
  readonly bus: Bus;
  readonly scope: Scope;
  bridgeFor(target: string): LoadedBridge | undefined;
  /** All targets there are, for the error that a wrong one gets. */
  targets?(): readonly string[];
  readonly circuits: Circuits;
  readonly services: BridgeServices;
}

export interface CallsOptions extends DeliveryOptions {
  readonly member: CircuitMember;
  readonly taken: TakenActions;
  readonly queues: AddressQueues;
  /** Has something written, by this pass or the next. */
  write(job: () => void): void;
  /** Asks for another pass. */
  wake(): void;
}

interface DeliveryCall extends RoutedAction {
  readonly queue: AddressQueue;
  readonly loaded: LoadedBridge;
  readonly uncertain: boolean;
}

/** The last stage of the outbox: the first action of a queue is counted, called out and settled. */
export class Calls {
  readonly #options: CallsOptions;
  /** Counted on the bus, to be made as soon as that is on disk. */
  #begun: DeliveryCall[] = [];

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  /** Some are counted and not made. */
  get hasBegun(): boolean {
    return this.#begun.length > 0;
  }

  /** Counts a call for the first of a queue that was started. */
  begin(queue: AddressQueue): void {
    const [routed] = queue.items;
    if (!routed) return;
    const { bus, bridgeFor } = this.#options;
    const { id } = routed.action;
    const loaded = bridgeFor(routed.target.target);
    if (loaded) {
      const handler = deliveryHandler(loaded.name);
      const { allowed, uncertain } = bus.attempt(id, handler);
      if (allowed) {
        this.#begun.push({ ...routed, queue, loaded, uncertain });
        return;
      }
      // Only after a kill: the last line was written, and what belongs to it was not.
      if (bus.handlerStatus(id, handler) === "settled") concludeAction(bus, id, { handler });
      else {
        releaseAction(bus, id, handler);
        tell(this.#options, "bad", gaveUp(routed, handler, "it was called too often and never came back"));
      }
    } else giveUp(this.#options, routed, noBridge(this.#options, routed.target));
    this.#ended(queue, "nothing");
    this.#finish(queue, id);
  }

  /** Makes the calls that are on disk as begun. */
  make(): void {
    const calls = this.#begun;
    this.#begun = [];
    if (calls.length > 0) crashPoint("deliver:sending");
    for (const call of calls) void this.#make(call);
  }

  async #make(call: DeliveryCall): Promise<void> {
    const { services, scope, write, wake } = this.#options;
    const delivery = await deliver(services, { ...call, scope });
    crashPoint("deliver:returned");
    this.#ended(call.queue, reachOf(delivery));
    write(() => this.#settle(call, delivery));
    wake();
  }

  #settle(call: DeliveryCall, delivery: Delivery): void {
    const { bus, services, scope, circuits, queues, taken, wake } = this.#options;
    const { queue } = call;
    const { id } = call.action;
    const now = this.#now();
    const handler = deliveryHandler(call.loaded.name);
    const { openUntil } = circuits.of(queue.bridge);
    const age = { since: taken.parkedSince(id), maxAgeMs: services.maxAgeMs() };
    if (delivery.kind === "refused") {
      answerRefusal(this.#options, call, delivery.reason);
      taken.look();
      wake();
    }
    const ref = delivery.kind === "delivered" ? delivery.ref : undefined;
    const kept = ref === undefined ? {} : withRef({ services, scope, bridge: call.loaded.name }, call, ref);
    const shownAt = now + shownAfterMs(call.loaded);
    const after = settleDelivery(bus, { id, handler, delivery, now, openUntil, shownAt, kept, ...age });
    crashPoint("deliver:settled");
    if (after.kind === "dead") tell(this.#options, "bad", gaveUp(call, handler, after.reason));
    if (after.kind === "done" || after.kind === "dead") {
      this.#finish(queue, id);
      return;
    }
    taken.isWaiting(id);
    const waitMs = delivery.kind === "stopped" ? undefined : after.until - now;
    if (delivery.kind !== "later")
      tell(this.#options, "warn", retryLine(call, { handler, reason: after.reason, waitMs }));
    if (after.kind === "wait" || after.until > openUntil) queues.wait(queue, after.until);
    else queues.waitForBridge(queue);
    if (after.kind === "bridge") this.#bridgeIsAway(queue.bridge, after.reason);
  }

  #bridgeIsAway(bridge: string, reason: string): void {
    const { circuits, queues, taken, write } = this.#options;
    if (circuitState(circuits.of(bridge), this.#now()) !== "open") return;
    queues.parkFor(bridge, taken.unparked);
    write(() => this.#giveUpOld(bridge, reason));
  }

  /** Only one call in minutes is made to a bridge that cannot be reached: most that wait too long are never tried. */
  #giveUpOld(bridge: string, reason: string): void {
    const { services, queues, taken } = this.#options;
    const now = this.#now();
    const maxAgeMs = services.maxAgeMs();
    for (let queue = queues.firstFor(bridge); queue; queue = queues.firstFor(bridge)) {
      const [routed] = queue.items;
      if (!routed || now - (taken.parkedSince(routed.action.id) ?? now) < maxAgeMs) return;
      giveUp(this.#options, routed, { handler: deliveryHandler(bridge), reason: tooOld(maxAgeMs, reason) });
      queues.takeFirstFor(bridge);
      this.#finish(queue, routed.action.id);
    }
  }

  #ended(queue: AddressQueue, reach: Reach): void {
    this.#options.queues.ended(queue);
    const isBack = this.#options.member.leave(queue.bridge, this.#now(), reach);
    if (isBack) tell(this.#options, "info", `bridge ${queue.bridge} is reachable again`);
  }

  #finish(queue: AddressQueue, id: string): void {
    this.#options.taken.forget(id);
    this.#options.queues.advance(queue, this.#now());
  }

  #now(): number {
    return this.#options.services.clock.now();
  }
}

const NOT_DONE: Readonly<Record<string, string>> = { merge: "Not merged", close_pr: "Not closed" };

/**
 * The person who asked for a merge or a close is told there that the bridge refused it, once per action: its dead
 * letter is seen by others. Done before the action is buried, so that a kill in between forgets neither. Of what was
 * asked for in the local thread the local bridge answers by itself.
 */
function answerRefusal({ bus, scope }: DeliveryOptions, { action, loaded }: DeliveryCall, reason: string): void {
  const { id, payload, relatedEventId } = action;
  const notDone = NOT_DONE[payload.type];
  const asking = relatedEventId === undefined ? undefined : bus.findEvent(relatedEventId);
  // Not where the merge was sent: a plugin may take the words of a chat to a forge.
  const target = asking?.replyTo ?? action.target;
  if (notDone === undefined || (loaded.name === LOCAL_TARGET && target.target === LOCAL_TARGET)) return;
  const record = `refusal-${id}`;
  const answer: Action = {
    id: actionId({ scope, recordId: record, handler: DISPATCHER, ordinal: 0 }),
    type: "respond",
    target,
    payload: { type: "comment", message: `${notDone}: ${reason}` },
    ...(relatedEventId === undefined ? {} : { relatedEventId }),
  };
  const marks = { about: "event", closed: true } as const;
  bus.settle({ record, handler: DISPATCHER, outcome: "handled", actions: [answer], marks }, { sync: false });
}
