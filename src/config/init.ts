import type { AgentFile } from "./schema/agent-schema.ts";

export interface InitialConfig {
  readonly agentName: string;
  readonly agent: AgentFile;
  readonly baseBranch?: string;
  /** Address of the JSON Schema, for editors. */
  readonly schema?: string;
}

/** The text of a first `prloom/config.json`. */
export function initialConfig({ agentName, agent, baseBranch, schema }: InitialConfig): string {
  const config = {
    ...(schema === undefined ? {} : { $schema: schema }),
    ...(baseBranch === undefined ? {} : { baseBranch }),
    agents: { [agentName]: agent },
    stages: { default: agentName },
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
