import { expectedInWords } from "../graph/expected-output.ts";
import { findNode, nodesOf } from "../graph/lookup.ts";
import type { Checkpoint, TaskNode, WorkPlan } from "../graph/schema.ts";
import { fit, type Part, short } from "./fit.ts";
import { anchorParts, type TurnView, workPlanLine } from "./turn.ts";

const COMPACTION_BUDGET = 2000;
const MAX_CHECKPOINTS = 5;

const RULES = [
  "RULES:",
  "  - Change nothing without a task that is started.",
  "  - Finish the task in hand before the next.",
  '  - When it is done, say so with govern_task {"action":"complete"}.',
];

/** What a summary of the session must carry on. */
export function renderCompaction(view: Omit<TurnView, "wear" | "concerns" | "delegation">): string {
  const found = view.node === null ? undefined : findNode(view.graph, view.node);
  const parts: Part[] = [
    { yields: 0, lines: ["GOVERNANCE CONTEXT (keep this in the summary)", `PHASE: ${short(view.phase, 60)}`] },
    { yields: 0, lines: found ? workLines(found.plan, found.node) : ["TASK: none is started."] },
    ...(found ? found.node.checkpoints.slice(-MAX_CHECKPOINTS).reverse().map(checkpointPart) : []),
    { yields: 3, lines: found ? nextLine(found.plan, found.node) : [] },
    ...anchorParts(view.anchors),
    { yields: 1, lines: RULES },
  ];
  return fit(parts, COMPACTION_BUDGET);
}

function workLines(plan: WorkPlan, node: TaskNode): string[] {
  return [
    workPlanLine(plan),
    `TASK: ${node.id} "${short(node.name)}" [${node.status}], assigned to ${short(node.assignedTo, 60)}, expects ${short(expectedInWords(node))}`,
  ];
}

const checkpointPart = ({ timestamp, tool, summary }: Checkpoint): Part => ({
  yields: 4,
  lines: [`  - [${new Date(timestamp).toISOString().slice(11, 16)}] ${short(tool, 40)}: ${short(summary, 120)}`],
});

function nextLine(plan: WorkPlan, node: TaskNode): string[] {
  const next = nodesOf(plan).find((one) => one !== node && (one.status === "planned" || one.status === "blocked"));
  return next ? [`NEXT: ${next.id} "${short(next.name)}" [${next.status}]`] : [];
}
