/** The task graph, as far as rules read it. */
export interface TaskGraph {
  readonly workPlans: readonly WorkPlan[];
  readonly delegations: readonly Delegation[];
}

export interface WorkPlan {
  readonly id: string;
  readonly name: string;
  readonly status: "draft" | "active" | "completed" | "archived" | "abandoned";
  readonly tasks: readonly TaskNode[];
}

export type NodeStatus = "planned" | "blocked" | "active" | "review" | "completed" | "failed";

export interface TaskNode {
  readonly id: string;
  readonly name: string;
  readonly status: NodeStatus;
  readonly delegatedBy: string;
  /** A role. */
  readonly assignedTo: string;
  /** Kinds or names of tools; empty means those of the role. */
  readonly allowedTools: readonly string[];
  readonly dependsOn: readonly string[];
  readonly temporalGate: TemporalGate | null;
}

export interface TemporalGate {
  readonly afterTaskId: string;
  readonly reason: string;
}

/** A node given to another session. */
export interface Delegation {
  readonly from: string;
  readonly to: string;
  readonly node: string;
  readonly session: string;
  readonly parentSession: string;
}

export interface Found {
  readonly plan: WorkPlan;
  readonly node: TaskNode;
}

/** By id, made at the first question about a graph: each call of a tool asks several times. */
const indexes = new WeakMap<TaskGraph, ReadonlyMap<string, Found>>();

function indexOf(graph: TaskGraph): ReadonlyMap<string, Found> {
  const index = new Map<string, Found>();
  for (const plan of graph.workPlans)
    for (const node of plan.tasks) if (!index.has(node.id)) index.set(node.id, { plan, node });
  indexes.set(graph, index);
  return index;
}

/** The node with an id; of several, the first. A graph that changed is another object. */
export function findNode(graph: TaskGraph, id: string): Found | undefined {
  return (indexes.get(graph) ?? indexOf(graph)).get(id);
}

export interface Blocker {
  readonly id: string;
  readonly node?: TaskNode | undefined;
  readonly reason?: string | undefined;
}

/** The nodes that must be completed before this one, and are not. */
export function blockersOf(graph: TaskGraph, node: TaskNode): readonly Blocker[] {
  const blockers: Blocker[] = [];
  const gate = node.temporalGate;
  const add = (id: string, reason?: string): void => {
    const found = findNode(graph, id)?.node;
    if (found?.status !== "completed" && !blockers.some((one) => one.id === id))
      blockers.push({ id, node: found, reason });
  };
  if (gate) add(gate.afterTaskId, gate.reason);
  for (const id of node.dependsOn) add(id);
  return blockers;
}
