import { isDeepStrictEqual } from "node:util";
import { isFields, jsonIn } from "../kernel/json-fields.ts";
import type { AgentFile } from "./schema/agent-schema.ts";

export interface InitialConfig {
  readonly agentName: string;
  readonly agent: AgentFile;
  /** Plans wait for a person. */
  readonly gates?: boolean;
  /** Issues of this repository become plans by this label, and plans become pull requests of it. */
  readonly github?: { readonly repo: string; readonly label: string } | undefined;
  readonly baseBranch?: string;
  /** Address of the JSON Schema, for editors. */
  readonly schema?: string;
  readonly initCommands?: readonly string[];
  readonly checks?: readonly string[];
}

/** The text of a first `prloom/config.json`. */
export function initialConfig(initial: InitialConfig): string {
  const { agentName, agent, baseBranch, schema, gates, github, initCommands = [], checks = [] } = initial;
  const config = {
    ...(schema === undefined ? {} : { $schema: schema }),
    ...(baseBranch === undefined ? {} : { baseBranch }),
    agents: { [agentName]: agent },
    stages: { default: agentName },
    ...(gates ? { gates: { plan: true } } : {}),
    ...(github
      ? {
          forge: "github",
          github: { repo: github.repo },
          triggers: [{ on: "issue.labeled", label: github.label, do: "queue" }],
        }
      : {}),
    ...(initCommands.length === 0 ? {} : { initCommands }),
    ...(checks.length === 0 ? {} : { checks }),
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

/**
 * What a first config whose agent was not filled in yet was made with; undefined for any other. It may have what this or
 * another version adds.
 */
export function unfilledTemplate(text: string, { agentName, agent }: InitialConfig): { gates: boolean } | undefined {
  const written = jsonIn(text);
  if (!isFields(written)) return undefined;
  const { $schema: _schema, initCommands: _init, checks: _checks, gates, ...rest } = written;
  const isGated = isDeepStrictEqual(gates, { plan: true });
  const isOurs = isDeepStrictEqual(rest, { agents: { [agentName]: agent }, stages: { default: agentName } });
  return isOurs && (isGated || gates === undefined) ? { gates: isGated } : undefined;
}
