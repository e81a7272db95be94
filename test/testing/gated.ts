import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { appears } from "./agents/agent-scripts.ts";
import type { Daemon } from "./daemon.ts";
import { makeProject, type Project, type ProjectOptions } from "./project.ts";

/** A project whose `[waits]` agents wait until `open` is called for their plan. */
export interface GatedProject {
  readonly project: Project;
  open(id: string): void;
  /** Resolves when the `[waits]` agent of a plan is at work and has left half of it in the tree. */
  halfWay(daemon: Daemon, id: string): Promise<void>;
}

/** Makes one; `options.env` reaches the agents beside the gate. */
export function makeGatedProject(options: ProjectOptions = {}, make = makeProject): GatedProject {
  const project = make(options);
  const gate = join(project.home, "gate");
  mkdirSync(gate);
  const { test: agent } = project.config().agents as Record<string, Record<string, unknown>>;
  // A sandbox shows nothing of a home but what is named.
  project.config({ agents: { test: { ...agent, env: { ...options.env, GATE: gate }, readable: [gate] } } });
  return {
    project,
    open: (id) => writeFileSync(join(gate, id), "go on\n"),
    async halfWay(daemon, id) {
      await daemon.said(id, /worker started/);
      await appears(join(project.worktree(id), "half.txt"));
    },
  };
}
