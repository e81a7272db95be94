import type { Phase } from "./plan-types.ts";
import type { PlanRecord } from "./record.ts";

/** What the record alone does not say of where a plan stands. */
export interface AtPhase {
  /** What the plan asks for is still to become TODOs. */
  readonly isDesignDue: boolean;
  /** What stands between the plan and its implementation. */
  readonly door: "open" | "due" | "closed";
  /** What stands between its change request and a person's review. */
  readonly prDoor: "open" | "due" | "closed";
}

/** Where a plan that is worked on stands, by what its own agents and people made of it; never by what lies in the repository. */
export function phaseOf(record: PlanRecord, { isDesignDue, door, prDoor }: AtPhase): Phase | undefined {
  const { status, side, revising, hook } = record;
  if (status !== "active") return undefined;
  if (isDesignDue || side?.stage === "designer") return revising || side?.planning ? "planning" : "investigating";
  // Plugins have their say about the design before it is complete.
  if (hook?.point === "afterDesign") return "planning";
  if (door === "closed") return "plan_gate";
  if (prDoor === "closed") return "pr_gate";
  return door === "due" ? "planning_complete" : "implementing";
}

/** Phases to tell after the one that was told last. One that passed between two looks is told all the same. */
export function phasesSince(told: Phase | undefined, now: Phase): Phase[] {
  if (told === now) return [];
  const isDesigning = told === "investigating" || told === "planning";
  const isBeyond = now === "plan_gate" || now === "implementing" || now === "pr_gate";
  return [
    ...(told === "investigating" && now !== "planning" ? (["planning"] as const) : []),
    ...((told === undefined || isDesigning) && isBeyond ? (["planning_complete"] as const) : []),
    now,
  ];
}
