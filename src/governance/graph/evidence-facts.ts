import { applied, type Change, changeNode, refuse } from "./changes.ts";
import type { FactOf } from "./facts.ts";
import { movedDelegation } from "./lifecycle.ts";
import { findNode } from "./lookup.ts";
import type { Given } from "./plan-facts.ts";
import type { TaskGraph } from "./schema.ts";

/** More are on the disk, and shown nowhere. */
const MAX_CHECKPOINTS = 1000;
const MAX_ARTIFACTS = 1000;
const MAX_DELEGATIONS = 1000;

/** What was done belongs to the node that was worked on. Those of the dispatcher may be over by the time that it is read. */
export function addCheckpoint(graph: TaskGraph, { checkpoint }: FactOf<"checkpoint">, given: Given): Change {
  const node = findNode(graph, checkpoint.taskNodeId)?.node;
  if (!node) return refuse("no-node", `There is no task "${checkpoint.taskNodeId}".`);
  if (node.status !== "active" && !given.has(node.id))
    return refuse("not-a-move", `The task "${node.name}" is ${node.status}.`);
  const changed = changeNode(graph, node, (one) => ({
    ...one,
    modifiedAt: checkpoint.timestamp,
    checkpoints: [...one.checkpoints.slice(1 - MAX_CHECKPOINTS), checkpoint],
    artifacts: withFiles(one.artifacts, checkpoint.filesModified),
  }));
  return applied(changed);
}

function withFiles(known: readonly string[], files: readonly string[]): readonly string[] {
  const added = files.filter((file) => !known.includes(file));
  return added.length === 0 ? known : [...known, ...added].slice(0, MAX_ARTIFACTS);
}

/** Somebody tried to start it before its time. */
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
