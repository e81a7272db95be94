import type { RequestKind } from "./request.ts";

/** What a role may do, as data. */
export interface Role {
  readonly name: string;
  /** Kinds of tools, and names of single ones. */
  readonly tools: readonly (RequestKind | string)[];
  /** Where it writes, as patterns below the worktree. */
  readonly paths: readonly string[];
  readonly shell: "none" | "reads" | "work";
  /** Governance tools and their actions. */
  readonly governs: Readonly<Record<string, readonly string[]>>;
}

/** Where every role may write: its copy of the plan, what it answers with, and evidence. */
export const ANSWERS = [
  "prloom/.local/plan.md",
  "prloom/.local/triage-result.json",
  "prloom/.local/review-result.json",
  "prloom/.local/outcome.json",
  "prloom/.local/evidence/**",
];

const LOOKS: readonly RequestKind[] = ["read", "search", "web", "govern"];
const WORKS_ON_TASKS = { govern_task: ["start", "complete", "fail", "review", "status"] };

export const ROLES: readonly Role[] = [
  {
    name: "coordinator",
    tools: [...LOOKS, "delegate"],
    paths: [],
    shell: "none",
    governs: {
      govern_plan: ["create", "plan_tasks", "status", "archive", "abandon"],
      govern_delegate: ["assign", "recall", "status"],
      govern_task: ["status"],
      anchor: ["create", "list"],
    },
  },
  {
    name: "investigator",
    tools: [...LOOKS, "write", "edit", "shell"],
    paths: ANSWERS,
    shell: "reads",
    governs: { ...WORKS_ON_TASKS, anchor: ["create", "list"] },
  },
  {
    name: "executor",
    tools: [...LOOKS, "write", "edit", "shell", "delegate"],
    paths: ["**"],
    shell: "work",
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

const SHELLS: readonly Role["shell"][] = ["none", "reads", "work"];

/** The role of that name. One of the config has no more than the one that it extends. */
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
      ? settings.tools.filter((tool) => base.tools.includes(tool) || isSingleTool(tool))
      : base.tools,
    paths: settings.paths ?? base.paths,
    shell: SHELLS.indexOf(shell) <= SHELLS.indexOf(base.shell) ? shell : base.shell,
    governs: base.governs,
  };
}

/** The name of one tool, not of a kind. */
const isSingleTool = (tool: string): boolean =>
  !/^(?:read|search|write|edit|shell|delegate|web|govern|other)$/.test(tool);
