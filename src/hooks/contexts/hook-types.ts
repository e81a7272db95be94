import type { ReplyAddress } from "../../bus/message-types.ts";
import type { JsonValue } from "../../kernel/json.ts";
import type { PlanSummary } from "../../plan/plan-types.ts";
import type {
  ActivateContext,
  EventContext,
  GlobalEventContext,
  RouteContext,
  StartupContext,
  TextContext,
  TextHookPoint,
  UpsertContext,
} from "./context-types.ts";
import type { PluginAction, PluginEvent, UpsertPayload } from "./event-types.ts";

type Awaitable<T> = T | Promise<T>;

export type UpsertVerdict =
  | { readonly proceed: true; readonly payload?: UpsertPayload }
  | { readonly reject: true; readonly reason: string };

/** Takes the plan's text and returns the new one; undefined leaves it as it is. */
export type TextHook<Point extends TextHookPoint> = (
  plan: string,
  ctx: TextContext<Point>,
  // biome-ignore lint/suspicious/noConfusingVoidType: a function without a return is typed void
) => Awaitable<string | undefined | void>;

/** Called for plugins under `globalPlugins`. */
export interface GlobalHooks {
  onStartup?(ctx: StartupContext): Awaitable<void>;
  onGlobalEvent?(event: PluginEvent, ctx: GlobalEventContext): Awaitable<void>;
  /** Returning an address sends the action there instead. */
  // biome-ignore lint/suspicious/noConfusingVoidType: a function without a return is typed void
  beforeRoute?(action: PluginAction, ctx: RouteContext): Awaitable<void | undefined | null | { target: ReplyAddress }>;
  beforeUpsert?(payload: UpsertPayload, ctx: UpsertContext): Awaitable<UpsertVerdict>;
  afterActivate?(plan: PlanSummary & { readonly worktree: string }, ctx: ActivateContext): Awaitable<void>;
}

/** Called for plugins under `plugins`. */
export interface PlanHooks {
  onEvent?(event: PluginEvent, ctx: EventContext): Awaitable<void>;
  afterDesign?: TextHook<"afterDesign">;
  beforeTodo?: TextHook<"beforeTodo">;
  afterTodo?: TextHook<"afterTodo">;
  beforeFinish?: TextHook<"beforeFinish">;
  afterFinish?: TextHook<"afterFinish">;
}

/** One module may have hooks of both scopes; the key it is configured under says which are called. */
export type Hooks = GlobalHooks & PlanHooks;

export const GLOBAL_HOOK_POINTS = [
  "onStartup",
  "onGlobalEvent",
  "beforeRoute",
  "beforeUpsert",
  "afterActivate",
] as const;
export const TEXT_HOOK_POINTS = ["afterDesign", "beforeTodo", "afterTodo", "beforeFinish", "afterFinish"] as const;
export const PLAN_HOOK_POINTS = ["onEvent", ...TEXT_HOOK_POINTS] as const;
export type GlobalHookPoint = (typeof GLOBAL_HOOK_POINTS)[number];
export type PlanHookPoint = (typeof PLAN_HOOK_POINTS)[number];
export type HookPoint = GlobalHookPoint | PlanHookPoint;

/** What a plugin module exports as its default. */
export type PluginFactory<Config = Readonly<Record<string, JsonValue>>> = (config: Config) => Awaitable<Hooks>;
