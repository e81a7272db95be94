import { matchesAny } from "../paths.ts";
import type { Policy } from "../policy-file.ts";
import { isListedRead, onlyAnswers, type PolicyRule, type Question, type RuleRefusal, taskInHand } from "../rule.ts";
import { inBoth, isListed, isMcpTool } from "../tools/listed.ts";

export const allowedTools: PolicyRule = {
  name: "allowed tools",
  purpose: "A task names the tools for it; tools that are not known, and those of MCP servers, are allowed one by one.",
  judge(question) {
    const { request, policy } = question;
    const kind = request.kind === "other" ? kindOfListed(question) : request.kind;
    if (kind === undefined) return unlisted(question);
    const allowed = listOf(question);
    if (allowed === undefined || kind === "govern") return undefined;
    if (isListed(allowed, { kind, tool: request.tool }) || onlyAnswers(question)) return undefined;
    return {
      what: `You tried to use "${request.tool}" (${kind}), which this task does not have.`,
      why: `The task may be done with: ${allowed.join(", ")}.`,
      useInstead: "Use one of these, or say in your answer what else is needed and why.",
      calls: [{ tool: "govern_task", input: { action: "status" } }],
      evidence: `allowedTools of ${policy.node ?? "the task"} = ${JSON.stringify(allowed)}`,
    };
  },
};

function listOf(question: Question): readonly string[] | undefined {
  const { policy } = question;
  const node = taskInHand(question)?.node;
  const own = node && node.allowedTools.length > 0 ? node.allowedTools : undefined;
  if (policy.tools === null) return own;
  return own ? inBoth(policy.tools, own) : policy.tools;
}

/** What a tool that the config or the role names counts as; undefined for one that is not named. */
function kindOfListed({ request, policy }: Question): "read" | "write" | "other" | undefined {
  const own = ownMcpTools(policy);
  if (own.length > 0 && !own.includes(request.tool)) return undefined;
  if (isListedRead(request, policy)) return "read";
  if (matchesAny(request.tool, policy.mcp.writes) && policy.role.tools.includes("write")) return "write";
  return own.length > 0 ? "other" : undefined;
}

/** A role that names single ones has those only. */
const ownMcpTools = ({ role }: Policy): string[] => role.tools.filter(isMcpTool);

function unlisted({ request, policy }: Question): RuleRefusal {
  const own = ownMcpTools(policy);
  if (own.length > 0) return notOfRole(request.tool, own, policy.role.name);
  return {
    what: `You tried to use "${request.tool}", a tool that nothing is known about.`,
    why: "A tool that is not known could change anything, also outside of the worktree.",
    useInstead: `Use the tools for reading, editing and running. A person can allow this one: governance.mcp.reads or .writes in prloom/config.json, with "${request.tool}".`,
    evidence: `policy.mcp = ${JSON.stringify(policy.mcp)}`,
  };
}

function notOfRole(tool: string, own: readonly string[], role: string): RuleRefusal {
  return {
    what: `You tried to use "${tool}", and you are "${role}".`,
    why: `Of tools of MCP servers, the role "${role}" has only: ${own.join(", ")}.`,
    useInstead: "Use one of these, or say in your answer what else is needed and why.",
    evidence: `policy.role.tools has ${JSON.stringify(own)}`,
  };
}
