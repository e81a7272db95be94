import type { Delegation } from "../governance/graph/schema.ts";
import type { Policy } from "../governance/policy/policy-file.ts";
import { roleNamed } from "../governance/policy/roles.ts";

/** Sub-agents that agent programs bring along, and what they are for us. */
const KNOWN_SUB_AGENTS: Readonly<Record<string, string>> = {
  explore: "investigator",
  Explore: "investigator",
  plan: "investigator",
  Plan: "investigator",
};

type HandedOver = Pick<Delegation, "to" | "node" | "tools" | "session">;

/** The role that a sub-agent has: the one that it is called, or else that of the one who started it. */
export function roleOfSubAgent(to: string | undefined, parent: Policy["role"]): string {
  if (to === undefined) return parent.name;
  const named = KNOWN_SUB_AGENTS[to] ?? to;
  return roleNamed(named) ? named : parent.name;
}

/** What a sub-agent may do: what was handed over to it, and never more than the one who did. */
export function childPolicy(parent: Policy, { to, node, tools: handed, session }: HandedOver): Policy {
  const tools = handed.length > 0 ? [...handed] : null;
  return {
    ...parent,
    role: narrowed(to, parent.role),
    node,
    tools: parent.tools === null ? tools : tools ? tools.filter((tool) => parent.tools?.includes(tool)) : parent.tools,
    session,
  };
}

/** A role as far as another one has it, too. */
function narrowed(name: string, parent: Policy["role"]): Policy["role"] {
  const role = roleNamed(name);
  if (!role || name === parent.name) return parent;
  return {
    name,
    tools: role.tools.filter((tool) => parent.tools.includes(tool)),
    paths: parent.paths.includes("**") ? [...role.paths] : role.paths.filter((path) => parent.paths.includes(path)),
    shell: role.shell === "none" || parent.shell === "work" ? role.shell : parent.shell,
    governs: Object.fromEntries(Object.entries(role.governs).map(([tool, actions]) => [tool, [...actions]])),
  };
}
