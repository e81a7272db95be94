import { ANSWERS, type Category, ROLE_RIGHTS, SHELL_RIGHTS, type ShellRights } from "../../config/governance-words.ts";
import { kindsOf } from "./tools/listed.ts";

export { ANSWERS };

/** What a role may do, as data. */
export interface Role {
  readonly name: string;
  /** Kinds of tools, and names of single ones. */
  readonly tools: readonly string[];
  /** Where it writes, as patterns below the worktree. */
  readonly paths: readonly string[];
  readonly shell: ShellRights;
  /** Governance tools and their actions. */
  readonly governs: Readonly<Record<string, readonly string[]>>;
}

const WORKS_ON_TASKS = { govern_task: ["start", "complete", "fail", "review", "status"] };

export const ROLES: readonly Role[] = [
  {
    name: "coordinator",
    ...ROLE_RIGHTS.coordinator,
    governs: {
      govern_plan: ["create", "plan_tasks", "status", "archive", "abandon"],
      govern_delegate: ["assign", "recall", "status"],
      govern_task: ["status"],
      anchor: ["create", "list"],
    },
  },
  {
    name: "investigator",
    ...ROLE_RIGHTS.investigator,
    governs: { ...WORKS_ON_TASKS, anchor: ["create", "list"] },
  },
  {
    name: "executor",
    ...ROLE_RIGHTS.executor,
    governs: {
      ...WORKS_ON_TASKS,
      govern_delegate: ["assign", "recall", "status"],
      govern_shell: ["run"],
      anchor: ["list"],
    },
  },
];

/** Roles from high to low: work is given downwards. */
export const RANKS = ["coordinator", "executor", "investigator"];

/** A role that the config adds. */
export interface RoleSettings {
  readonly extends: string;
  readonly tools?: readonly string[] | undefined;
  readonly paths?: readonly string[] | undefined;
  readonly shell?: Role["shell"] | undefined;
}

/** Who does a TODO that names no role. */
export const usualRole = (category: Category | undefined): string =>
  category === "research" ? "investigator" : "executor";

/** What research has no use for. A role of the config may write without a shell that works. */
export const changesThings = ({ shell, tools, paths }: Pick<Role, "shell" | "tools" | "paths">): boolean =>
  shell === "work" ||
  (tools.some((tool) => kindsOf(tool).some((kind) => kind === "write" || kind === "edit")) &&
    !paths.every((pattern) => ANSWERS.includes(pattern)));

/** The role of that name. One of the config has no more tools and no more of a shell than the one that it extends. */
export function roleNamed(name: string, added: Readonly<Record<string, RoleSettings>> = {}): Role | undefined {
  const own = ROLES.find((role) => role.name === name);
  const settings = Object.hasOwn(added, name) ? added[name] : undefined;
  if (own || !settings) return own;
  const base = ROLES.find((role) => role.name === settings.extends);
  if (!base) return undefined;
  const shell = settings.shell ?? base.shell;
  return {
    name,
    tools: settings.tools
      ? settings.tools.filter((tool) => kindsOf(tool).every((kind) => base.tools.includes(kind)))
      : base.tools,
    paths: settings.paths ?? base.paths,
    shell: SHELL_RIGHTS.indexOf(shell) <= SHELL_RIGHTS.indexOf(base.shell) ? shell : base.shell,
    governs: base.governs,
  };
}

/** Sub-agents that agent programs bring along to look around. */
const LOOKS_AROUND = /^(?:[eE]xplore|[pP]lan)$/;

/** The role that a sub-agent has: the one that it is called, or that its part was assigned to, or else that of the one who starts it. */
export function roleOfSubAgent(
  to: string | undefined,
  { role, roles }: { readonly role: Role; readonly roles?: Readonly<Record<string, RoleSettings>> },
  assigned?: string,
): Role {
  const named = to !== undefined && LOOKS_AROUND.test(to) ? "investigator" : to;
  const find = (name: string | undefined) => (name === undefined ? undefined : roleNamed(name, roles));
  return find(named) ?? find(assigned) ?? role;
}
