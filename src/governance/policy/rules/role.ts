import type { PolicyRule, Question, RuleRefusal } from "../rule.ts";
import { isListed } from "../tools/listed.ts";

export const role: PolicyRule = {
  name: "role",
  purpose: "A role has the tools that its work needs, and no others.",
  judge(question) {
    const { request, policy } = question;
    const { name, tools, shell } = policy.role;
    if (request.kind === "govern") return governs(question);
    // What is not known is judged by the list of allowed tools.
    if (request.kind === "other") return undefined;
    const hasNoShell = request.kind === "shell" && shell === "none";
    if (!hasNoShell && isListed(tools, request)) return undefined;
    const rest = tools.filter((tool) => tool !== "shell" || shell !== "none");
    return {
      what: `You tried to use "${request.tool}" (${request.kind}), and you are "${name}".`,
      why: `The role "${name}" works with: ${rest.join(", ")}.`,
      useInstead: handOver(name),
      evidence: `policy.role.name = "${name}", policy.role.tools = ${JSON.stringify(tools)}`,
    };
  },
};

function handOver(name: string): string {
  return name === "coordinator"
    ? 'Give the work to an executor with "govern_delegate", action "assign".'
    : "Write what is needed into your answer; the agent or person who gave you the task decides about it.";
}

function governs({ request, policy }: Question): RuleRefusal | undefined {
  const actions = policy.role.governs[request.tool];
  const action = request.action?.name ?? "";
  if (actions?.includes(action)) return undefined;
  const has = Object.entries(policy.role.governs).map(([tool, names]) => `${tool} (${names.join(", ")})`);
  return {
    what: `You tried "${request.tool}" with the action "${action}", and you are "${policy.role.name}".`,
    why: actions
      ? `The role has other actions of this tool: ${actions.join(", ")}.`
      : "The role does not have this tool.",
    useInstead: `Yours are: ${has.join("; ")}.`,
    calls: policy.role.governs.govern_task?.includes("status")
      ? [{ tool: "govern_task", input: { action: "status" } }]
      : [],
    evidence: `policy.role.governs has ${JSON.stringify(actions ?? null)} for ${request.tool}`,
  };
}
