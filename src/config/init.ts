export interface InitialConfig {
  readonly agentName: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly passEnv?: readonly string[];
  readonly baseBranch?: string;
  /** Address of the JSON Schema, for editors. */
  readonly schema?: string;
}

/** The text of a first `prloom/config.json`. */
export function initialConfig({ agentName, command, args, passEnv = [], baseBranch, schema }: InitialConfig): string {
  const config = {
    ...(schema === undefined ? {} : { $schema: schema }),
    ...(baseBranch === undefined ? {} : { baseBranch }),
    agents: {
      [agentName]: {
        command,
        ...(args.length === 0 ? {} : { args }),
        ...(passEnv.length === 0 ? {} : { passEnv }),
      },
    },
    stages: { default: agentName },
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
