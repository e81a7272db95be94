import { statSync } from "node:fs";
import { join } from "node:path";
import type { AgentConfig } from "../config/config.ts";

/** Files of the repository that an agent is started from, such as `prloom/agent.mjs`: a worktree has only what is committed. */
export function agentFiles(root: string, { command, args = [] }: Pick<AgentConfig, "command" | "args">): string[] {
  const words = [command, ...args].join(" ").split(/\s+/);
  const files = words
    .map((word) => word.replace(/^(['"])(.*)\1$/, "$2").replace(/^(?:\.\/)+/, ""))
    .filter((word) => /^\.?\w[\w./-]*$/.test(word) && !word.split("/").includes(".."))
    .filter((word) => statSync(join(root, word), { throwIfNoEntry: false })?.isFile());
  return [...new Set(files)];
}
