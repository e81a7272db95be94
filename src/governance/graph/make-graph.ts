import { A_CHANGE } from "./expected-output.ts";
import { GRAPH_VERSION, type TaskGraph, type TaskNode, type WorkPlan } from "./schema.ts";

/** A node with what a bare TODO has. */
export function makeNode(node: Partial<TaskNode> & Pick<TaskNode, "id" | "name" | "workPlanId">, at: number): TaskNode {
  return {
    status: "planned",
    expectedOutput: A_CHANGE,
    delegatedBy: "coordinator",
    assignedTo: "executor",
    allowedTools: [],
    dependsOn: [],
    temporalGate: null,
    checkpoints: [],
    artifacts: [],
    createdAt: at,
    modifiedAt: at,
    ...node,
  };
}

export function makeWorkPlan(plan: Partial<WorkPlan> & Pick<WorkPlan, "id" | "name">, at: number): WorkPlan {
  return {
    status: "draft",
    acceptance: [],
    category: "feature",
    dependsOn: [],
    ownedBy: "coordinator",
    tasks: [],
    planAhead: [],
    createdAt: at,
    modifiedAt: at,
    ...plan,
  };
}

/** A graph of plans of which the first that is active counts as such. */
export function makeGraph(workPlans: readonly WorkPlan[] = []): TaskGraph {
  const active = workPlans.find(({ status }) => status === "active");
  return { version: GRAPH_VERSION, activeWorkPlanId: active?.id ?? null, workPlans, delegations: [] };
}
