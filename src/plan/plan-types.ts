/**
 * What plugins and bridges are told of plans. Plain types, without the schemas: the declarations of the package are made
 * of this file, and users have no zod. test/plan/types.ts holds them to the schemas.
 */

/** Of plans that are not done. */
export const OPEN_STATUSES = ["draft", "queued", "active", "triaging", "review"] as const;
export const PLAN_STATUSES = [...OPEN_STATUSES, "done"] as const;
export type PlanStatus = (typeof PLAN_STATUSES)[number];

/** The identity of a plan in the outside system that it came from; unique over all plans. */
export type PlanSource = {
  readonly system: string;
  readonly kind: string;
  readonly id: string;
};

/** Why a plan is blocked, and what to do about it. */
export interface Blocked {
  readonly reason: string;
  readonly at: string;
  readonly hint?: string | undefined;
  /** `inbox`: what is wrong lies in the inbox and is cleared when it is fixed there. */
  readonly cause?: "inbox" | "person" | "recovery" | "step" | "gate" | "forge" | undefined;
}

export interface ChangeRequest {
  readonly forge: string;
  readonly ref: string;
  readonly state: "open" | "merged" | "closed";
  readonly ready: boolean;
  readonly url?: string | undefined;
}

export const PHASES = [
  "investigating",
  "planning",
  "planning_complete",
  "plan_gate",
  "implementing",
  "pr_gate",
] as const;
export type Phase = (typeof PHASES)[number];

/** A plan in a list: what the CLI, the dashboard and plugins are shown. */
export interface PlanSummary {
  readonly planId: string;
  readonly title: string;
  readonly status: PlanStatus;
  readonly hidden: boolean;
  readonly location: "inbox" | "worktree";
  readonly source?: PlanSource;
  readonly progress: { readonly total: number; readonly completed: number };
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly blocked?: Blocked;
  readonly paused: boolean;
  readonly branch?: string;
  readonly changeRequest?: ChangeRequest;
  /** The id of the plan whose branch it stands on. */
  readonly stackedOn?: string;
  /** Why its branch is to get what its base has: a rule asks for it, the two conflict, or the plan below has ended. */
  readonly behind?: "behind" | "conflict" | "stack";
  readonly phase?: Phase;
  /** The gate at which it waits for an answer. */
  readonly gate?: { readonly gateId: string; readonly openedAt: string };
  /** What the plan waits for, as a sentence. */
  readonly waiting?: string;
}
