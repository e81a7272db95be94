import type { Adapter } from "../config/agent-words.ts";

/** What keeps a run in: rules about each of its calls, a sandbox around all of it, both, or nothing. */
export const ENCLOSURE_LEVELS = ["policy+sandbox", "policy", "sandbox", "none"] as const;
export type EnclosureLevel = (typeof ENCLOSURE_LEVELS)[number];

export function hasSandbox(level: EnclosureLevel): boolean {
  return level === "sandbox" || level === "policy+sandbox";
}

export function hasPolicy(level: EnclosureLevel): boolean {
  return level === "policy" || level === "policy+sandbox";
}

/** The level that is left where there is no sandbox. */
export function withoutSandbox(level: EnclosureLevel): EnclosureLevel {
  return hasPolicy(level) ? "policy" : "none";
}

/** Programs that have the policy inside when prloom runs them. */
const HOSTS: ReadonlySet<Adapter> = new Set(["opencode", "claude"]);

export const isHost = (adapter: Adapter): boolean => HOSTS.has(adapter);

/** The level of a run that is judged, too. */
export function withPolicy(level: EnclosureLevel): EnclosureLevel {
  return hasSandbox(level) ? "policy+sandbox" : "policy";
}
