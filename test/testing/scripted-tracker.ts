import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Project } from "./project.ts";
import { openScripted, type ScriptedTracker } from "./tracker/scripted.ts";

const FIXTURES = fileURLToPath(new URL("./tracker", import.meta.url));

/** Sets a scripted tracker up for a project; `anna` may write. Plans with `issue(n)` as their source are talked about there. */
export function addScripted(project: Project, limit = 65_536): ScriptedTracker {
  const dir = join(project.home, "tracker");
  const modules = join(project.root, "prloom", "tracker");
  mkdirSync(modules, { recursive: true });
  for (const name of ["bridge.ts", "scripted.ts"]) cpSync(join(FIXTURES, name), join(modules, name));
  const scripted = { module: "./prloom/tracker/bridge.ts", config: { dir, limit }, pollEvery: "100ms" };
  project.config({ globalBridges: { scripted }, bus: { retryMin: "50ms", retryMax: "200ms" } });
  const tracker = openScripted({ dir, limit });
  tracker.people({ anna: "write", bob: "read", "prloom-bot": "write" });
  return tracker;
}

export const ANNA = { login: "anna", id: "7" };

/** What a plan's json says that comes from an issue of the scripted tracker. */
export function issue(id: string): Record<string, unknown> {
  return { status: "queued", source: { system: "scripted", kind: "issue", id } };
}
