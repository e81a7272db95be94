/** What a call of a tool is, whatever the agent program calls it. */
export const TOOL_KINDS = ["read", "search", "write", "edit", "shell", "delegate", "web", "govern", "other"] as const;
export type ToolKind = (typeof TOOL_KINDS)[number];

/** What of a shell a role has: nothing, commands that only read, or all that its work needs. From little to much. */
export const SHELL_RIGHTS = ["none", "reads", "work"] as const;
export type ShellRights = (typeof SHELL_RIGHTS)[number];

/** The roles that prloom has by itself; roles of the config extend one of them. */
export const OWN_ROLES = ["coordinator", "investigator", "executor"] as const;
export type OwnRole = (typeof OWN_ROLES)[number];

/** What a plan is about. Research changes nothing; the others tell agents what kind of change is wanted. */
export const CATEGORIES = ["feature", "fix", "refactor", "research", "docs", "chore"] as const;
export type Category = (typeof CATEGORIES)[number];

/** Where every role may write: its copy of the plan, what it answers with, and evidence. */
export const ANSWERS: readonly string[] = [
  "prloom/.local/plan.md",
  "prloom/.local/triage-result.json",
  "prloom/.local/review-result.json",
  "prloom/.local/outcome.json",
  "prloom/.local/evidence/**",
];

interface RoleRights {
  readonly tools: readonly ToolKind[];
  readonly shell: ShellRights;
  /** Where it writes, as patterns below the worktree. */
  readonly paths: readonly string[];
}

/** What each of them has; the config refuses what would be more. */
export const ROLE_RIGHTS: Readonly<Record<OwnRole, RoleRights>> = {
  coordinator: { tools: ["read", "search", "web", "govern", "delegate"], shell: "none", paths: [] },
  investigator: {
    tools: ["read", "search", "web", "govern", "write", "edit", "shell"],
    shell: "reads",
    paths: ANSWERS,
  },
  executor: {
    tools: ["read", "search", "web", "govern", "write", "edit", "shell", "delegate"],
    shell: "work",
    paths: ["**"],
  },
};
