import { blockersOf, nodesOf } from "../graph/lookup.ts";
import type { TaskGraph, TaskNode, WorkPlan } from "../graph/schema.ts";

const MAX_NODES = 12;

/** The plan's nodes in order, with the one in hand and what blocks it. */
export function renderChain(graph: TaskGraph, plan: WorkPlan, own: TaskNode): string {
  const nodes = nodesOf(plan);
  const blocking = new Set(blockersOf(graph, own).map(({ id }) => id));
  const lines = nodes.map((node) => {
    const mark = blocking.has(node.id) ? " ← BLOCKING" : node.id === own.id ? " ← YOUR TASK" : "";
    return `    ${node.id}: ${node.name} [${node.status}]${mark}`;
  });
  const at = nodes.indexOf(own);
  const from = Math.max(0, Math.min(at - MAX_NODES / 2, lines.length - MAX_NODES));
  const shown = lines.slice(from, from + MAX_NODES);
  const more = lines.length - shown.length;
  return [`  ${plan.id}: ${plan.name} [${plan.status}]`, ...shown, ...(more > 0 ? [`    … ${more} more`] : [])].join(
    "\n",
  );
}
