import type { MergeMethod, Notification, ReplyAddress, ReviewSubmission } from "../../bus/message-types.ts";
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

/** Actions are committed with the call: all of them when it returns, none when it throws. Each returns the action's id. */
export interface Emitters {
  emitAction(action: NewAction): string;
  /** The same `key` edits the earlier comment instead of adding one. */
  emitComment(target: ReplyAddress | undefined, message: string, options?: { key?: string }): string;
  emitReview(target: ReplyAddress | undefined, review: ReviewSubmission): string;
  /** Squashes unless told otherwise. */
  emitMerge(target: ReplyAddress | undefined, method?: MergeMethod): string;
  /** Makes a plan, or changes the one that this source has. */
  emitUpsert(upsert: Omit<UpsertPayload, "type">): string;
  /** Tells people, by the channels that `notify` in the config has for this priority. */
  emitNotification(notification: Notification): string;
}

/** Key/value memory of a plugin. Loaded before the call, committed with it. Undefined removes a key. */
export interface PluginMemory {
  getState(key: string): JsonValue | undefined;
  setState(key: string, value: JsonValue | undefined): void;
  getGlobalState(key: string): JsonValue | undefined;
  setGlobalState(key: string, value: JsonValue | undefined): void;
}

export interface EventMarks {
  /** Done: neither triage nor this plugin sees it again. */
  markEventHandled(id: string): void;
  /** Not now: this plugin is called with it again after `retryMs`. */
  markEventDeferred(id: string, reason?: string, retryMs?: number): void;
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
  readonly stage?: "designer" | "worker" | "triage" | "reviewer";
  readonly model?: string;
  /** Files of the worktree whose content is put below the prompt. */
  readonly files?: readonly string[];
  readonly timeoutMs?: number;
}

interface GlobalBase<Point extends string> extends BaseContext, Emitters, PluginMemory, GlobalPlans {
  readonly hookPoint: Point;
  readonly planId?: undefined;
  readonly worktree?: undefined;
}

export type StartupContext = GlobalBase<"onStartup">;
export type GlobalEventContext = GlobalBase<"onGlobalEvent"> & EventMarks & EventReader;
export type ActivateContext = GlobalBase<"afterActivate">;

/** Where an action lies: on the bus of a plan, or on the global one. */
export interface ActionOrigin {
  readonly from: { readonly planId?: string };
}

export type RouteContext = GlobalBase<"beforeRoute"> &
  ActionOrigin & {
    /** The action is not delivered. */
    markActionHandled(id: string): void;
  };
export type UpsertContext = GlobalBase<"beforeUpsert"> & ActionOrigin;

interface PlanBase<Point extends string> extends BaseContext, Emitters, PluginMemory, EventReader {
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

export type EventContext = PlanBase<"onEvent"> & EventMarks;
export type TextHookPoint = "afterDesign" | "beforeTodo" | "afterTodo" | "beforeFinish" | "afterFinish";
export type TextContext<Point extends TextHookPoint = TextHookPoint> = PlanBase<Point> &
  (Point extends "beforeTodo"
    ? { /** The TODO that is about to start. */ readonly todo: string }
    : Point extends "afterTodo"
      ? { /** The TODO that was just done. */ readonly todoCompleted: string }
      : unknown);
