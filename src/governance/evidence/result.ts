import { changeNode } from "../graph/changes.ts";
import { nodesOf } from "../graph/lookup.ts";
import type { TaskGraph, TaskNode, TaskResult } from "../graph/schema.ts";

/** From what was recorded, not from what a model says. */
export function recordedResult({ artifacts, checkpoints }: TaskNode): Pick<TaskResult, "filesModified" | "testsRun"> {
  const tests = checkpoints.filter(({ kind }) => kind === "test");
  const passed = tests.filter(({ ok }) => ok).length;
  const testsRun = tests.length === 0 ? "none" : `${tests.length} runs, ${passed} passed`;
  return { filesModified: artifacts, testsRun };
}

/** Gives tasks that the dispatcher completed a result: what was recorded for them, and what their agent said at the end. */
export function withResults(graph: TaskGraph): TaskGraph {
  const completed = graph.workPlans.flatMap(nodesOf).filter(({ status, result }) => status === "completed" && !result);
  return completed.reduce((all, node) => {
    const { checkpoints, claim } = node;
    const evidence =
      claim?.result?.evidence ?? (checkpoints.length > 0 ? `${checkpoints.length} checkpoints` : undefined);
    if (evidence === undefined) return all;
    const result = { evidence, ...recordedResult(node), anchorsCreated: claim?.result?.anchorsCreated ?? [] };
    return changeNode(all, node, (one) => ({ ...one, result }));
  }, graph);
}
