import type { Adapter } from "../config/agent-words.ts";
import { acpAdapter } from "./acp/adapter.ts";
import { acpProgram, geminiProgram } from "./acp/program.ts";
import type { AdapterSpec } from "./adapter-spec.ts";
import { claudeAdapter } from "./claude/adapter.ts";
import { claudeProgram } from "./claude/program.ts";
import { codexAdapter } from "./codex/adapter.ts";
import { codexProgram } from "./codex/program.ts";
import { commandAdapter } from "./command/adapter.ts";
import { openCodeAdapter } from "./opencode/adapter.ts";
import { openCodeProgram } from "./opencode/program.ts";
import type { AgentAdapter } from "./port.ts";
import type { AgentProgram } from "./program.ts";

/** `agents.<name>` of the config, as far as adapters care. */
export interface ConfiguredAgent extends AdapterSpec {
  readonly adapter: Adapter;
}

/** How an agent of the config is started. */
export function adapterOf(agent: ConfiguredAgent): AgentAdapter {
  switch (agent.adapter) {
    case "opencode":
      return openCodeAdapter(agent);
    case "claude":
      return claudeAdapter(agent);
    case "codex":
      return codexAdapter(agent);
    case "acp":
      return acpAdapter(agent);
    case "command":
      return commandAdapter(agent);
  }
}

/** What is known about the program of an agent; nothing about one that only the user knows. */
export function programOf(agent: Pick<ConfiguredAgent, "adapter" | "command" | "args">): AgentProgram | undefined {
  switch (agent.adapter) {
    case "opencode":
      return openCodeProgram;
    case "claude":
      return claudeProgram;
    case "codex":
      return codexProgram;
    case "acp":
      return acpProgram(agent);
    case "command":
      return undefined;
  }
}

export interface KnownProgram {
  /** What `prloom init` calls the agent. */
  readonly name: string;
  readonly adapter: Exclude<ConfiguredAgent["adapter"], "command">;
  readonly args?: readonly string[];
  readonly program: AgentProgram;
}

/** In the order in which `prloom init` looks for them. */
export const KNOWN_PROGRAMS: readonly KnownProgram[] = [
  { name: "opencode", adapter: "opencode", program: openCodeProgram },
  { name: "claude", adapter: "claude", program: claudeProgram },
  { name: "codex", adapter: "codex", program: codexProgram },
  { name: "gemini", adapter: "acp", program: geminiProgram },
];
