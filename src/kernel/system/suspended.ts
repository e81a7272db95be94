import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Whether a living process was told to wait, as by Ctrl-Z: it answers nothing until it goes on. */
export function isSuspended(pid: number): boolean {
  return /^T/.test(stateOf(pid));
}

function stateOf(pid: number): string {
  try {
    // The state follows the name, which is in brackets and may hold some itself.
    return readFileSync(`/proc/${pid}/stat`, "latin1").replace(/^.*\) /s, "");
  } catch {
    // Another system, or it has just ended.
    return spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).stdout ?? "";
  }
}
