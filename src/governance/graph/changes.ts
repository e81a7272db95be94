import { isWaiting, nodesOf, positionOf, sameOrder } from "./lookup.ts";
import type { TaskGraph, TaskNode, WorkPlan } from "./schema.ts";

export type RefusalKind =
  | "no-plan"
  | "no-node"
  | "no-delegation"
  | "no-anchor"
  | "exists"
  | "not-a-move"
  | "waits"
  | "cycle"
  | "no-evidence"
  | "not-yours";

/** Why a fact changes nothing. */
export interface FactRefusal {
  readonly kind: RefusalKind;
  readonly reason: string;
}

/** A graph after a fact, or why it stays as it is. A claim is noted for the dispatcher, which decides. */
export type Change =
  | { readonly kind: "applied" | "claimed"; readonly graph: TaskGraph }
  | { readonly kind: "known" }
  | { readonly kind: "refused"; readonly refusal: FactRefusal };

export const refuse = (kind: RefusalKind, reason: string): Change => ({ kind: "refused", refusal: { kind, reason } });
export const applied = (graph: TaskGraph): Change => ({ kind: "applied", graph });
export const notYours = (what: string): Change => refuse("not-yours", `${what} is moved by the dispatcher alone.`);

/** Changes a plan but not which nodes it has, nor where they are. */
export function changePlan(graph: TaskGraph, id: string, change: (plan: WorkPlan) => WorkPlan): TaskGraph {
  return sameOrder(reorderPlan(graph, id, change), graph);
}

/** Changes anything about a plan. */
export function reorderPlan(graph: TaskGraph, id: string, change: (plan: WorkPlan) => WorkPlan): TaskGraph {
  const workPlans = graph.workPlans.map((plan) => (plan.id === id ? change(plan) : plan));
  return { ...graph, workPlans };
}

export function changeNode(graph: TaskGraph, { id }: TaskNode, change: (node: TaskNode) => TaskNode): TaskGraph {
  const position = positionOf(graph, id);
  if (!position) return graph;
  const { list, at } = position;
  return changePlan(graph, position.plan.id, (plan) => {
    const node = plan[list][at];
    return node ? { ...plan, [list]: plan[list].with(at, change(node)) } : plan;
  });
}

/** One that is started was planned ahead no longer. */
export function bringForward(graph: TaskGraph, { id, workPlanId }: TaskNode): TaskGraph {
  // Most are not, and where everything is need not be found out again.
  if (positionOf(graph, id)?.list !== "planAhead") return graph;
  return reorderPlan(graph, workPlanId, (plan) => {
    const node = plan.planAhead.find((one) => one.id === id);
    if (!node) return plan;
    return { ...plan, tasks: [...plan.tasks, node], planAhead: plan.planAhead.filter((one) => one !== node) };
  });
}

/**
 * Nodes that wait for others are blocked, and planned as soon as those are completed. One that failed keeps those behind it
 * waiting until it is started again and completed, or they are planned anew without it.
 */
export function settleWaiting(graph: TaskGraph): TaskGraph {
  let settled = graph;
  for (const plan of graph.workPlans) {
    for (const node of nodesOf(plan)) {
      if (node.status !== "planned" && node.status !== "blocked") continue;
      const status = isWaiting(graph, node) ? "blocked" : "planned";
      if (status !== node.status) settled = changeNode(settled, node, (one) => ({ ...one, status }));
    }
  }
  return settled;
}
