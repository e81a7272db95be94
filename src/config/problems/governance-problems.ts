import {
  OWN_ROLES,
  type OwnRole,
  ROLE_RIGHTS,
  SHELL_RIGHTS,
  type ShellRights,
  TOOL_KINDS,
} from "../governance-words.ts";
import { didYouMean } from "./nearest.ts";
import { keysAt, type Path, type ValueProblem, valueAt } from "./references.ts";

const isOwn = (name: unknown): name is OwnRole => OWN_ROLES.some((own) => own === name);

/** What is wrong with the roles of the config: what would have no effect, and what would be more than the role they extend. */
export function governanceProblems(value: unknown): ValueProblem[] {
  const roles: Path = ["governance", "roles"];
  return keysAt(value, roles).flatMap((name): ValueProblem[] => {
    const path = [...roles, name];
    if (isOwn(name)) return [{ path, message: "is a role of prloom's own; give yours another name" }];
    const base = valueAt(value, [...path, "extends"]);
    return isOwn(base) ? [...toolProblems(value, path, base), ...shellProblems(value, path, base)] : [];
  });
}

function toolProblems(value: unknown, role: Path, base: OwnRole): ValueProblem[] {
  const tools = valueAt(value, [...role, "tools"]);
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool: unknown, index): ValueProblem[] => {
    if (typeof tool !== "string" || tool.trim() === "") return [];
    const path = [...role, "tools", index];
    if (ROLE_RIGHTS[base].tools.some((one) => one === tool)) return [];
    if (TOOL_KINDS.some((kind) => kind === tool))
      return [{ path, message: `"${tool}" is not a tool of ${base}, which has ${ROLE_RIGHTS[base].tools.join(", ")}` }];
    // Those of MCP servers carry the server's name: `github_get_issue`.
    if (tool.includes("_")) return [];
    const guess = didYouMean(tool, ROLE_RIGHTS[base].tools);
    return [{ path, message: `there is no kind of tool called "${tool}"${guess}` }];
  });
}

function shellProblems(value: unknown, role: Path, base: OwnRole): ValueProblem[] {
  const path = [...role, "shell"];
  const shell = SHELL_RIGHTS.indexOf(valueAt(value, path) as ShellRights);
  if (shell <= SHELL_RIGHTS.indexOf(ROLE_RIGHTS[base].shell)) return [];
  return [{ path, message: `must not be more than "${ROLE_RIGHTS[base].shell}", which ${base} has` }];
}
