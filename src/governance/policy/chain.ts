import { blockersOf, type TaskGraph, type TaskNode, type WorkPlan } from "../graph/types.ts";

const MAX_NODES = 12;

/** The plan's nodes in order, with the one in hand and what blocks it. */
export function renderChain(graph: TaskGraph, plan: WorkPlan, own: TaskNode): string {
  const blocking = new Set(blockersOf(graph, own).map(({ id }) => id));
  const lines = plan.tasks.map((node) => {
    const mark = blocking.has(node.id) ? " ← BLOCKING" : node.id === own.id ? " ← YOUR TASK" : "";
    return `    ${node.id}: ${node.name} [${node.status}]${mark}`;
  });
  const at = plan.tasks.indexOf(own);
  const from = Math.max(0, Math.min(at - MAX_NODES / 2, lines.length - MAX_NODES));
  const shown = lines.slice(from, from + MAX_NODES);
  const more = lines.length - shown.length;
  return [`  ${plan.id}: ${plan.name} [${plan.status}]`, ...shown, ...(more > 0 ? [`    … ${more} more`] : [])].join(
    "\n",
  );
}
