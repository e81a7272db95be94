import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { addOutside, type Outside } from "../testing/outside.ts";
import { makeProject, type Project } from "../testing/project.ts";

const CHAOS_AGENT = fileURLToPath(new URL("../testing/agents/chaos-agent.mjs", import.meta.url));

export interface ChaosProjectOptions {
  /** Pause between the steps of an agent's work. */
  readonly stepMs: number;
  /** `none` unless given: scenarios look from inside at what a sandbox hides. */
  readonly sandbox?: "auto" | "none";
  /** With an initCommand and a check: more that can be interrupted. */
  readonly commands?: boolean;
}

export interface WorldOptions extends ChaosProjectOptions {
  /** What the moods of the outside are drawn with. */
  readonly seed: number;
}

/** A chaos project with bridges and plugins that act on a world outside of it. */
export interface ChaosWorld {
  readonly project: Project;
  readonly outside: Outside;
}

/** A project whose agent must not be run twice for the same work. */
export function makeChaosProject(options: ChaosProjectOptions): Project {
  const { stepMs, commands = false, sandbox = "none" } = options;
  const agent = {
    adapter: "command",
    command: process.execPath,
    args: [CHAOS_AGENT],
    env: { STEP_MS: String(stepMs) },
    sandbox,
  };
  const project = makeProject({
    config: {
      agents: { chaos: agent },
      stages: { default: "chaos" },
      // A chaos agent that hangs must be seen, not waited for.
      limits: { stopGrace: "50ms", silenceTimeout: "60s", runTimeout: "120s" },
      ...(commands ? { initCommands: ["echo made >> init.txt"], checks: ["test ! -e half-0"] } : {}),
    },
  });
  appendFileSync(join(project.root, ".git", "info", "exclude"), "/init.txt\n");
  return project;
}

export function makeChaosWorld({ seed, ...options }: WorldOptions): ChaosWorld {
  const project = makeChaosProject(options);
  return { project, outside: addOutside(project, seed) };
}
