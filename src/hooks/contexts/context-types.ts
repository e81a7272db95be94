import type { MergeMethod, Notification, ReplyAddress, ReviewSubmission } from "../../bus/message-types.ts";
import type { Stage } from "../../config/agent-words.ts";
import type { JsonValue } from "../../kernel/json.ts";
import type { PlanSource, PlanStatus, PlanSummary } from "../../plan/plan-types.ts";
import type { NewAction, PlanLocation, PluginEvent, UpsertPayload } from "./event-types.ts";

/** Lines for the log of the dispatcher, marked with the name of the plugin or bridge. */
export interface PluginLog {
  info(text: string): void;
  warn(text: string): void;
  error(text: string): void;
}

export interface PlanContent {
  readonly content: string;
  readonly progress: { readonly total: number; readonly completed: number };
}

/** Only plans that match everything that is given. */
export interface PlanQuery {
  readonly status?: PlanStatus | readonly PlanStatus[];
  readonly hidden?: boolean;
  readonly source?: Partial<PlanSource>;
  readonly location?: PlanLocation;
}

/**
 * The `AbortSignal` of the types that a project has, those of Node or of browsers; where it has neither, as much of it as
 * a hook needs.
 */
export type CallSignal = typeof globalThis extends { AbortSignal: { prototype: infer Signal } }
  ? Signal
  : {
      readonly aborted: boolean;
      readonly reason: unknown;
      throwIfAborted(): void;
      addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void;
      removeEventListener(type: "abort", listener: () => void): void;
    };

/** In every context. */
export interface BaseContext {
  /** Top of the main working tree. */
  readonly repoRoot: string;
  /** Aborted when the call takes too long or is over, or when the dispatcher stops. */
  readonly signal: CallSignal;
  readonly log: PluginLog;
}

export interface CommentOptions {
  /** The same key edits the earlier comment instead of adding one. */
  readonly key?: string;
}

/** Actions are committed with the call: all of them when it returns, none when it throws. Each returns the action's id. */
export interface Emitters {
  emitAction(action: NewAction): string;
  emitComment(target: ReplyAddress, message: string, options?: CommentOptions): string;
  emitReview(target: ReplyAddress, review: ReviewSubmission): string;
  /** Squashes unless told otherwise. */
  emitMerge(target: ReplyAddress, method?: MergeMethod): string;
  /** Makes a plan, or changes the one that this source has. */
  emitUpsert(upsert: Omit<UpsertPayload, "type">): string;
  /** Tells people, by the channels that `notify` in the config has for this priority. */
  emitNotification(notification: Notification): string;
}

/** What a plugin keeps: its keys, and the value that each has. */
export type PluginState = { readonly [key: string]: JsonValue };

/** Whether a type is one of a plugin's state, also when it is written as an interface. */
export type StateShape<State> = { readonly [Key in keyof State]: JsonValue | undefined };

/**
 * Key/value memory of a plugin. Loaded before the call, committed with it. Undefined removes a key. `State` names the keys
 * of both stores, and is not checked when the plugin is run: a file that an older version wrote is as that version left it.
 */
export interface PluginMemory<State = PluginState> {
  /** Of the plan at hand in hooks of plans, of the repository in global ones. */
  getState<Key extends keyof State & string>(key: Key): State[Key] | undefined;
  setState<Key extends keyof State & string>(key: Key, value: State[Key] | undefined): void;
  /** Of the repository. */
  getGlobalState<Key extends keyof State & string>(key: Key): State[Key] | undefined;
  setGlobalState<Key extends keyof State & string>(key: Key, value: State[Key] | undefined): void;
}

/** About the event in hand. Its id may be given, and must then be its own. */
export interface EventMarks {
  /** Done: neither triage nor this plugin sees it again. */
  markEventHandled(id?: string): void;
  /** Not now: this plugin is called with it again after `retryMs`, and nothing that this call emitted or set is kept. */
  markEventDeferred(reason?: string, retryMs?: number): void;
  markEventDeferred(id: string, reason?: string, retryMs?: number): void;
}

export interface EventReplies {
  /**
   * Comments at the `replyTo` of the event in hand and returns the action's id. An event without a `replyTo` cannot be
   * answered, and never will be: then nothing is sent, the log says so, and undefined is returned.
   */
  reply(message: string, options?: CommentOptions): string | undefined;
}

export interface EventReader {
  /** Events of this bus after `sinceId` (else from the first), oldest first. Moves no cursor of prloom. */
  readEvents(options?: {
    readonly types?: readonly string[];
    readonly sinceId?: string;
    readonly limit?: number;
  }): Promise<{ readonly events: PluginEvent[]; readonly lastId?: string }>;
}

export interface GlobalPlans {
  /** Undefined when there is no such plan. */
  readPlan(planId: string): Promise<PlanContent | undefined>;
  listPlans(filter?: PlanQuery): Promise<PlanSummary[]>;
}

export interface AgentOptions {
  /** Whose agent of the config it is. `reviewer` */
  readonly stage?: Stage;
  readonly model?: string;
  /** Files of the worktree whose content is put below the prompt. */
  readonly files?: readonly string[];
  readonly timeoutMs?: number;
}

interface GlobalBase<Point extends string, State> extends BaseContext, Emitters, PluginMemory<State>, GlobalPlans {
  readonly hookPoint: Point;
  readonly planId?: undefined;
  readonly worktree?: undefined;
}

export type StartupContext<State = PluginState> = GlobalBase<"onStartup", State>;
export type GlobalEventContext<State = PluginState> = GlobalBase<"onGlobalEvent", State> &
  EventMarks &
  EventReplies &
  EventReader;
export type ActivateContext<State = PluginState> = GlobalBase<"afterActivate", State>;

/** Where an action lies: on the bus of a plan, or on the global one. */
export interface ActionOrigin {
  readonly from: { readonly planId?: string };
}

export type RouteContext<State = PluginState> = GlobalBase<"beforeRoute", State> &
  ActionOrigin & {
    /** The action in hand is not delivered. Its id may be given, and must then be its own. */
    markActionHandled(id?: string): void;
  };
export type UpsertContext<State = PluginState> = GlobalBase<"beforeUpsert", State> & ActionOrigin;

interface PlanBase<Point extends string, State> extends BaseContext, Emitters, PluginMemory<State>, EventReader {
  readonly hookPoint: Point;
  readonly planId: string;
  /** Undefined until the plan is activated. */
  readonly worktree: string | undefined;
  /** The change request, as the forge calls it. */
  readonly changeRequestRef: string | undefined;
  /** Without an id: the plan that the hook is about. */
  readPlan(planId?: string): Promise<PlanContent | undefined>;
  /** Runs an agent in the worktree of the plan and gives back what it printed. */
  runAgent(prompt: string, options?: AgentOptions): Promise<string>;
}

export type EventContext<State = PluginState> = PlanBase<"onEvent", State> & EventMarks & EventReplies;
export const TEXT_HOOK_POINTS = ["afterDesign", "beforeTodo", "afterTodo", "beforeFinish", "afterFinish"] as const;
export type TextHookPoint = (typeof TEXT_HOOK_POINTS)[number];
export type TextContext<Point extends TextHookPoint = TextHookPoint, State = PluginState> = PlanBase<Point, State> &
  (Point extends "beforeTodo"
    ? { /** The TODO that is about to start. */ readonly todo: string }
    : Point extends "afterTodo"
      ? { /** The TODO that was just done. */ readonly todoCompleted: string }
      : unknown);
