import { onlyAnswers, onlyLooksAt, type PolicyRule } from "../rule.ts";

export const door: PolicyRule = {
  name: "gate",
  purpose: "While a person decides about the plan, nothing is changed.",
  judge(question) {
    const { door: state, root } = question.policy;
    if (state.state === "open" || onlyLooksAt(question) || onlyAnswers(question)) return undefined;
    return {
      what: `You tried to use "${question.request.tool}", which can change something, while the door is closed.`,
      why: state.reason,
      useInstead: "Read and search as you like. What you found out goes into the plan, which you can still edit:",
      calls: [{ tool: "read", input: { filePath: `${root}/prloom/.local/plan.md` } }],
      evidence: `policy.door.state = "closed"${state.gateId ? `, gate ${state.gateId}` : ""}`,
    };
  },
};
