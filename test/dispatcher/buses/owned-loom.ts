import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Progress } from "../../../src/dispatcher/capabilities.ts";
import { openAsOwner } from "../../../src/dispatcher/commands/open-as-owner.ts";
import type { OwnedLoom } from "../../../src/dispatcher/compose.ts";

/** Opens the repository as its owner for the time of `use`. */
export async function withLoom<T>(
  cwd: string,
  use: (loom: OwnedLoom) => T | Promise<T>,
  onProgress?: (progress: Progress) => void,
): Promise<T> {
  const owned = await openAsOwner({ cwd, ...(onProgress ? { onProgress } : {}) });
  if (!owned) throw new Error("another process owns the repository");
  try {
    return await use(owned.loom);
  } finally {
    owned.loom.close();
    owned.lock.release();
  }
}

const CHILD = fileURLToPath(new URL("./core-child.ts", import.meta.url));

/** Runs one act in a process of its own that kills itself at a crash point; throws when it never came by there. */
export function killedAt(point: string, cwd: string, ...args: string[]): void {
  const env = { ...process.env, PRLOOM_CRASH_AT: point };
  const { signal, stderr } = spawnSync(process.execPath, [CHILD, cwd, ...args], { env, encoding: "utf8" });
  if (signal !== "SIGKILL") throw new Error(`it did not pass ${point}: ${stderr}`);
}
