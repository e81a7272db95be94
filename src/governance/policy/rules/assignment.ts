import { findNode } from "../../graph/lookup.ts";
import { onlyAnswers, onlyLooksAt, type PolicyRule, taskInHand } from "../rule.ts";

export const assignment: PolicyRule = {
  name: "assignment",
  purpose: "A task is done by the role that it was given to.",
  judge(question) {
    const { request, graph, policy } = question;
    // Who hands a task over need not be the one that it is for.
    if (request.kind === "delegate") return undefined;
    const action = request.kind === "govern" ? request.action : undefined;
    const changesTask =
      action !== undefined && /^(?:start|complete|fail|review)$/.test(action.name) && request.tool === "govern_task";
    if (!changesTask && (request.kind === "govern" || onlyLooksAt(question) || onlyAnswers(question))) return undefined;
    const found = action?.node === undefined ? taskInHand(question) : findNode(graph, action.node);
    if (!found || found.node.assignedTo === policy.role.name) return undefined;
    const { node } = found;
    return {
      what: changesTask
        ? `You tried to ${action.name} the task "${node.name}", and you are "${policy.role.name}".`
        : `You tried to use "${request.tool}" for the task "${node.name}", and you are "${policy.role.name}".`,
      why: `It is assigned to "${node.assignedTo}", by "${node.delegatedBy}".`,
      useInstead: `Tell what you found out, and leave the work to "${node.assignedTo}". Your own task is shown by:`,
      calls: [{ tool: "govern_task", input: { action: "status" } }],
      evidence: `${node.id}.assignedTo = "${node.assignedTo}", ${node.id}.delegatedBy = "${node.delegatedBy}", your role = "${policy.role.name}"`,
    };
  },
};
