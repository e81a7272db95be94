import {
  applied,
  bringForward,
  type Change,
  changeNode,
  changePlan,
  notYours,
  refuse,
  reorderPlan,
  settleWaiting,
} from "./changes.ts";
import { type AddedRoles, missingEvidence } from "./expected-output.ts";
import type { FactOf } from "./facts.ts";
import { isOver, movedNode, movedPlan } from "./lifecycle.ts";
import { blockersOf, cycleFrom, findNode, findPlan, nodesOf, partsOfNode } from "./lookup.ts";
import { makeNode, makeWorkPlan } from "./make-graph.ts";
import type { PlannedNode, TaskGraph, TaskNode, WorkPlan } from "./schema.ts";

/** So many are made by facts, beside those of the dispatcher: each change looks at all of them. */
const MAX_PLANS = 50;
const MAX_NODES = 300;
const MAX_WAITS = 20;

/** Ids of plans and nodes that come from the dispatcher, and that facts do not move. */
export type Given = ReadonlySet<string>;

export function makePlan(graph: TaskGraph, { plan, at }: FactOf<"plan_made">): Change {
  if (findPlan(graph, plan.id)) return refuse("exists", `There is a plan "${plan.id}" already.`);
  if (graph.workPlans.length >= MAX_PLANS) return refuse("not-a-move", `There are ${MAX_PLANS} plans already.`);
  const missing = plan.dependsOn.find((id) => !findPlan(graph, id));
  if (missing !== undefined) return refuse("no-plan", `There is no plan "${missing}" to depend on.`);
  return applied({ ...graph, workPlans: [...graph.workPlans, makeWorkPlan(plan, at)] });
}

export function movePlan(graph: TaskGraph, { plan: id, move, at }: FactOf<"plan_moved">, given: Given): Change {
  const plan = findPlan(graph, id);
  if (!plan) return refuse("no-plan", `There is no plan "${id}".`);
  if (given.has(id)) return notYours(`The plan "${plan.name}"`);
  const status = movedPlan(plan.status, move);
  if (!status) return refuse("not-a-move", `The plan "${plan.name}" is ${plan.status}: it cannot ${move}.`);
  const open = move === "complete" ? nodesOf(plan).find((node) => node.status !== "completed") : undefined;
  if (open) return refuse("no-evidence", `Its task "${open.name}" is ${open.status}.`);
  // What others wait for, and was given up, would mislead them at once; the rest stays for a while.
  const isPurged = status === "abandoned" && isWaitedFor(graph, plan);
  const times = {
    modifiedAt: at,
    ...(status === "completed" ? { completedAt: at } : {}),
    ...(isPurged ? { purgedAt: at } : {}),
  };
  const moved = changePlan(graph, id, (one) => ({ ...one, ...times, status }));
  const isActive = graph.activeWorkPlanId === id;
  const activeWorkPlanId = status === "active" ? id : isActive ? null : graph.activeWorkPlanId;
  return applied(settleWaiting({ ...moved, activeWorkPlanId }));
}

/** Whether something outside of a plan waits for it, or for a node of it. */
function isWaitedFor(graph: TaskGraph, { id, ...plan }: WorkPlan): boolean {
  const ids = new Set(nodesOf({ id, ...plan }).map((node) => node.id));
  const others = graph.workPlans.filter((other) => other.id !== id && !isOver(other.status));
  return others.some(
    (other) =>
      other.dependsOn.includes(id) || nodesOf(other).some((node) => waitsFor(node).some((waited) => ids.has(waited))),
  );
}

/** Abandoned plans whose time is over: they leave the context of agents, and stay on the disk. */
export function duePurges(graph: TaskGraph, now: number, afterMs: number): readonly string[] {
  return graph.workPlans.flatMap(({ id, status, purgedAt, modifiedAt }) =>
    status === "abandoned" && purgedAt === undefined && now - modifiedAt >= afterMs ? [id] : [],
  );
}

export function purgePlan(graph: TaskGraph, { plan: id, at }: FactOf<"plan_purged">): Change {
  const plan = findPlan(graph, id);
  if (!plan) return refuse("no-plan", `There is no plan "${id}".`);
  if (plan.status !== "abandoned") return refuse("not-a-move", `The plan "${plan.name}" is ${plan.status}.`);
  return applied(changePlan(graph, id, (one) => ({ ...one, purgedAt: one.purgedAt ?? at })));
}

