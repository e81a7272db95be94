import type { PolicyRule } from "../rule.ts";

export const sessionOwnership: PolicyRule = {
  name: "session ownership",
  purpose: "A session is continued only by the session that started it.",
  judge({ request, graph, policy }) {
    const resumes = request.delegate?.resumes;
    if (resumes === undefined) return undefined;
    const own = request.session ?? policy.session;
    const isChild = graph.delegations.some(
      ({ session, parentSession }) => session === resumes && parentSession === own,
    );
    if (isChild) return undefined;
    return {
      what: `You tried to go on with the session ${resumes}.`,
      why: "It is not one that you started, and it may have other rights than you.",
      useInstead: "Start a session of your own: leave out the id.",
      evidence: `no delegation from ${own ?? "this session"} to ${resumes}`,
    };
  },
};
