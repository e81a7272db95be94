import type { AgentFile } from "./schema/agent-schema.ts";

export interface InitialConfig {
  readonly agentName: string;
  readonly agent: AgentFile;
  /** Plans wait for a person. */
  readonly gates?: boolean;
  readonly baseBranch?: string;
  /** Address of the JSON Schema, for editors. */
  readonly schema?: string;
}

/** The text of a first `prloom/config.json`. */
export function initialConfig({ agentName, agent, gates, baseBranch, schema }: InitialConfig): string {
  const config = {
    ...(schema === undefined ? {} : { $schema: schema }),
    ...(baseBranch === undefined ? {} : { baseBranch }),
    agents: { [agentName]: agent },
    stages: { default: agentName },
    ...(gates ? { gates: { plan: true } } : {}),
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
