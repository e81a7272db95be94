/** The stages of a plan's life that an agent works in. */
export const STAGES = ["designer", "worker", "triage", "reviewer"] as const;
export type Stage = (typeof STAGES)[number];

/** The kinds of agent programs; the programs of all but `command` and `acp` are known. */
export const ADAPTERS = ["command", "opencode", "claude", "codex", "acp"] as const;
export type Adapter = (typeof ADAPTERS)[number];
