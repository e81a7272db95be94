import type { DelegationState, NodeStatus, WorkPlanStatus } from "./schema.ts";

type Moves<Status extends string, Move extends string> = Readonly<
  Record<Status, Readonly<Partial<Record<Move, Status>>>>
>;

/** `blocked` is not a move: it is what a planned node is while others must be completed first. */
export type NodeMove = "start" | "review" | "complete" | "fail" | "release";

const NODE_MOVES: Moves<NodeStatus, NodeMove> = {
  planned: { start: "active" },
  blocked: {},
  active: { review: "review", complete: "completed", fail: "failed", release: "planned" },
  // A review that asks for more starts it again.
  review: { start: "active", complete: "completed", fail: "failed", release: "planned" },
  completed: {},
  failed: { start: "active" },
};

export type PlanMove = "activate" | "complete" | "archive" | "abandon";

const PLAN_MOVES: Moves<WorkPlanStatus, PlanMove> = {
  draft: { activate: "active", abandon: "abandoned" },
  active: { complete: "completed", abandon: "abandoned" },
  completed: { archive: "archived" },
  archived: {},
  abandoned: {},
};

export type DelegationMove = "accept" | "complete" | "fail" | "recall" | "expire";

const UNDER_WAY = { complete: "completed", fail: "failed", recall: "recalled", expire: "expired" } as const;

const DELEGATION_MOVES: Moves<DelegationState, DelegationMove> = {
  pending: { accept: "accepted", ...UNDER_WAY },
  accepted: UNDER_WAY,
  completed: {},
  failed: {},
  recalled: {},
  expired: {},
};

/** Where a move leads; undefined when it is not one from there. */
export const movedNode = (from: NodeStatus, move: NodeMove): NodeStatus | undefined => NODE_MOVES[from][move];
export const movedPlan = (from: WorkPlanStatus, move: PlanMove): WorkPlanStatus | undefined => PLAN_MOVES[from][move];
export const movedDelegation = (from: DelegationState, move: DelegationMove): DelegationState | undefined =>
  DELEGATION_MOVES[from][move];

/** Plans in which nothing is worked on any more. */
export const isOver = (status: WorkPlanStatus): boolean =>
  status === "completed" || status === "archived" || status === "abandoned";
