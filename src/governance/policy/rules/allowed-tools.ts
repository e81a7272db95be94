import { findNode } from "../../graph/types.ts";
import { matchesAny } from "../paths.ts";
import { isListedRead, type PolicyRule, type Question, type RuleRefusal } from "../rule.ts";

export const allowedTools: PolicyRule = {
  name: "allowed tools",
  purpose: "A task names the tools for it; tools that are not known, and those of MCP servers, are allowed one by one.",
  judge(question) {
    const { request, policy } = question;
    const kind = request.kind === "other" ? kindOfListed(question) : request.kind;
    if (kind === undefined) return unlisted(question);
    const allowed = listOf(question);
    if (allowed === undefined || kind === "govern") return undefined;
    if (allowed.includes(kind) || allowed.includes(request.tool)) return undefined;
    return {
      what: `You tried to use "${request.tool}" (${kind}), which this task does not have.`,
      why: `The task may be done with: ${allowed.join(", ")}.`,
      useInstead: "Use one of these, or say in your answer what else is needed and why.",
      calls: [{ tool: "govern_task", input: { action: "status" } }],
      evidence: `allowedTools of ${policy.node ?? "the task"} = ${JSON.stringify(allowed)}`,
    };
  },
};

function listOf({ graph, policy }: Question): readonly string[] | undefined {
  const node = policy.node === null ? undefined : findNode(graph, policy.node)?.node;
  const lists = [policy.tools, node && node.allowedTools.length > 0 ? node.allowedTools : null].filter(
    (list) => list !== null && list !== undefined,
  );
  const [first, second] = lists;
  return second ? first?.filter((tool) => second.includes(tool)) : (first ?? undefined);
}

/** What a tool that the config or the role names counts as; undefined for one that is not named. */
function kindOfListed({ request, policy }: Question): "read" | "write" | "other" | undefined {
  if (isListedRead(request, policy)) return "read";
  if (matchesAny(request.tool, policy.mcp.writes) && policy.role.tools.includes("write")) return "write";
  return policy.role.tools.includes(request.tool) ? "other" : undefined;
}

function unlisted({ request, policy }: Question): RuleRefusal {
  return {
    what: `You tried to use "${request.tool}", a tool that nothing is known about.`,
    why: "A tool that is not known could change anything, also outside of the worktree.",
    useInstead: `Use the tools for reading, editing and running. A person can allow this one: governance.mcp.reads or .writes in prloom/config.json, with "${request.tool}".`,
    evidence: `policy.mcp = ${JSON.stringify(policy.mcp)}`,
  };
}