export function planNodes(graph: TaskGraph, fact: FactOf<"nodes_planned">, given: Given): Change {
  const { plan: id, nodes, ahead, at } = fact;
  const plan = findPlan(graph, id);
  if (!plan) return refuse("no-plan", `There is no plan "${id}".`);
  if (plan.status !== "draft" && plan.status !== "active")
    return refuse("not-a-move", `The plan "${plan.name}" is ${plan.status}.`);
  const made = graph.workPlans.flatMap(nodesOf).filter((node) => !given.has(node.id)).length;
  if (made + nodes.length > MAX_NODES) return refuse("not-a-move", `${MAX_NODES} tasks were added already.`);
  const refusal = refuseNodes(graph, nodes);
  if (refusal) return refusal;
  const added = nodes.map((node) => makeNode({ ...node, workPlanId: id }, at));
  // What else is to be done in a plan of the dispatcher is proposed; parts of a node that is there are its own affair.
  const isLater = ({ parent }: TaskNode): boolean => ahead || (given.has(id) && parent === undefined);
  const planned = reorderPlan(graph, id, (one) => ({
    ...one,
    modifiedAt: at,
    tasks: [...one.tasks, ...added.filter((node) => !isLater(node))],
    planAhead: [...one.planAhead, ...added.filter(isLater)],
  }));
  return applied(settleWaiting(planned));
}

function refuseNodes(graph: TaskGraph, nodes: readonly PlannedNode[]): Change | undefined {
  const added = new Map(nodes.map((node) => [node.id, node]));
  if (added.size < nodes.length) return refuse("exists", "Two of them have the same id.");
  const isThere = (id: string): boolean => added.has(id) || findNode(graph, id) !== undefined;
  for (const node of nodes) {
    if (findNode(graph, node.id)) return refuse("exists", `There is a task "${node.id}" already.`);
    if (node.dependsOn.length > MAX_WAITS)
      return refuse("not-a-move", `"${node.name}" waits for more than ${MAX_WAITS} tasks.`);
    const missing = [...waitsFor(node), ...(node.parent ? [node.parent] : [])].find((id) => !isThere(id));
    if (missing !== undefined)
      return refuse("no-node", `"${node.name}" names the task "${missing}", which is not there.`);
  }
  for (const { id } of nodes) {
    const cycle = cycleFrom(id, (one) => waitsFor(added.get(one) ?? findNode(graph, one)?.node));
    if (cycle) return refuse("cycle", `They wait for each other: ${cycle.join(" → ")}.`);
  }
  return undefined;
}

function waitsFor(node: PlannedNode | undefined): readonly string[] {
  if (!node) return [];
  return node.temporalGate ? [...node.dependsOn, node.temporalGate.afterTaskId] : node.dependsOn;
}

export function moveNode(
  graph: TaskGraph,
  fact: FactOf<"node_moved">,
  { given, roles }: { readonly given: Given; readonly roles: AddedRoles },
): Change {
  const { node: id, move, at, reason, result } = fact;
  const node = findNode(graph, id)?.node;
  if (!node) return refuse("no-node", `There is no task "${id}".`);
  const isDone = move === "review" || move === "complete";
  const missing = isDone
    ? missingEvidence(node, roles, { isTodo: given.has(id), whole: wholeOf(graph, node) })
    : undefined;
  if (missing !== undefined)
    return refuse("no-evidence", `The task "${node.name}" expects ${node.expectedOutput}: ${missing} is missing.`);
  if (given.has(id)) return claim(graph, fact, node);
  const [blocker] = move === "start" ? blockersOf(graph, node) : [];
  if (blocker) return refuse("waits", `The task "${node.name}" waits for "${blocker.id}".`);
  const status = movedNode(node.status, move);
  if (!status) return refuse("not-a-move", `The task "${node.name}" is ${node.status}: it cannot ${move}.`);
  const moved = changeNode(graph, node, (one) => ({
    ...one,
    status,
    modifiedAt: at,
    reason,
    ...(status === "active" ? { startedAt: at } : {}),
    ...(status === "completed" ? { completedAt: at, result } : {}),
  }));
  if (status === "active") return applied(bringForward(moved, node));
  // Only what is completed frees others, and it stays so.
  return applied(status === "completed" ? settleWaiting(moved) : moved);
}

/** A node and the parts that it was split into. */
function wholeOf(graph: TaskGraph, node: TaskNode): readonly TaskNode[] {
  const found = new Set([node]);
  // Those that are found are looked through in turn: parts may have parts.
  for (const { id } of found) for (const part of partsOfNode(graph, id)) found.add(part);
  return [...found];
}

/** Of a node of the dispatcher: it is started already, and what else is asked for is noted. */
function claim(graph: TaskGraph, { move, at, reason, result }: FactOf<"node_moved">, node: TaskNode): Change {
  if (move === "start" && node.status === "active") return { kind: "known" };
  if (move === "start" || move === "release") return notYours(`The task "${node.name}"`);
  return {
    kind: "claimed",
    graph: changeNode(graph, node, (one) => ({ ...one, claim: { move, at, reason, result } })),
  };
}
