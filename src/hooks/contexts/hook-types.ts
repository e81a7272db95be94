import type { ReplyAddress } from "../../bus/message-types.ts";
import type { JsonValue } from "../../kernel/json.ts";
import type { PlanSummary } from "../../plan/plan-types.ts";
import {
  type ActivateContext,
  type EventContext,
  type GlobalEventContext,
  type PluginState,
  type RouteContext,
  type StartupContext,
  TEXT_HOOK_POINTS,
  type TextContext,
  type TextHookPoint,
  type UpsertContext,
} from "./context-types.ts";
import type { PluginAction, PluginEvent, UpsertPayload } from "./event-types.ts";

/** What may be given at once or later. */
export type Awaitable<T> = T | Promise<T>;

export type UpsertVerdict =
  | { readonly proceed: true; readonly payload?: UpsertPayload }
  | { readonly reject: true; readonly reason: string };

/**
 * Takes the plan's text and returns the new one; undefined leaves it as it is.
 *
 * A throw blocks the plan. `prloom unblock <plan>` calls the hook again.
 */
export type TextHook<Point extends TextHookPoint, State = PluginState> = (
  plan: string,
  ctx: TextContext<Point, State>,
  // biome-ignore lint/suspicious/noConfusingVoidType: a function without a return is typed void
) => Awaitable<string | undefined | void>;

/** Called for plugins under `globalPlugins`. */
export interface GlobalHooks<State = PluginState> {
  /** Once per start, before anything else. A throw: the start fails, and says which plugin it was. */
  onStartup?(ctx: StartupContext<State>): Awaitable<void>;
  /** For each event of the repository. A throw: retried, and after `bus.maxAttempts` a dead letter. */
  onGlobalEvent?(event: PluginEvent, ctx: GlobalEventContext<State>): Awaitable<void>;
  /**
   * For each action, before it is delivered; returning an address sends it there instead. A throw: the action is not
   * delivered and the call is retried; after `bus.maxAttempts` the action is a dead letter.
   */
  // biome-ignore-start lint/suspicious/noConfusingVoidType: a function without a return is typed void
  beforeRoute?(
    action: PluginAction,
    ctx: RouteContext<State>,
  ): Awaitable<void | undefined | null | { target: ReplyAddress }>;
  // biome-ignore-end lint/suspicious/noConfusingVoidType: a function without a return is typed void
  /**
   * Before a plan is made or changed from outside. A throw: nothing is written and the call is retried; after
   * `bus.maxAttempts` the upsert is a dead letter.
   */
  beforeUpsert?(payload: UpsertPayload, ctx: UpsertContext<State>): Awaitable<UpsertVerdict>;
  /** When a plan has got its branch and worktree. A throw: the plan is blocked. */
  afterActivate?(plan: PlanSummary & { readonly worktree: string }, ctx: ActivateContext<State>): Awaitable<void>;
}

/** Called for plugins under `plugins`. */
export interface PlanHooks<State = PluginState> {
  /** For each event of a plan. A throw: retried, and after `bus.maxAttempts` a dead letter; then triage gets the event. */
  onEvent?(event: PluginEvent, ctx: EventContext<State>): Awaitable<void>;
  /** When the designer has written the TODOs. A throw: the plan is blocked. */
  afterDesign?: TextHook<"afterDesign", State>;
  /** Before an agent starts on `ctx.todo`. A throw: the plan is blocked. */
  beforeTodo?: TextHook<"beforeTodo", State>;
  /** When `ctx.todoCompleted` has passed its checks, before it is committed. A throw: the plan is blocked. */
  afterTodo?: TextHook<"afterTodo", State>;
  /** When everything is ticked, before the change request is marked ready. A throw: the plan is blocked. */
  beforeFinish?: TextHook<"beforeFinish", State>;
  /** When the change request is marked ready. A throw: the plan is blocked. */
  afterFinish?: TextHook<"afterFinish", State>;
}

/** One module may have hooks of both kinds; the key it is configured under says which are called. */
export type Hooks<State = PluginState> = GlobalHooks<State> & PlanHooks<State>;

export const GLOBAL_HOOK_POINTS = [
  "onStartup",
  "onGlobalEvent",
  "beforeRoute",
  "beforeUpsert",
  "afterActivate",
] as const;
export const PLAN_HOOK_POINTS = ["onEvent", ...TEXT_HOOK_POINTS] as const;
export type GlobalHookPoint = (typeof GLOBAL_HOOK_POINTS)[number];
export type PlanHookPoint = (typeof PLAN_HOOK_POINTS)[number];
export type HookPoint = GlobalHookPoint | PlanHookPoint;

/** What a throw in a hook leads to. A deferral is not a throw. */
export const THROW_EFFECTS = {
  onStartup: "start fails",
  onGlobalEvent: "retried",
  beforeRoute: "retried",
  beforeUpsert: "retried",
  afterActivate: "plan blocked",
  onEvent: "retried",
  afterDesign: "plan blocked",
  beforeTodo: "plan blocked",
  afterTodo: "plan blocked",
  beforeFinish: "plan blocked",
  afterFinish: "plan blocked",
} as const satisfies Record<HookPoint, "retried" | "plan blocked" | "start fails">;
/** `ThrowEffect<"onEvent">` is "retried". */
export type ThrowEffect<Point extends HookPoint = HookPoint> = (typeof THROW_EFFECTS)[Point];

/** What a plugin module exports as its default. A throw in it: the start fails. */
export type PluginFactory<Config = Readonly<Record<string, JsonValue>>, State = PluginState> = (
  config: Config,
) => Awaitable<Hooks<State>>;
