/** For authors of plugins and bridges: everything they need, and nothing of prloom's inside. */
import type { Bridge } from "./bridges/contract.ts";
import type { JsonValue } from "./hooks/contexts/event-types.ts";
import type { PluginFactory } from "./hooks/contexts/hook-types.ts";

export type {
  Bridge,
  BridgeContext,
  BridgeEvent,
  DeliveryResult,
  OutgoingAction,
  PollFailure,
  PollResult,
} from "./bridges/contract.ts";
export type * from "./bus/message-types.ts";
export type * from "./hooks/contexts/context-types.ts";
export type * from "./hooks/contexts/event-types.ts";
export type * from "./hooks/contexts/hook-types.ts";
export type * from "./plan/plan-types.ts";

/** Types a plugin: `export default definePlugin((config) => ({ onEvent(event, ctx) { … } }))`. */
export function definePlugin<Config = Readonly<Record<string, JsonValue>>>(
  factory: PluginFactory<Config>,
): PluginFactory<Config> {
  return factory;
}

/** Types a bridge: `export default defineBridge((config) => ({ name, targets, events, actions }))`. */
export function defineBridge<Config = Readonly<Record<string, JsonValue>>, State extends JsonValue = JsonValue>(
  make: (config: Config) => Bridge<Config, State> | Promise<Bridge<Config, State>>,
): (config: Config) => Bridge<Config, State> | Promise<Bridge<Config, State>> {
  return make;
}

/** A hidden mark for what a bridge posts, so that `delivered` can find it again: `<!-- prloom:act-… -->`. */
export function actionMarker(action: { readonly id: string }): string {
  return `<!-- prloom:${action.id} -->`;
}
