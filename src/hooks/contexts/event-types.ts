import type { BusEvent, EventAuthor, Payload, RawUpsertPayload, ReplyAddress } from "../../bus/message-types.ts";
import type { Phase, PlanSource, PlanStatus } from "../../plan/plan-types.ts";

export type { MergeMethod, Notification, ReviewSubmission } from "../../bus/message-types.ts";

export type PlanLocation = "inbox" | "worktree";

/**
 * What `event.context` holds for each `event.type`. A bridge adds its own types by declaring them:
 * `declare module "prloom/plugin" { interface EventContexts { card_moved: { column: string } } }`.
 * Types with a dot ("issue.opened") need no declaration; their context is then an open object.
 */
export interface EventContexts {
  plan_created: {
    planId: string;
    location: PlanLocation;
    source?: PlanSource;
    status: PlanStatus;
    /** sha256 of the bytes; the first plan_edited has it as its `oldHash`. */
    hash: string;
  };
  plan_edited: {
    planId: string;
    location: PlanLocation;
    source?: PlanSource;
    /** sha256 of the bytes before and after. */
    oldHash: string;
    newHash: string;
    /** Whether more changed than ticks and the Progress Log. */
    digestChanged: boolean;
  };
  plan_status_changed: { planId: string; source?: PlanSource; oldStatus: PlanStatus; newStatus: PlanStatus };
  /** `oldPhase` is absent for the first. */
  plan_phase_changed: { planId: string; source?: PlanSource; oldPhase?: Phase; newPhase: Phase };
  /** It does not go on until a person helps; `hint` says what to type. */
  plan_blocked: { planId: string; source?: PlanSource; reason: string; hint?: string };
  plan_deleted: {
    planId: string;
    location: PlanLocation;
    source?: PlanSource;
    reason: "deleted" | "file_removed" | "cleaned";
  };
  /** A plan was shown to people who may approve it. */
  gate_opened: GateContext;
  /** What became of that; also `expired`, and `revised` by prloom for a plan that changed and is shown again. */
  gate_decided: GateContext;
  /**
   * A person said something to a plan. `todo` is the id of the TODO that it was said to. `ownLogin` is there if prloom posts under the
   * author's login, too: then it cannot be told whether a person or an agent wrote it.
   */
  comment: { author: EventAuthor; todo?: string; ownLogin?: string };
  /** A person sent this to the agent of a plan. */
  agent_message: { author: EventAuthor };
}

interface GateContext {
  gateId: string;
  planId: string;
  kind: string;
  /** Of what was shown. */
  digest: string;
  state: string;
  /** Who decided it, and by which way. */
  by?: string;
  via?: string;
}

interface EventBase {
  readonly id: string;
  /** The bridge or part of prloom that it came from. */
  readonly source: string;
  readonly severity: BusEvent["severity"];
  readonly title: string;
  readonly body: string;
  /** Where an answer goes; `ctx.reply` sends one there. Absent: nothing listens at the place where it came from. */
  readonly replyTo?: ReplyAddress;
}

type KnownEvent = {
  [Type in keyof EventContexts]: EventBase & { readonly type: Type; readonly context: Readonly<EventContexts[Type]> };
}[keyof EventContexts];

interface DottedEvent extends EventBase {
  readonly type: `${string}.${string}`;
  readonly context?: { readonly author?: EventAuthor; readonly [key: string]: unknown };
}

/** An event as hooks get it: `event.type === "plan_edited"` tells the compiler what its context is. */
export type PluginEvent = KnownEvent | DottedEvent;

/** The outside identity of a plan, complete: an upsert without it is refused. */
export interface UpsertPayload extends Omit<RawUpsertPayload, "source"> {
  readonly source: PlanSource;
}

/** What can be asked of the outside; `payload.type` tells the compiler which fields there are. */
export type ActionPayload = Exclude<Payload, { type: "upsert_plan" }> | UpsertPayload;

export interface PluginAction {
  readonly id: string;
  readonly type: "respond";
  readonly target: ReplyAddress;
  readonly payload: ActionPayload;
  /** The event that it answers. */
  readonly relatedEventId?: string;
}

/** An action as plugins and bridges ask for one. */
export interface NewAction {
  /** There is one type; it may be left out. */
  readonly type?: "respond";
  /** Its dedupe key: the same id again is the same action. Left out: prloom gives it one. */
  readonly id?: string;
  readonly target: ReplyAddress;
  readonly payload: ActionPayload;
  readonly relatedEventId?: string;
}
