import { DISPATCHER } from "../../bus/names.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { type CircuitMember, circuitState, type WayReport } from "../circuit.ts";
import { busScope } from "../host.ts";
import type { LoadedBridge } from "../load.ts";
import { answerRefusal } from "./answer-refusal.ts";
import { type Delivery, deliver, deliveryHandler } from "./deliver.ts";
import { DeliveryStage } from "./delivery-stage.ts";
import type { Item, Queue } from "./outbox-item.ts";
import type { OutboxMemory } from "./outbox-memory.ts";
import { concludeAction, releaseAction } from "./settle-action.ts";
import { settleDelivery, tooOld } from "./settle-delivery.ts";

interface Call {
  readonly queue: Queue;
  readonly item: Item;
  readonly loaded: LoadedBridge;
  readonly uncertain: boolean;
}

/** Brings routed actions to their bridges. */
export class OutboxCarrier {
  readonly stage: DeliveryStage;
  readonly #memory: OutboxMemory;
  readonly #member: CircuitMember;
  readonly #onAnswered: () => void;
  /** Counted on the bus, to be called as soon as that is on disk. */
  #begun: Call[] = [];

  /** `onAnswered`: there is one more action to carry. */
  constructor(memory: OutboxMemory, member: CircuitMember, onAnswered: () => void) {
    this.#onAnswered = onAnswered;
    this.#memory = memory;
    this.#member = member;
    const { bus, circuits } = memory.options;
    this.stage = new DeliveryStage({
      circuits,
      member,
      park: (item, reason, until) => memory.park(item, reason, until),
      waitsUntil: (item, bridge) =>
        item.parked ? bus.waitOf(item.action.id, deliveryHandler(bridge))?.until : undefined,
    });
  }

  get hasBegun(): boolean {
    return this.#begun.length > 0;
  }

  begin(now: number): void {
    for (const queue of this.stage.start(now)) this.#memory.jobs.push(() => this.#beginCall(queue));
  }

  /** Makes the calls that are on disk as begun. */
  call(): void {
    const calls = this.#begun;
    this.#begun = [];
    if (calls.length > 0) crashPoint("deliver:sending");
    for (const one of calls) void this.#call(one);
  }

  #beginCall(queue: Queue): void {
    const item = queue.items.first;
    if (!item) return;
    const memory = this.#memory;
    const { bus, bridgeFor } = memory.options;
    const { id } = item.action;
    const loaded = bridgeFor(item.target.target);
    if (loaded) {
      const handler = deliveryHandler(loaded.name);
      const { allowed, uncertain } = bus.attempt(id, handler);
      if (allowed) {
        this.#begun.push({ queue, item, loaded, uncertain });
        return;
      }
      // Only after a kill: the last word was said, and what came with it was not.
      if (bus.handlerStatus(id, handler) === "settled") concludeAction(bus, id, { handler });
      else {
        releaseAction(bus, id, handler);
        memory.tellDead(item, handler, "it was called too often and never came back");
      }
    } else memory.bury(item, DISPATCHER, memory.noBridge(item.target.target));
    this.#ended(queue, "nothing");
    this.#finish(queue, item);
  }

  async #call(call: Call): Promise<void> {
    const { queue, item, loaded, uncertain } = call;
    const { host, scope } = this.#memory.options;
    const { action, target } = item;
    const delivery = await deliver(host, { loaded, planId: scope.planId, action, target, uncertain });
    crashPoint("deliver:returned");
    this.#ended(queue, wayOf(delivery));
    if (this.#memory.stopped) return;
    this.#memory.jobs.push(() => this.#settle(call, delivery));
    this.#memory.schedule();
  }

  #ended(queue: Queue, way: WayReport): void {
    this.stage.ended();
    const isBack = this.#member.leave(queue.bridge, this.#memory.now(), way);
    if (isBack) this.#memory.tell("info", `${queue.bridge} can be reached again`);
  }

  #finish(queue: Queue, item: Item): void {
    this.#memory.forget(item);
    this.stage.advance(queue, this.#memory.now());
  }

  #settle({ queue, item, loaded }: Call, delivery: Delivery): void {
    const memory = this.#memory;
    const { bus, host, circuits, scope } = memory.options;
    const handler = deliveryHandler(loaded.name);
    const { openUntil } = circuits.of(queue.bridge);
    const { since, action } = item;
    const now = memory.now();
    const call = { id: action.id, handler, delivery, now, since, maxAgeMs: host.maxAgeMs(), openUntil };
    if (delivery.kind === "refused") {
      answerRefusal(bus, busScope(scope.planId), { action, loaded, reason: delivery.reason });
      this.#onAnswered();
      memory.schedule();
    }
    const after = settleDelivery(bus, call);
    crashPoint("deliver:settled");
    if (after.kind === "dead") memory.tellDead(item, handler, after.reason);
    if (after.kind === "done" || after.kind === "dead") {
      this.#finish(queue, item);
      return;
    }
    memory.isParked(item);
    const { reason } = after;
    const until = after.kind === "wait" ? after.until : openUntil;
    if (delivery.kind !== "later") {
      memory.tellWaits(item, handler, { reason, until: delivery.kind === "stopped" ? undefined : until });
    }
    if (after.kind === "wait") this.stage.wait(queue, after.until);
    else this.#waitForBridge(queue, reason);
  }

  #waitForBridge(queue: Queue, reason: string): void {
    const { bridge } = queue;
    this.stage.waitForBridge(queue);
    if (circuitState(this.#memory.options.circuits.of(bridge), this.#memory.now()) !== "open") return;
    for (const item of this.#memory.unparked) if (item.queue?.bridge === bridge) this.stage.parkBefore(item);
    this.#memory.jobs.push(() => this.#buryOld(bridge, reason));
  }

  /** Only one call in minutes is made while a way is broken: most of those that wait too long are never tried. */
  #buryOld(bridge: string, reason: string): void {
    const memory = this.#memory;
    const now = memory.now();
    const maxAgeMs = memory.options.host.maxAgeMs();
    for (let queue = this.stage.firstFor(bridge); queue; queue = this.stage.firstFor(bridge)) {
      const item = queue.items.first;
      if (!item || now - (item.since ?? now) < maxAgeMs) return;
      memory.bury(item, deliveryHandler(bridge), tooOld({ maxAgeMs }, reason));
      this.stage.takeFirstFor(bridge);
      this.#finish(queue, item);
    }
  }
}

function wayOf(delivery: Delivery): WayReport {
  if (delivery.kind === "transport") return { retryAfterMs: delivery.retryAfterMs };
  const isThere = delivery.kind === "delivered" || delivery.kind === "refused" || delivery.kind === "later";
  return isThere ? "there" : "nothing";
}
