/** One call of a tool in an agent program. */
export interface HostCall {
  readonly id: string;
  readonly session: string;
  readonly tool: string;
  readonly input: unknown;
  /** The folder that it is made in, where the host tells it. */
  readonly folder?: string | undefined;
}
