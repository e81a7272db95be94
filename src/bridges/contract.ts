import type { BusEvent } from "../bus/message-types.ts";
import type { BaseContext, GlobalPlans } from "../hooks/contexts/context-types.ts";
import type { NewAction, PluginAction } from "../hooks/contexts/event-types.ts";
import type { Awaitable } from "../hooks/contexts/hook-types.ts";
import type { JsonValue } from "../kernel/json.ts";
import type { PlanSource } from "../plan/plan-types.ts";
import type { Tracker } from "./tracker/port.ts";

/** What a bridge gets with every call. */
export interface BridgeContext<Config = Readonly<Record<string, JsonValue>>> extends BaseContext, GlobalPlans {
  readonly config: Config;
  /** The plan it is called for; undefined for global bridges. */
  readonly planId?: string;
  readonly worktree?: string;
  readonly changeRequestRef?: string;
}

/** An event as a bridge reports it. The same `id` again is the same event. */
export interface BridgeEvent extends Omit<BusEvent, "source"> {
  /**
   * A string is ignored: prloom writes the bridge's key in the config. A global bridge may give the source of a plan here
   * instead, and the event goes to the bus of that plan.
   */
  readonly source?: string | PlanSource;
  /** Global bridges: the id of the plan whose bus the event goes to. Without it and a source: the repository's bus. */
  readonly plan?: string;
}

export interface PollResult<State extends JsonValue = JsonValue> {
  readonly events: readonly BridgeEvent[];
  /** The cursor, saved after the events. Left out: as before. */
  readonly state?: State;
  /** What to do at once, such as `upsert_plan`. */
  readonly actions?: readonly NewAction[];
}

/** A poll that did not get through. Nothing is taken, the cursor stays; an error that is thrown may have `retryAfterMs` too. */
export interface PollFailure {
  readonly success: false;
  readonly error: string;
  /** Not polled again before, where that is longer than the usual wait; at most a day. */
  readonly retryAfterMs?: number;
}

/** An action as a bridge delivers it. */
export interface OutgoingAction extends PluginAction {
  /** The `ref` that was returned for the last comment with the same `key` at this address: edit that one. */
  readonly ref?: string;
}

export type DeliveryResult =
  | {
      readonly success: true;
      /** What the outside calls it. Kept for comments with a `key`. */
      readonly ref?: string;
    }
  | {
      readonly success: false;
      readonly error: string;
      /** True: the outside cannot be reached (network, 5xx, rate limit). False: refused, and it would be again. */
      readonly retryable: boolean;
      /** Not called again before, where that is longer than the usual wait; at most a day. */
      readonly retryAfterMs?: number;
      /** It surely did not arrive: it is sent again without being looked for. */
      readonly arrived?: false;
    };

/** Code that talks to one outside system. `targets` exactly when `actions`. */
export interface Bridge<Config = Readonly<Record<string, JsonValue>>, State extends JsonValue = JsonValue> {
  /** For readers only: prloom calls a bridge by its key in the config. */
  readonly name?: string;
  /** Address names that this bridge alone delivers to. */
  readonly targets?: readonly string[];
  /** Looks for what is new since `state`. A throw: retried after a wait that grows; nothing is taken, `state` stays. */
  events?(ctx: BridgeContext<Config>, state: State | undefined): Awaitable<PollResult<State> | PollFailure>;
  /**
   * Called after `prloom retry` with an event or action of an earlier poll that prloom could not take; returns it as it
   * should have been. Without it, and for undefined, it is judged again as it was. A throw: it stays a dead letter, with
   * what was thrown as the reason.
   */
  repair?(ctx: BridgeContext<Config>, item: JsonValue): Awaitable<JsonValue | BridgeEvent | NewAction | undefined>;
  /**
   * Delivers one action. A throw: retried, but `delivered` is asked first, since it may have arrived; after
   * `bus.maxAttempts` a dead letter. Return `retryable: true` for what is to be retried without being counted.
   */
  actions?(ctx: BridgeContext<Config>, action: OutgoingAction): Awaitable<DeliveryResult>;
  /**
   * Whether this action arrived earlier, with its `ref` if it has one. Asked only when it is not known how an earlier
   * call ended; without it, the action is sent again. A throw: retried, and counted as one of `actions`.
   */
  delivered?(ctx: BridgeContext<Config>, action: OutgoingAction): Awaitable<boolean | { readonly ref: string }>;
  /** How long the outside may take to show what it took: before that, an action that may have arrived is not looked for. */
  readonly shownAfterMs?: number;
  /** Where the outside is a tracker: plans of its sources are shown there, and answered. */
  readonly tracker?: Tracker;
}

/** A bridge of prloom's own: no config gives it a name. */
export interface BuiltinBridge extends Bridge {
  readonly name: string;
  /** How often it is polled; `bus.pollEvery` unless given. */
  readonly pollEveryMs?: number;
}
