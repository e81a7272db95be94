import { DISPATCHER } from "../../bus/names.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { messageOf } from "../../kernel/errors.ts";
import type { Routed } from "./outbox.ts";
import type { Item } from "./outbox-item.ts";
import type { OutboxMemory } from "./outbox-memory.ts";
import { RouteStage } from "./route-stage.ts";
import { concludeAction, releaseAction } from "./settle-action.ts";

export interface RouterHooks {
  /** `item.target` is where it goes; a bridge delivers there. */
  onRouted(item: Item, bridge: string): void;
  /** Hooks were called: they may have put actions on this bus. */
  onCalled(): void;
}

/** Brings actions through rights and beforeRoute, one after another. */
export class OutboxRouter {
  readonly stage: RouteStage;
  readonly #memory: OutboxMemory;
  readonly #hooks: RouterHooks;

  constructor(memory: OutboxMemory, hooks: RouterHooks) {
    this.#memory = memory;
    this.#hooks = hooks;
    this.stage = new RouteStage({
      park: (item, reason, until) => memory.park(item, reason, until),
      originOf: ({ action }) => memory.keyOf(action, action.target),
    });
  }

  /** Begins with the next one, unless one is under way. */
  begin(now: number): void {
    const item = this.stage.take(now);
    if (!item) return;
    this.#memory.jobs.push(() => {
      if (item.parked) this.#memory.hold(item, undefined);
      void this.#route(item);
    });
  }

  async #route(item: Item): Promise<void> {
    const { options, jobs } = this.#memory;
    let routed: Routed;
    try {
      routed = await options.route(item.action);
    } catch (error) {
      // Fails closed: not delivered, and asked again.
      this.#memory.tell("bad", `routing ${item.action.id} failed: ${messageOf(error)}`);
      routed = { kind: "waiting", until: 0 };
    }
    crashPoint("deliver:routed");
    if (this.#memory.stopped) return;
    jobs.push(() => this.#settle(item, routed));
    this.#hooks.onCalled();
    this.#memory.schedule();
  }

  #settle(item: Item, routed: Routed): void {
    const memory = this.#memory;
    const { bus, bridgeFor } = memory.options;
    if (routed.kind === "waiting") {
      // A routing that waits until a time that is over would otherwise be tried without pause.
      const until =
        routed.until > memory.now() ? routed.until : memory.now() + memory.options.services.retryLimits().minMs;
      memory.hold(item, until);
      this.stage.wait(item, until);
      return;
    }
    const loaded = routed.kind === "deliver" ? bridgeFor(routed.target.target) : undefined;
    if (routed.kind === "deliver" && loaded) {
      item.target = routed.target;
      this.stage.passed(item);
      this.#hooks.onRouted(item, loaded.name);
      return;
    }
    const { id } = item.action;
    if (routed.kind === "handled") concludeAction(bus, id, { handler: DISPATCHER, reason: `blocked by ${routed.by}` });
    else if (routed.kind === "dead") releaseAction(bus, id);
    // Not a dead letter: nothing that a person could fix would let it through. Whoever refused has told it.
    else if (routed.kind === "refused") concludeAction(bus, id, { handler: DISPATCHER, reason: routed.reason });
    else memory.bury(item, DISPATCHER, memory.noBridge(routed.target.target));
    memory.forget(item);
    this.stage.passed(item);
  }
}
