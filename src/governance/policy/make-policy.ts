import type { Config } from "../../config/config.ts";
import { OWN_PROTECTED } from "./own-protected.ts";
import { POLICY_VERSION, type Policy } from "./policy-file.ts";
import type { Role } from "./roles.ts";
import { mcpName } from "./tools/mcp-name.ts";

/** Folders that a run knows, absolute. */
export interface RunPlace {
  /** Of its worktree. */
  readonly root: string;
  readonly home: string;
  /** For files that it needs for a moment. */
  readonly temporary: string;
  readonly shell?: string;
}

/** What is different from run to run. */
export interface RunTerms {
  readonly role: Role;
  /** The node to work on; null when no task is started. */
  readonly node: string | null;
  readonly place: RunPlace;
  /** Open unless a person is deciding. */
  readonly door?: Policy["door"];
  /** Narrower than the role's, where the task says so. */
  readonly paths?: readonly string[];
  readonly tools?: readonly string[];
  readonly session?: string;
  /** What commands of the run find in their environment, as far as it is known. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** What one run may do: what the config says for all, with the terms of this one. */
export function makePolicy(governance: Config["governance"], terms: RunTerms): Policy {
  const { role, place } = terms;
  return {
    schemaVersion: POLICY_VERSION,
    role: {
      name: role.name,
      tools: role.tools.map(mcpName),
      paths: [...role.paths],
      shell: role.shell,
      governs: Object.fromEntries(Object.entries(role.governs).map(([tool, actions]) => [tool, [...actions]])),
    },
    node: terms.node,
    door: terms.door ?? { state: "open", reason: "" },
    ...place,
    paths: terms.paths ? [...terms.paths] : null,
    tools: terms.tools ? terms.tools.map(mcpName) : null,
    protected: [...OWN_PROTECTED, ...governance.protected],
    mcp: { reads: governance.mcp.reads.map(mcpName), writes: governance.mcp.writes.map(mcpName) },
    secrets: [...governance.secrets],
    interpreters: [...governance.interpreters],
    session: terms.session ?? null,
    // What it is does not matter; that something is put before or behind it does.
    variables: { PATH: "$PATH", ...terms.variables },
    maxRepeatedDenials: governance.maxRepeatedDenials,
    roles: Object.fromEntries(Object.entries(governance.roles).map(([name, one]) => [name, addedRole(one)])),
    purgeAfterMs: governance.purgeAfterMs,
  };
}

const addedRole = ({ extends: base, tools, paths, shell }: Config["governance"]["roles"][string]) => ({
  extends: base,
  tools: tools.map(mcpName),
  paths: [...paths],
  shell,
});
