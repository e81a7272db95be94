import { join } from "node:path";
import { RUN_FILES } from "../../agents/runner/run-files.ts";
import { PrloomError } from "../../kernel/errors.ts";
import type { AtWork } from "./occupancy.ts";

/** A shim that dies again and again (killed by something, no memory) must not become a loop. */
const MAX_STRANDED = 3;

/** A run of the plan ended without an exit, though nothing stopped it. */
export function addStranded(loom: AtWork, id: string): void {
  loom.stranded.set(id, (loom.stranded.get(id) ?? 0) + 1);
}

/** Throws when it happened too often in a row. */
export function giveUpOnStranded(loom: AtWork, id: string, runDir: string): void {
  if ((loom.stranded.get(id) ?? 0) < MAX_STRANDED) return;
  loom.stranded.delete(id);
  throw new PrloomError(
    "plan-state",
    `Its run ended ${MAX_STRANDED} times in a row without an exit; something ends the processes around the agent.`,
    `${join(runDir, RUN_FILES.shimLog)} may tell more. \`prloom unblock ${id}\` tries again.`,
  );
}
