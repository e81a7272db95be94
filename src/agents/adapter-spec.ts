/** `agents.<name>` of the config, as far as it says how the program of an agent is started. */
export interface AdapterSpec {
  readonly name: string;
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly model?: string | undefined;
  /** The repository's own settings and hooks of the program count. */
  readonly projectSettings: boolean;
}
