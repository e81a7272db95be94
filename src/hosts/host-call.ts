import { sha256 } from "../kernel/ids.ts";

/** One call of a tool in an agent program. */
export interface HostCall {
  readonly id: string;
  readonly session: string;
  readonly tool: string;
  readonly input: unknown;
  /** The folder that it is made in, where the host tells it. */
  readonly folder?: string | undefined;
}

/** Which call it is: an id is one only in its session. */
export type CallId = Pick<HostCall, "id" | "session">;

/** Of two sessions at work at once: some providers number the calls of each conversation from the same number on. */
export const keyOf = ({ id, session }: CallId): string => JSON.stringify([session, id]);

/** So many characters of an id are kept in facts. */
const MAX_ID = 200;

/** What a call is called in facts: its id comes from the model, and may be anything. */
export const factId = (id: string): string => (id.length > 0 && id.length <= MAX_ID ? id : `call-${sha256(id)}`);
