import type { Policy } from "../../governance/policy/policy-file.ts";
import { asFields, type JsonFields } from "../../kernel/json-fields.ts";

/**
 * Fits every tool, and is not `*`, which the user may have a rule for. OpenCode goes by the last rule that fits, and merges
 * settings so that a name that is new comes last: ours counts before all of theirs.
 */
const EVERY_TOOL = "?*";

/** Agents of OpenCode's own: what settings say of one of them counts more than what they say of all. */
const OWN_AGENTS = ["build", "plan", "general", "explore"];

/** Settings with which no tool may be used; `more` are rules of the user from elsewhere. */
export function closed(given: JsonFields, more: unknown): JsonFields {
  const agents = asFields(given.agent);
  const names = new Set([...OWN_AGENTS, ...Object.keys(agents)]);
  const agent = Object.fromEntries([...names].map((name) => [name, withoutTools(asFields(agents[name]))]));
  const permission = { ...rulesIn(given.permission), ...rulesIn(more) };
  return { agent, ...withoutTools({ permission }) };
}

const withoutTools = (holder: JsonFields): JsonFields => ({
  ...holder,
  permission: { ...rulesIn(holder.permission), [EVERY_TOOL]: "deny" },
});

/** One word is a rule for all tools. */
const rulesIn = (permission: unknown): JsonFields =>
  typeof permission === "string" ? { "*": permission } : asFields(permission);

interface Holder {
  permission?: unknown;
}

/** Programs that OpenCode itself runs on files, without a call of a tool: they load settings, and with them code, from beside the files. */
export interface Helpers {
  formatter?: unknown;
  lsp?: unknown;
}

/** For a run that may start no programs: what it reads and writes must not start any either. */
export function withoutHelpers(config: Helpers): void {
  config.formatter = false;
  config.lsp = false;
}

const SHELLS = ["shell", "bash", "govern_shell"];

/** Whether the run may start programs that do more than read. */
export const startsPrograms = ({ door, role, tools }: Pick<Policy, "door" | "role" | "tools">): boolean =>
  door.state === "open" && role.shell === "work" && (tools === null || SHELLS.some((shell) => tools.includes(shell)));

/** Takes back what `closed` did: what is left are OpenCode's own rules and those of the user. */
export function reopen(config: Holder & { readonly agent?: unknown }): void {
  for (const holder of [config, ...Object.values(asFields(config.agent)).filter(isHolder)]) {
    const { [EVERY_TOOL]: ours, ...others } = asFields(holder.permission);
    if (ours !== undefined) holder.permission = others;
  }
}

const isHolder = (value: unknown): value is Holder => typeof value === "object" && value !== null;
