import type { LiveRun } from "../../agents/port.ts";

/** Who is in the worktrees of the plans. */
export interface AtWork {
  /** Agents that this process started and that have not ended, by plan id. */
  readonly live: Map<string, LiveRun>;
  /** Checks and initCommands that are running, and whose plan they are. */
  readonly commandRuns: Map<LiveRun, string>;
  /** Runs in a row that ended without an exit though nobody stopped them, by plan id. */
  readonly stranded: Map<string, number>;
  /** Plans whose left-overs could not be dealt with at the start: nothing is started for them. */
  readonly unrecovered: Set<string>;
  /** Plans in whose worktree a plugin's agent works (1) or is about to (0). */
  readonly hookAgents: Map<string, number>;
  /** Plans with a step under way that may touch their worktree; calling plugins is none. */
  readonly stepping: Set<string>;
  /** Ends the calls of plugins for one plan. */
  readonly planStops: Map<string, AbortController>;
  /** Ends everything that runs for a plan and resolves when no step of it is under way. */
  quiesce(planId: string): Promise<void>;
}

/** Nobody is anywhere, in a process that has not begun anything yet. */
export function nothingAtWork(): Omit<AtWork, "quiesce"> {
  return {
    live: new Map(),
    commandRuns: new Map(),
    stranded: new Map(),
    unrecovered: new Set(),
    hookAgents: new Map(),
    stepping: new Set(),
    planStops: new Map(),
  };
}
