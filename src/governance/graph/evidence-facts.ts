import { applied, type Change, changeNode, refuse } from "./changes.ts";
import type { FactOf } from "./facts.ts";
import { movedDelegation } from "./lifecycle.ts";
import { findNode, positionOf, sameOrder } from "./lookup.ts";
import type { Given } from "./plan-facts.ts";
import type { Checkpoint, TaskGraph, TaskNode } from "./schema.ts";

/** More are on the disk, and shown nowhere. */
const MAX_CHECKPOINTS = 1000;
const MAX_ARTIFACTS = 1000;
const MAX_DELEGATIONS = 1000;

/** What was done belongs to the node that was worked on. Those of the dispatcher may be over by the time that it is read. */
export function refuseCheckpoint(graph: TaskGraph, { taskNodeId }: Checkpoint, given: Given): Change | undefined {
  const node = findNode(graph, taskNodeId)?.node;
  if (!node) return refuse("no-node", `There is no task "${taskNodeId}".`);
  if (node.status === "active" || given.has(node.id)) return undefined;
  return refuse("not-a-move", `The task "${node.name}" is ${node.status}.`);
}

/** A graph with what was done for its nodes, in the order in which it was. */
export function withEvidence(graph: TaskGraph, evidence: ReadonlyMap<string, readonly Checkpoint[]>): TaskGraph {
  const lists = new Map<string, { tasks: TaskNode[]; planAhead: TaskNode[] }>();
  for (const [id, checkpoints] of evidence) {
    const position = positionOf(graph, id);
    if (!position) continue;
    const { plan, list, at } = position;
    const copies = lists.get(plan.id) ?? { tasks: [...plan.tasks], planAhead: [...plan.planAhead] };
    lists.set(plan.id, copies);
    const node = copies[list][at];
    if (node) copies[list][at] = withCheckpoints(node, checkpoints);
  }
  const workPlans = graph.workPlans.map((plan) => ({ ...plan, ...lists.get(plan.id) }));
  return sameOrder({ ...graph, workPlans }, graph);
}

function withCheckpoints(node: TaskNode, checkpoints: readonly Checkpoint[]): TaskNode {
  const files = new Set(node.artifacts);
  for (const { filesModified } of checkpoints) for (const file of filesModified) files.add(file);
  return {
    ...node,
    modifiedAt: checkpoints.at(-1)?.timestamp ?? node.modifiedAt,
    checkpoints: [...node.checkpoints, ...checkpoints].slice(-MAX_CHECKPOINTS),
    artifacts: files.size === node.artifacts.length ? node.artifacts : [...files].slice(0, MAX_ARTIFACTS),
  };
}

/** An agent tried to start it before its time. */
export function keepGate(graph: TaskGraph, { node: id, at }: FactOf<"gate_kept">): Change {
  const node = findNode(graph, id)?.node;
  if (!node) return refuse("no-node", `There is no task "${id}".`);
  const { temporalGate } = node;
  if (!temporalGate) return { kind: "known" };
  return applied(changeNode(graph, node, (one) => ({ ...one, temporalGate: { ...temporalGate, enforcedAt: at } })));
}

export function delegate(graph: TaskGraph, { delegation }: FactOf<"delegated">): Change {
  if (!findNode(graph, delegation.node)) return refuse("no-node", `There is no task "${delegation.node}".`);
  if (graph.delegations.some(({ id }) => id === delegation.id))
    return refuse("exists", `There is a delegation "${delegation.id}" already.`);
  if (graph.delegations.length >= MAX_DELEGATIONS)
    return refuse("not-a-move", `Work was handed over ${MAX_DELEGATIONS} times already.`);
  return applied({ ...graph, delegations: [...graph.delegations, { ...delegation, state: "pending" }] });
}

export function moveDelegation(graph: TaskGraph, fact: FactOf<"delegation_moved">): Change {
  const { delegation: id, move, result } = fact;
  const at = graph.delegations.findIndex((one) => one.id === id);
  const found = graph.delegations[at];
  if (!found) return refuse("no-delegation", `There is no delegation "${id}".`);
  const state = movedDelegation(found.state, move);
  if (!state) return refuse("not-a-move", `The delegation "${id}" is ${found.state}: it cannot ${move}.`);
  return applied({
    ...graph,
    delegations: graph.delegations.with(at, { ...found, state, result: result ?? found.result }),
  });
}
