import { isDeepStrictEqual } from "node:util";
import { isFields, jsonIn } from "../kernel/json-fields.ts";
import type { AgentFile } from "./schema/agent-schema.ts";

export interface InitialConfig {
  readonly agentName: string;
  readonly agent: AgentFile;
  readonly baseBranch?: string;
  /** Address of the JSON Schema, for editors. */
  readonly schema?: string;
  readonly initCommands?: readonly string[];
  readonly checks?: readonly string[];
}

/** The text of a first `prloom/config.json`. */
export function initialConfig(initial: InitialConfig): string {
  const { agentName, agent, baseBranch, schema, initCommands = [], checks = [] } = initial;
  const config = {
    ...(schema === undefined ? {} : { $schema: schema }),
    ...(baseBranch === undefined ? {} : { baseBranch }),
    agents: { [agentName]: agent },
    stages: { default: agentName },
    ...(initCommands.length === 0 ? {} : { initCommands }),
    ...(checks.length === 0 ? {} : { checks }),
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

/** Whether a config is a first one whose agent was not filled in yet, with or without what this or another version adds. */
export function isUnfilled(text: string, { agentName, agent }: InitialConfig): boolean {
  const written = jsonIn(text);
  if (!isFields(written)) return false;
  const { $schema: _schema, initCommands: _init, checks: _checks, ...rest } = written;
  return isDeepStrictEqual(rest, { agents: { [agentName]: agent }, stages: { default: agentName } });
}
