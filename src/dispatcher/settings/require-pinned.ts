import { isAbsolute } from "node:path";
import type { AgentConfig } from "../../config/config.ts";
import type { Located } from "../paths.ts";
import type { Configured } from "./pinned.ts";
import { checkedOutAgentFiles, isPinned, lineFiles, ownFiles, requirePinned, type Tree } from "./pinning.ts";

const treeOf = (loom: Located & Configured): Tree => ({ root: loom.paths.root, path: loom.environment.PATH });

/** Refuses to start an agent whose program, or prloom's own, lies in the checkout and is another one by now. */
export function requireAgentPinned(loom: Located & Configured, agent: AgentConfig): void {
  const tree = treeOf(loom);
  requirePinned(loom.pinned.pin, tree.root, [...ownFiles(tree), ...checkedOutAgentFiles(agent, tree)]);
}

/** Whether an agent's program may be run outside of any sandbox, to be asked who it is. */
export function mayAsk(loom: Located & Configured, agent: AgentConfig): boolean {
  const tree = treeOf(loom);
  const isInWorktree = agent.command.includes("/") && !isAbsolute(agent.command);
  return !isInWorktree && isPinned(loom.pinned.pin, tree.root, checkedOutAgentFiles(agent, tree));
}

/** The same for a check or an initCommand. */
export function requireLinePinned(loom: Located & Configured, line: string): void {
  const tree = treeOf(loom);
  requirePinned(loom.pinned.pin, tree.root, [...ownFiles(tree), ...lineFiles(line, tree)]);
}
