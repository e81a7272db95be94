import { opendirSync } from "node:fs";
import { posix } from "node:path";
import { isWithin } from "../../kernel/paths.ts";
import { takeTurns } from "../../kernel/turns.ts";
import type { Worktree } from "../worktree/worktrees.ts";
import { onAnyDisk } from "./repository-shape.ts";

/** Our own top-level folder. */
export const OURS = "prloom";

/**
 * Top-level files and folders from which agent programs take settings, hooks and tools. What an agent writes there would
 * decide about the next run, so for every run they are what the base commit has.
 */
const HOST_SETTINGS = [
  ".opencode",
  ".claude",
  ".codex",
  ".cursor",
  ".gemini",
  "opencode.json",
  "opencode.jsonc",
  ".mcp.json",
];

/** At the top of a worktree: never committed by prloom, and changed by no agent. */
export const PROTECTED: readonly string[] = [OURS, ...HOST_SETTINGS];

/** For git: in any case of letters, since on other people's disks `PRLOOM` and `prloom` are the same folder. */
export const PROTECTED_PATHSPECS = PROTECTED.map((name) => `:(top,icase)${name}`);

/** Whether a path is in `prloom/` or among the settings of agent programs, on whatever disk it will lie; latin1, as git's output. */
export function isProtected(path: string): boolean {
  const folded = onAnyDisk(path);
  return PROTECTED.some((one) => isWithin(folded, one));
}

/** Names that are git's own on some disk; git itself refuses to store them, and with them everything that is beside. */
export function isGitsOwn(path: string): boolean {
  return /(^|[/\\])(\.git|git~1)[. ]*([/\\:]|$)/.test(onAnyDisk(path));
}

/** A path of ours as git's output has it: byte for byte, without dots. */
export function inBytes(path: string): string {
  return Buffer.from(posix.join(path, ".")).toString("latin1");
}

/** Settings of agent programs at the top of a worktree, as they are written there; most repositories have none. */
export async function settingsIn(worktree: Worktree): Promise<string[]> {
  const found: string[] = [];
  // Piece by piece: an agent may have put a million files there.
  const folder = opendirSync(worktree.path, { bufferSize: 1000 });
  try {
    for (let entry = folder.readSync(); entry; entry = folder.readSync()) {
      await takeTurns();
      if (HOST_SETTINGS.includes(entry.name.toLowerCase())) found.push(entry.name);
    }
  } finally {
    folder.closeSync();
  }
  return found.sort();
}
