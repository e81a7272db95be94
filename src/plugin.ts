/** For authors of plugins and bridges: everything they need, and nothing of prloom's inside. */
import type { Bridge } from "./bridges/contract.ts";
import { hasWritePermission } from "./bus/author.ts";
import type { EventAuthor } from "./bus/message-types.ts";
import type { PluginState, StateShape } from "./hooks/contexts/context-types.ts";
import type { PluginEvent } from "./hooks/contexts/event-types.ts";
import type { PluginFactory } from "./hooks/contexts/hook-types.ts";
import type { JsonValue } from "./kernel/json.ts";
import { addMissingTodos } from "./plan/edit-plan.ts";

export type {
  Bridge,
  BridgeContext,
  BridgeEvent,
  DeliveryResult,
  OutgoingAction,
  PollFailure,
  PollResult,
} from "./bridges/contract.ts";
export { type TrackerBridgeOptions, trackerBridge } from "./bridges/tracker/bridge.ts";
export type * from "./bridges/tracker/port.ts";
export type { AuthorPermission } from "./bus/author.ts";
export type * from "./bus/message-types.ts";
export type * from "./hooks/contexts/context-types.ts";
export type * from "./hooks/contexts/event-types.ts";
export type * from "./hooks/contexts/hook-types.ts";
export type { JsonValue } from "./kernel/json.ts";
export type * from "./plan/plan-types.ts";

/**
 * Types a plugin: `export default definePlugin((config) => ({ onEvent(event, ctx) { … } }))`. `Config` is what the config
 * file has under `config`, `State` the keys that `getState` and `setState` know.
 */
export function definePlugin<
  Config = Readonly<Record<string, JsonValue>>,
  State extends StateShape<State> = PluginState,
>(factory: PluginFactory<Config, State>): PluginFactory<Config, State> {
  return factory;
}

/**
 * Types a bridge: `export default defineBridge((config) => ({ targets, events, actions }))`. Its key in the config is its
 * name, and the `source` of its events. A throw in the function: the start fails.
 */
export function defineBridge<Config = Readonly<Record<string, JsonValue>>, State extends JsonValue = JsonValue>(
  make: (config: Config) => Bridge<Config, State> | Promise<Bridge<Config, State>>,
): (config: Config) => Bridge<Config, State> | Promise<Bridge<Config, State>> {
  return make;
}

/** A hidden mark for what a bridge posts, so that `delivered` can find it again: `<!-- prloom:act-… -->`. */
export function actionMarker(action: { readonly id: string }): string {
  return `<!-- prloom:${action.id} -->`;
}

/**
 * Whether a person who may write to the repository wrote this event, for sure. False when the event has no author, when prloom
 * itself wrote it, and when it stands under the login that prloom posts with (`context.ownLogin`): an agent could have written it.
 */
export function mayWrite({ context }: PluginEvent): boolean {
  const author: EventAuthor | undefined = context && "author" in context ? context.author : undefined;
  const isShared = context !== undefined && "ownLogin" in context && context.ownLogin !== undefined;
  return author !== undefined && author.self !== true && !isShared && hasWritePermission(author);
}

/**
 * The plan's text with these TODOs at the end of its TODO section, which is made when there is none. A TODO that the plan
 * has already, ticked or not, is not added again: so a hook may say each time what must be done.
 */
export function appendTodos(
  plan: string,
  todos: readonly (string | { readonly text: string; readonly context?: string })[],
): string {
  return addMissingTodos(
    plan,
    todos.map((todo) => (typeof todo === "string" ? { text: todo } : todo)),
  );
}
