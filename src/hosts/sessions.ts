import type { Delegation } from "../governance/graph/schema.ts";
import type { Policy } from "../governance/policy/policy-file.ts";
import { type Role, roleNamed } from "../governance/policy/roles.ts";
import { inBoth } from "../governance/policy/tools/listed.ts";

type HandedOver = Pick<Delegation, "to" | "node" | "tools" | "session">;

/** What a sub-agent may do: what was handed over to it, and never more than the one who did. */
export function childPolicy(parent: Policy, { to, node, tools: handed, session }: HandedOver): Policy {
  const tools = handed.length > 0 ? [...handed] : null;
  return {
    ...parent,
    role: narrowed(to === parent.role.name ? undefined : roleNamed(to, parent.roles), parent.role),
    node,
    tools: parent.tools && tools ? inBoth(parent.tools, tools) : (parent.tools ?? tools),
    session,
  };
}

/** A role as far as another one has it, too. */
function narrowed(role: Role | undefined, parent: Policy["role"]): Policy["role"] {
  if (!role) return parent;
  return {
    name: role.name,
    tools: inBoth(role.tools, parent.tools),
    paths: parent.paths.includes("**") ? [...role.paths] : role.paths.filter((path) => parent.paths.includes(path)),
    shell: role.shell === "none" || parent.shell === "work" ? role.shell : parent.shell,
    governs: Object.fromEntries(Object.entries(role.governs).map(([tool, actions]) => [tool, [...actions]])),
  };
}
