import { RANKS } from "../roles.ts";
import type { PolicyRule } from "../rule.ts";

const MAX_DEPTH = 3;

export const delegation: PolicyRule = {
  name: "delegation",
  purpose: "Work is handed down, for a task, three times at most.",
  judge({ request, graph, policy }) {
    if (request.kind !== "delegate" && !(request.tool === "govern_delegate" && request.action?.name === "assign"))
      return undefined;
    const refuse = (what: string, why: string, evidence: string) => ({
      what: `You tried to hand over work ${what}.`,
      why,
      useInstead: "Do it yourself, or say in your answer who should.",
      evidence,
    });
    const own = policy.role.name;
    const to = request.delegate?.to;
    if (policy.node === null)
      return refuse("without a task", "Only work on a task can be handed over.", "policy.node = null");
    if (to !== undefined && (isAbove(to, own) || (to === own && own === "coordinator")))
      return refuse(`to "${to}"`, "Work is handed down, never up and never to oneself.", `your role = "${own}"`);
    const depth = depthOf(request.session ?? policy.session, graph.delegations);
    if (depth >= MAX_DEPTH)
      return refuse("once more", `It was handed over ${depth} times already.`, `depth ${depth}, at most ${MAX_DEPTH}`);
    return undefined;
  },
};

/** A role of the config has less than the one that it extends, which may be any: all but the lowest are above it. */
function isAbove(to: string, own: string): boolean {
  const [rank, ownRank] = [RANKS.indexOf(to), RANKS.indexOf(own)];
  return rank >= 0 && rank < (ownRank < 0 ? RANKS.length - 1 : ownRank);
}

function depthOf(
  session: string | null | undefined,
  delegations: readonly { session: string; parentSession: string }[],
): number {
  let depth = 0;
  for (let at = session; at !== undefined && at !== null && depth < 100; depth += 1) {
    const found = delegations.find((one) => one.session === at);
    if (!found) return depth;
    at = found.parentSession;
  }
  return depth;
}
