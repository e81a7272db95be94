import type { TaskGraph, TaskNode, WorkPlan } from "./schema.ts";

export interface Found {
  readonly plan: WorkPlan;
  readonly node: TaskNode;
}

/** Where things are in a graph, by id. */
interface Index {
  readonly plans: ReadonlyMap<string, number>;
  readonly nodes: ReadonlyMap<string, NodePosition>;
  readonly parts: ReadonlyMap<string, readonly string[]>;
}

interface NodePosition {
  readonly plan: number;
  readonly list: "tasks" | "planAhead";
  readonly at: number;
}

/** Made at the first question about a graph: each call of a tool asks several times. */
const indexes = new WeakMap<TaskGraph, Index>();

function indexOf(graph: TaskGraph): Index {
  const before = indexes.get(graph);
  if (before) return before;
  const plans = new Map<string, number>();
  const nodes = new Map<string, NodePosition>();
  const parts = new Map<string, string[]>();
  for (const [plan, one] of graph.workPlans.entries()) {
    plans.set(one.id, plan);
    for (const list of ["tasks", "planAhead"] as const)
      for (const [at, { id, parent }] of one[list].entries()) {
        if (nodes.has(id)) continue;
        nodes.set(id, { plan, list, at });
        if (parent === undefined) continue;
        const siblings = parts.get(parent);
        if (siblings) siblings.push(id);
        else parts.set(parent, [id]);
      }
  }
  const made = { plans, nodes, parts };
  indexes.set(graph, made);
  return made;
}

/** Of a graph in which everything is where it is in another one: it needs no index of its own. */
export function sameOrder(graph: TaskGraph, before: TaskGraph): TaskGraph {
  const index = indexes.get(before);
  if (index) indexes.set(graph, index);
  return graph;
}

/** Where a node is. */
export function positionOf(
  graph: TaskGraph,
  id: string,
): { plan: WorkPlan; list: NodePosition["list"]; at: number } | undefined {
  const position = indexOf(graph).nodes.get(id);
  const plan = position && graph.workPlans[position.plan];
  return plan && { plan, list: position.list, at: position.at };
}

/** The node with an id; of several, the first. A graph that changed is another object. */
export function findNode(graph: TaskGraph, id: string): Found | undefined {
  const position = positionOf(graph, id);
  const node = position?.plan[position.list][position.at];
  return node && { plan: position.plan, node };
}

/** What a node was split into. */
export function partsOfNode(graph: TaskGraph, id: string): readonly TaskNode[] {
  const parts = indexOf(graph).parts.get(id) ?? [];
  return parts.flatMap((part) => findNode(graph, part)?.node ?? []);
}

export function findPlan(graph: TaskGraph, id: string): WorkPlan | undefined {
  const at = indexOf(graph).plans.get(id);
  return at === undefined ? undefined : graph.workPlans[at];
}

/** All nodes of a plan, those that come later last. */
export const nodesOf = ({ tasks, planAhead }: WorkPlan): readonly TaskNode[] =>
  planAhead.length === 0 ? tasks : [...tasks, ...planAhead];

export interface Blocker {
  readonly id: string;
  /** The node or plan that is waited for; unset when there is none of that id. */
  readonly found?: { readonly name: string; readonly status: string } | undefined;
  readonly reason?: string | undefined;
}

/** The nodes, and the plans of its plan, that must be completed before this one, and are not. */
export const blockersOf = (graph: TaskGraph, node: TaskNode): readonly Blocker[] =>
  blockersIn(graph, node, Number.POSITIVE_INFINITY);

/** Whether there are any. */
export const isWaiting = (graph: TaskGraph, node: TaskNode): boolean => blockersIn(graph, node, 1).length > 0;

const NO_BLOCKERS: readonly Blocker[] = [];

/** So many of them at most. Asked at every call of a tool, and hardly ever there. */
function blockersIn(graph: TaskGraph, node: TaskNode, most: number): readonly Blocker[] {
  let blockers: Map<string, Blocker> | undefined;
  const look = (id: string, reason?: string) => {
    const found = findNode(graph, id)?.node;
    if (found?.status === "completed" || blockers?.has(id)) return;
    blockers ??= new Map();
    blockers.set(id, { id, found, reason });
  };
  if (node.temporalGate) look(node.temporalGate.afterTaskId, node.temporalGate.reason);
  for (const id of node.dependsOn) if ((blockers?.size ?? 0) < most) look(id);
  for (const id of findPlan(graph, node.workPlanId)?.dependsOn ?? []) {
    const found = findPlan(graph, id);
    if (found?.status === "completed" || found?.status === "archived" || blockers?.has(id)) continue;
    blockers ??= new Map();
    blockers.set(id, { id, found, reason: "Its plan waits for that plan." });
  }
  return blockers ? [...blockers.values()] : NO_BLOCKERS;
}

/** A way from an id back to itself over what each waits for; undefined when there is none. */
export function cycleFrom(id: string, waitsFor: (id: string) => readonly string[]): readonly string[] | undefined {
  const seen = new Set<string>();
  const ways: (readonly string[])[] = [[id]];
  for (let way = ways.pop(); way; way = ways.pop()) {
    for (const next of waitsFor(way.at(-1) ?? id)) {
      if (next === id) return [...way, next];
      if (seen.has(next)) continue;
      seen.add(next);
      ways.push([...way, next]);
    }
  }
  return undefined;
}
