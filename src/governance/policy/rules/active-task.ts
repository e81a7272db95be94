import { isOver } from "../../graph/lifecycle.ts";
import { blockersOf, type Found } from "../../graph/lookup.ts";
import type { TaskGraph } from "../../graph/schema.ts";
import { changesThings } from "../roles.ts";
import { onlyAnswers, onlyLooksAt, type PolicyRule, type Question, taskInHand } from "../rule.ts";

export const activeTask: PolicyRule = {
  name: "active task",
  purpose: "Something is changed only for a task that is started.",
  judge(question) {
    const { request, graph, policy } = question;
    if (request.kind === "govern" || onlyLooksAt(question) || onlyAnswers(question)) return undefined;
    const found = taskInHand(question);
    const problem = policy.node === null ? "no task is started" : problemOf(policy.node, found, graph);
    if (problem === undefined) return undefined;
    return {
      what: `You tried to use "${request.tool}", and ${problem}.`,
      why: "What is changed belongs to a task, so that it can be checked and taken back as one.",
      useInstead: insteadOf(question, found),
      calls: [{ tool: "govern_task", input: { action: "status" } }],
      evidence: `policy.node = ${JSON.stringify(policy.node)}${found ? `, its status is "${found.node.status}"` : ""}`,
    };
  },
};

/** A designer or reviewer would start one in vain. */
function insteadOf({ policy }: Question, found: Found | undefined): string {
  if (policy.node === null && !changesThings(policy.role))
    return "Write only what your prompt asks you for, and say there what should be changed. See which tasks there are for others:";
  return found ? "Start the task, or another one:" : "See which tasks there are, and start one:";
}

function problemOf(id: string, found: Found | undefined, graph: TaskGraph): string | undefined {
  if (!found) return `there is no task "${id}"`;
  const { node, plan } = found;
  if (isOver(plan.status)) return `the plan "${plan.name}" is ${plan.status}`;
  // What a task waits for is told by the order of tasks.
  const isWaiting = node.status === "blocked" && blockersOf(graph, node).length > 0;
  return node.status === "active" || isWaiting ? undefined : `the task "${node.name}" is ${node.status}`;
}
