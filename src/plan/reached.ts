import type { Phase } from "./plan-types.ts";

/** What the source of a plan is told that it has come to. */
export const REACHED = ["investigating", "planning", "plan", "implementing", "pr", "done"] as const;
export type Reached = (typeof REACHED)[number];

/** How far a plan is, as its source is told. What a gate asks is posted by itself. */
export function reachedBy({ status }: { readonly status: string }, phase: Phase | undefined): Reached | undefined {
  if (status === "review") return "pr";
  if (status === "done") return "done";
  if (phase === "planning_complete" || phase === "plan_gate") return "plan";
  // All is done, and it is not ready before the answer.
  if (phase === "pr_gate") return "implementing";
  return phase;
}

/** What is to be told after the one that was told last. One that passed between two looks is told all the same. */
export function reachedSince(last: Reached | undefined, now: Reached): Reached[] {
  if (last === now) return [];
  // Whatever it did not come to.
  if (now === "done") return last === undefined ? [] : [now];
  const isBefore = (step: Reached): boolean => REACHED.indexOf(step) < REACHED.indexOf(now);
  const isDesigned = last === "investigating" || last === "planning";
  return [
    ...(last === "investigating" && isBefore("planning") ? (["planning"] as const) : []),
    ...((last === undefined || isDesigned) && isBefore("plan") ? (["plan"] as const) : []),
    now,
  ];
}
