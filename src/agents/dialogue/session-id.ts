import type { AgentEvent } from "../port.ts";

/** What every known program calls its conversations with; nothing that could be taken for an option or a path. */
const SESSION_ID = /^[A-Za-z0-9][\w.:-]{0,199}$/;

/** The id of a conversation; undefined for what cannot be one, as it comes back to the program as an argument. */
export function asSessionId(value: unknown): string | undefined {
  return typeof value === "string" && SESSION_ID.test(value) ? value : undefined;
}

/** Tells which conversation a run is in, whenever that has changed. */
export function sessionTeller(): (value: unknown) => AgentEvent[] {
  let told: string | undefined;
  return (value) => {
    const sessionId = asSessionId(value);
    if (sessionId === undefined || sessionId === told) return [];
    told = sessionId;
    return [{ type: "session", sessionId }];
  };
}

/** The arguments with which a program goes on with a conversation; none without an id that can be one. */
export function sessionArgs(option: string, sessionId: string | undefined): string[] {
  const known = asSessionId(sessionId);
  return known === undefined ? [] : [option, known];
}
