import { drawPlan } from "../../graph/draw.ts";
import { blockersOf, findNode } from "../../graph/lookup.ts";
import { onlyAnswers, onlyLooksAt, type PolicyRule, type RuleRefusal, taskInHand } from "../rule.ts";

const MAX_SHOWN = 12;

export const taskOrder: PolicyRule = {
  name: "task order",
  purpose: "A task begins when those before it are completed.",
  judge(question) {
    const { request, graph, policy } = question;
    const isStart = request.kind === "govern" && request.action?.name === "start";
    if (!isStart && (request.kind === "govern" || onlyLooksAt(question) || onlyAnswers(question))) return undefined;
    const id = isStart ? (request.action?.node ?? policy.node) : policy.node;
    const found = id === null ? undefined : id === policy.node ? taskInHand(question) : findNode(graph, id);
    if (!found) return isStart && id !== null ? missing(id) : undefined;
    const [blocker] = blockersOf(graph, found.node);
    if (!blocker) return undefined;
    const name = blocker.found
      ? `"${blocker.id}" (${blocker.found.name}), which is ${blocker.found.status}`
      : `"${blocker.id}", which does not exist`;
    return {
      what: isStart
        ? `You tried to start the task "${found.node.name}".`
        : `You tried to use "${request.tool}" for the task "${found.node.name}".`,
      why: `It waits for ${name}.${blocker.reason === undefined ? "" : ` ${blocker.reason}`}`,
      useInstead: `Wait until "${blocker.id}" is completed, or work on a task that waits for nothing. See where things are:`,
      calls: [{ tool: "govern_task", input: { action: "status" } }],
      evidence: `${found.node.id} waits for ${blocker.id}; ${blocker.id}.status = "${blocker.found?.status ?? "missing"}"`,
      chain: drawPlan(graph, found.plan, { own: found.node.id, nodes: MAX_SHOWN }).replace(/^/gm, "  "),
    };
  },
};

/** Of parts, and of tasks that an agent planned, only those of its run are there; one that goes on knows others from its conversation. */
function missing(id: string): RuleRefusal {
  const isMade = id.startsWith("tn-");
  return {
    what: `You tried to start the task "${id}".`,
    why: `There is no such task in this run.${isMade ? " Parts of an earlier run are over, and what was done for them counts for your task." : ""}`,
    useInstead: "See which tasks there are:",
    calls: [{ tool: "govern_task", input: { action: "status" } }],
    evidence: `no node of the graph has the id ${JSON.stringify(id)}`,
  };
}
