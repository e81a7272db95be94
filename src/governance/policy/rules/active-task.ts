import { findNode } from "../../graph/types.ts";
import { onlyAnswers, onlyLooksAt, type PolicyRule } from "../rule.ts";

export const activeTask: PolicyRule = {
  name: "active task",
  purpose: "Something is changed only for a task that is started.",
  judge(question) {
    const { request, graph, policy } = question;
    if (request.kind === "govern" || onlyLooksAt(question) || onlyAnswers(question)) return undefined;
    const found = policy.node === null ? undefined : findNode(graph, policy.node);
    const status = found?.node.status;
    if (
      policy.node !== null &&
      (status === undefined || status === "active" || status === "blocked" || status === "planned")
    ) {
      // Whether one that is not started may be worked on is told by the order of tasks.
      if (status !== "planned") return undefined;
    }
    const what = policy.node === null ? "no task is started" : `the task "${found?.node.name}" is ${status}`;
    return {
      what: `You tried to use "${request.tool}", and ${what}.`,
      why: "What is changed belongs to a task, so that it can be checked and taken back as one.",
      useInstead:
        policy.node === null ? "See which tasks there are, and start one:" : "Start the task, or another one:",
      calls: [{ tool: "govern_task", input: { action: "status" } }],
      evidence: `policy.node = ${JSON.stringify(policy.node)}${status ? `, its status is "${status}"` : ""}`,
    };
  },
};
