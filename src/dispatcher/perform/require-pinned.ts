import type { AgentConfig } from "../../config/config.ts";
import type { Loom } from "../loom.ts";
import { agentFiles, lineFiles, requirePinned, type Tree } from "../pinning.ts";

const treeOf = (loom: Loom): Tree => ({ root: loom.paths.root, path: loom.environment.PATH });

/** Refuses to start an agent whose program lies in the checkout and is another one by now. */
export function requireAgentPinned(loom: Loom, agent: AgentConfig): void {
  requirePinned(loom.pinned.pin, loom.paths.root, agentFiles(agent, treeOf(loom)));
}

/** The same for a check or an initCommand. */
export function requireLinePinned(loom: Loom, line: string): void {
  requirePinned(loom.pinned.pin, loom.paths.root, lineFiles(line, treeOf(loom)));
}
