import { findNode } from "../../graph/lookup.ts";
import type { Delegation, TaskGraph } from "../../graph/schema.ts";
import { changesThings, RANKS, roleNamed, roleOfSubAgent } from "../roles.ts";
import type { PolicyRule, Question, RuleRefusal } from "../rule.ts";

const MAX_DEPTH = 3;

export const delegation: PolicyRule = {
  name: "delegation",
  purpose: "Work is handed down, for a task, three times at most, and never back to an agent that it came from.",
  judge(question) {
    const { request, graph, policy } = question;
    const isAssignment = request.tool === "govern_delegate" && request.action?.name === "assign";
    if (request.kind !== "delegate" && !isAssignment) return undefined;
    const own = policy.role.name;
    const to = request.delegate?.to;
    if (policy.node === null)
      return refuse("without a task", "Only work on a task can be handed over.", "policy.node = null");
    if (isAssignment && to !== undefined && !roleNamed(to, policy.roles)) return noRole(to, question);
    if (to !== undefined && (isAbove(to, own) || (to === own && own === "coordinator")))
      return refuse(`to "${to}"`, "Work is handed down, never up and never to oneself.", `your role = "${own}"`);
    const unfit = unfitFor(to, graph, question);
    if (unfit) return unfit;
    return refuseChain(to, chainOf(request.session ?? policy.session, graph.delegations));
  },
};

const refuse = (what: string, why: string, evidence: string): RuleRefusal => ({
  what: `You tried to hand over work ${what}.`,
  why,
  useInstead: "Do it yourself, or say in your answer who should.",
  evidence,
});

function noRole(to: string, { policy }: Question): RuleRefusal {
  const known = ["investigator", "executor", ...Object.keys(policy.roles ?? {})];
  return {
    ...refuse(`to "${to}"`, "There is no such role.", `roles: ${known.join(", ")}`),
    useInstead: `Assign it to one of these: ${known.join(", ")}.`,
  };
}

/** Research changes nothing, in any role. */
function unfitFor(to: string | undefined, graph: TaskGraph, { policy }: Question): RuleRefusal | undefined {
  const plan = policy.node === null ? undefined : findNode(graph, policy.node)?.plan;
  const role = roleOfSubAgent(to, policy);
  if (plan?.category !== "research" || !changesThings(role)) return undefined;
  return {
    ...refuse(`to "${to ?? role.name}"`, "The plan is research, which goes to investigators.", `category = "research"`),
    useInstead: "Hand it to an investigator.",
  };
}

/** Who handed over what to whom, as far as it leads to the one who asks. */
function refuseChain(to: string | undefined, chain: readonly Delegation[]): RuleRefusal | undefined {
  const names = [...(chain[0] ? [chain[0].from] : []), ...chain.map(({ agent, to: role }) => agent ?? role)];
  const way = [...names, to ?? "?"].join(" → ");
  if (chain.length >= MAX_DEPTH)
    return refuse(
      "once more",
      `It was handed over ${chain.length} times already.`,
      `MAX_DELEGATION_DEPTH: ${way}; depth ${chain.length}, at most ${MAX_DEPTH}`,
    );
  if (to !== undefined && chain.some(({ agent }) => agent === to))
    return refuse(
      `to "${to}" again`,
      "It would come back to an agent that it came from.",
      `CIRCULAR_DELEGATION: ${way}`,
    );
  return undefined;
}

/** A role of the config has less than the one that it extends, which may be any: all but the lowest are above it. */
function isAbove(to: string, own: string): boolean {
  const [rank, ownRank] = [RANKS.indexOf(to), RANKS.indexOf(own)];
  return rank >= 0 && rank < (ownRank < 0 ? RANKS.length - 1 : ownRank);
}

/** From the first to the one that the session has; facts can be forged into a circle. */
function chainOf(session: string | null | undefined, delegations: readonly Delegation[]): readonly Delegation[] {
  const chain: Delegation[] = [];
  for (let at = session; at !== undefined && at !== null && chain.length < 100; ) {
    const found = delegations.find((one) => one.session === at);
    if (!found) break;
    chain.unshift(found);
    at = found.parentSession;
  }
  return chain;
}
