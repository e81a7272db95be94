import type { Forge } from "../forge/port.ts";
import type { GitHubAccess } from "../github/access.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Ids } from "../kernel/ids.ts";

/*
 * A capability is a part of an opened repository. A function names those that it needs as the type of its first
 * parameter, so that a reader sees what it can touch. These belong to no room; each of the others is in its own.
 */

/** What time it is. */
export interface Timing {
  readonly clock: Clock;
}

/** Names that are new. */
export interface Naming {
  readonly ids: Ids;
}

/** Something to tell a person who watches. */
export interface Progress {
  readonly at: string;
  readonly planId?: string;
  readonly level: "info" | "good" | "warn" | "bad";
  readonly text: string;
}

export interface Reporting {
  report(progress: Omit<Progress, "at">): void;
}

/** Whether the process is about to end. */
export interface Stopping {
  /** True from the moment that the dispatcher is asked to stop: no new process is started. */
  readonly stopping: boolean;
  /** Aborted at that moment: calls of hooks and bridges end. */
  readonly stopSignal: AbortSignal;
}

/** The loops of a dispatcher. A command that works alone has none, and its wake-ups have no effect. */
export interface Waking {
  readonly isDispatching: boolean;
  /** "Look at this plan again"; without a plan: at the inbox and everything. */
  wake(planId?: string): void;
  /** "There may be something new on this bus"; without a plan: on the global one. */
  wakeBus(planId?: string): void;
  /** The agent of this plan has ended. */
  runEnded(planId: string): void;
}

/** Where change requests are opened and closed. */
export interface Publishing {
  readonly forge: Forge;
  /** The way to GitHub, where the config names a repository there. */
  readonly github: (() => Promise<GitHubAccess>) | undefined;
  /** Sources that are being claimed or released there at this moment: of one source, one after the other. */
  readonly claiming: Map<string, Promise<unknown>>;
}
